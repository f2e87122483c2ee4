package live

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// Group is all objects of a resource in a namespace. What a user may see is decided for a group.
type Group struct{ Namespace, Resource string }

const (
	// feedSize bounds the transitions that are kept of a group, for the feed.
	feedSize = 50
	// pastFor is how long it is remembered when objects ran that are gone, and maxPast bounds these spans of a group.
	pastFor, maxPast = 24 * time.Hour, 2000
	// maxGone bounds the executors of an attempt that are remembered after their Pods are gone.
	maxGone = 1000
)

// group holds the objects of a Group.
type group struct {
	entries map[string]*entry // by name
	// feed are the last transitions, the oldest first.
	feed []FeedItem
	// past is when objects ran and waited that are gone.
	past []span
}

// entry is an object in the store.
type entry struct {
	*object
	// shown is the row with what its Pods add.
	shown *Row
	// gone are executors of the current attempt whose Pods are gone.
	gone []executorSpan
}

// executorSpan is when an executor was there, in milliseconds since 1970; zero if it was not.
type executorSpan struct {
	application             string
	created, running, ended int64
	lost                    bool
}

// setObject stores an object that was created or changed.
func (l *Live) setObject(o *object) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	key := Group{o.row.Namespace, o.row.Resource}
	g := l.groups[key]
	if g == nil {
		g = &group{entries: map[string]*entry{}}
		l.groups[key] = g
		l.groupsVersion++
	}
	e := g.entries[o.row.Name]
	if e != nil && e.row.UID != o.row.UID { // the deletion of the earlier one was not seen
		l.remove(g, e)
		e = nil
	}
	if e != nil && e.ResourceVersion == o.ResourceVersion {
		return
	}
	last := int64(0)
	if e == nil {
		e = &entry{}
		g.entries[o.row.Name] = e
	} else {
		last = e.lastSequence
		l.unlink(e)
	}
	e.object = o
	l.link(e)
	l.refresh(e)
	g.addToFeed(o.feed, last)
	l.changed(e.shown, o.newItems(last))
}

// deleteObject removes an object. Another one may have the name by now. unseen reports whether the deletion itself was not seen: then another
// namespace may have the name, too, and nothing is remembered of the group.
func (l *Live) deleteObject(ref Ref, uid types.UID, unseen bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	key := Group{ref.Namespace, ref.Resource}
	g := l.groups[key]
	if g == nil {
		return
	}
	if e := g.entries[ref.Name]; e != nil && e.row.UID == uid {
		l.remove(g, e)
	}
	if unseen {
		g.feed, g.past = nil, nil
	}
	if len(g.entries) == 0 { // its namespace may be deleted
		delete(l.groups, key)
		l.groupsVersion++
	}
}

// remove takes an object out of its group, and remembers when it ran.
func (l *Live) remove(g *group, e *entry) {
	delete(g.entries, e.row.Name)
	l.unlink(e)
	now := l.clock.Now()
	for _, s := range e.spans {
		if s.until.IsZero() {
			s.until = now
		}
		if now.Sub(s.until) < pastFor {
			g.past = append(g.past, s)
		}
	}
	g.past = g.past[max(len(g.past)-maxPast, 0):]
	l.removed(e.shown)
}

// forget drops what is too old.
func (l *Live) forget() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	old := l.clock.Now().Add(-pastFor)
	for _, g := range l.groups {
		g.past = slices.DeleteFunc(g.past, func(s span) bool { return s.until.Before(old) })
		g.feed = slices.DeleteFunc(g.feed, func(item FeedItem) bool { return item.At.Before(old) })
	}
}

// addToFeed adds the transitions of an object after a sequence.
func (g *group) addToFeed(items []feedItem, after int64) {
	for _, item := range items {
		if item.sequence <= after {
			continue
		}
		at, _ := slices.BinarySearchFunc(g.feed, item.At, func(known FeedItem, wanted time.Time) int {
			if known.At.After(wanted) {
				return 1
			}
			return -1
		})
		if at == 0 && len(g.feed) >= feedSize {
			continue
		}
		g.feed = slices.Insert(g.feed, at, item.FeedItem)
		if len(g.feed) > feedSize {
			g.feed = slices.Delete(g.feed, 0, 1)
		}
	}
}

// link lets Pods find the object.
func (l *Live) link(e *entry) {
	if e.pods == (podKey{}) {
		return
	}
	l.owners[e.pods] = append(l.owners[e.pods], e)
}

func (l *Live) unlink(e *entry) {
	if e.pods == (podKey{}) {
		return
	}
	left := slices.DeleteFunc(l.owners[e.pods], func(other *entry) bool { return other == e })
	if l.owners[e.pods] = left; len(left) == 0 {
		delete(l.owners, e.pods)
	}
}

// setPod stores a Pod that was created or changed.
func (l *Live) setPod(p *pod) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	name := types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
	before := l.pods[name]
	if before != nil {
		l.dropPod(before, before.UID != p.UID)
	}
	l.pods[name] = p
	for _, key := range p.keys {
		if l.podsOf[key] == nil {
			l.podsOf[key] = map[string]*pod{}
		}
		l.podsOf[key][p.Name] = p
	}
	l.podChanged(before, p)
}

// deletePod removes a Pod.
func (l *Live) deletePod(name types.NamespacedName, uid types.UID) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	p := l.pods[name]
	if p == nil || p.UID != uid {
		return
	}
	delete(l.pods, name)
	l.dropPod(p, true)
	l.podChanged(p, nil)
}

// dropPod takes a Pod out of the index. gone reports whether it does not exist any more.
func (l *Live) dropPod(p *pod, gone bool) {
	for _, key := range p.keys {
		delete(l.podsOf[key], p.Name)
		if len(l.podsOf[key]) == 0 {
			delete(l.podsOf, key)
		}
		if gone && p.role == roleExecutor {
			for _, e := range l.owners[key] {
				if e.row.ApplicationID == "" || e.row.ApplicationID == p.application {
					e.gone = append(e.gone, p.span(l.clock.Now()))
					e.gone = e.gone[max(len(e.gone)-maxGone, 0):]
				}
			}
		}
	}
}

// podChanged refreshes the rows that a Pod belongs to, if they show something else now.
func (l *Live) podChanged(before, after *pod) {
	keys := map[podKey]bool{}
	for _, p := range []*pod{before, after} {
		if p != nil {
			for _, key := range p.keys {
				keys[key] = true
			}
		}
	}
	for key := range keys {
		for _, e := range l.owners[key] {
			shown := e.shown
			l.refresh(e)
			if !samePods(shown, e.shown) {
				l.changed(e.shown, nil)
			} else {
				e.shown = shown
			}
		}
	}
}

// samePods reports whether two rows of an object have the same of its Pods.
func samePods(a, b *Row) bool {
	return a.Executors == b.Executors && a.Requested == b.Requested && a.Started.Equal(b.Started)
}

// refresh makes the row of an entry from the object and its Pods.
func (l *Live) refresh(e *entry) {
	row := *e.row
	e.gone = slices.DeleteFunc(e.gone, func(s executorSpan) bool { return row.ApplicationID != "" && s.application != row.ApplicationID })
	counted := Executors{Asked: row.Executors.Asked, Most: row.Executors.Most}
	seen := false
	for _, p := range l.podsOf[e.pods] {
		row.Requested = row.Requested.plus(p.current())
		switch {
		case row.Noun == overview.Cluster:
			if p.role == roleWorker {
				seen = true
				counted.add(p)
			}
		case p.role == roleDriver && p.Name == row.DriverPod && row.Started.IsZero():
			row.Started = p.started
		case p.role == roleExecutor && (row.ApplicationID == "" || p.application == row.ApplicationID):
			seen = true
			counted.add(p)
		}
	}
	for _, s := range e.gone {
		seen = true
		if s.lost {
			counted.Lost++
		}
	}
	if seen || row.Outcome == overview.Running {
		if row.Noun == overview.Cluster { // the status counts the registered workers
			counted.Running = row.Executors.Running
		}
		row.Executors = counted
	}
	e.shown = &row
}

func (r Resources) plus(other Resources) Resources {
	return Resources{add(r.MilliCPU, other.MilliCPU), add(r.Mebibytes, other.Mebibytes), add(r.GPUs, other.GPUs)}
}

// add adds numbers that are not negative. A sum stops at a limit: anyone may request anything.
func add(a, b int64) int64 {
	const most = 1 << 62
	return min(min(a, most-1)+min(b, most), most)
}

// groupsOf calls a function with each group that is seen and that a filter may select.
func (l *Live) groupsOf(see Visible, filter *Filter, each func(Group, *group)) {
	for key, g := range l.groups {
		if (len(filter.Namespaces) == 0 || slices.Contains(filter.Namespaces, key.Namespace)) &&
			(len(filter.Resources) == 0 || slices.Contains(filter.Resources, key.Resource)) && see.Sees(key.Namespace, key.Resource) {
			each(key, g)
		}
	}
}

// Groups returns the groups that there are. Their version changes with them.
func (l *Live) Groups() (groups []Group, version uint64) {
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	return slices.Collect(maps.Keys(l.groups)), l.groupsVersion
}

// GroupsVersion returns the version of the groups.
func (l *Live) GroupsVersion() uint64 {
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	return l.groupsVersion
}

// find returns an object; nil if there is none.
func (l *Live) find(ref Ref) *entry {
	if g := l.groups[Group{ref.Namespace, ref.Resource}]; g != nil {
		return g.entries[ref.Name]
	}
	return nil
}

// Row returns the row of an object, and whether there is one.
func (l *Live) Row(ref Ref) (*Row, bool) {
	l.mutex.RLock()
	defer l.mutex.RUnlock()
	e := l.find(ref)
	if e == nil {
		return nil, false
	}
	return e.shown, true
}
