package visible

import (
	"context"
	"crypto/sha256"
	"io"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/console/live"
)

const (
	// keepFor is how long an answer is used, and refreshAfter how old it is when it is asked for again behind the page. While the API server gives
	// no answer, no rights are changed: then the last one is used up to graceFor.
	keepFor, refreshAfter, graceFor = time.Minute, 40 * time.Second, 3 * time.Minute
	// patience is how long a page waits for answers. What is then known is shown.
	patience = 3 * time.Second
	// reviewTimeout bounds the reviews for one view.
	reviewTimeout = 30 * time.Second
	// maxViewers bounds the viewers whose answers are kept, and inFlight the reviews of one viewer that are under way.
	maxViewers, inFlight = 1024, 16
)

// Viewer is a user whose rights are asked for.
type Viewer interface {
	// Key identifies the viewer, with everything that an answer may depend on.
	Key() string
	// Ask asks the API server now whether the viewer has a right: nil, access.ErrNotAllowed or access.ErrUnavailable.
	Ask(ctx context.Context, right access.Right) error
}

// Groups are the groups that there are.
type Groups interface {
	// Groups returns them with their version, which changes with them. GroupsVersion returns the version alone.
	Groups() (groups []live.Group, version uint64)
	GroupsVersion() uint64
}

// Views knows what viewers may see.
type Views struct {
	groups Groups
	clock  clock.Clock

	mutex   sync.Mutex
	viewers *lru.Cache
}

// New creates Views of groups.
func New(groups Groups, clock clock.Clock) *Views {
	return &Views{groups: groups, clock: clock, viewers: lru.New(maxViewers)}
}

// View is what a viewer may see. It does not change.
type View struct {
	seen map[live.Group]bool
	// key is a hash of what is seen.
	key string
	// Complete reports whether everything that there is was asked for.
	Complete bool
}

// Sees reports whether the viewer may list the objects of a resource in a namespace.
func (v *View) Sees(namespace, resource string) bool {
	return v.seen[live.Group{Resource: resource}] || v.seen[live.Group{Namespace: namespace, Resource: resource}]
}

// Key is the same for views of the same. It is a live.Alike.
func (v *View) Key() string { return v.key }

// Of returns what a viewer may see. Its error is access.ErrUnavailable, or that of the context.
func (v *Views) Of(ctx context.Context, viewer Viewer) (*View, error) {
	return v.viewerOf(viewer).view(ctx, v, viewer)
}

func (v *Views) viewerOf(viewer Viewer) *answers {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if known, ok := v.viewers.Get(viewer.Key()); ok {
		return known.(*answers)
	}
	a := &answers{given: map[live.Group]answer{}}
	v.viewers.Add(viewer.Key(), a)
	return a
}

// answer is whether a viewer may list a group.
type answer struct {
	allowed bool
	at      time.Time
}

// answers are those about one viewer.
type answers struct {
	mutex sync.Mutex
	// given are the answers, those for all namespaces under an empty one.
	given map[live.Group]answer
	// kept is the last view, which is good until a time, and for a version of the groups.
	kept    *View
	until   time.Time
	version uint64
	// asking is the round of reviews that is under way; nil if there is none. failing reports whether the last one failed.
	asking  *round
	failing bool
}

// round is a round of reviews.
type round struct {
	// done is closed at the end. err is why an answer is missing; nil if none is.
	done chan struct{}
	err  error
}

// view returns the view. It waits for answers that are missing, but not for those that are merely old.
func (a *answers) view(ctx context.Context, of *Views, viewer Viewer) (*View, error) {
	now, version := of.clock.Now(), of.groups.GroupsVersion()
	a.mutex.Lock()
	if a.kept != nil && now.Before(a.until) && a.version == version {
		defer a.mutex.Unlock()
		return a.kept, nil
	}
	missing, old := a.wanting(of, now)
	if !missing && !old {
		defer a.mutex.Unlock()
		return a.snapshot(of, now), nil
	}
	current := a.asking
	if current == nil {
		current = &round{done: make(chan struct{})}
		a.asking = current
		go a.ask(context.WithoutCancel(ctx), of, viewer, current)
	}
	if !missing {
		defer a.mutex.Unlock()
		return a.snapshot(of, now), nil
	}
	a.mutex.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-current.done:
	case <-of.clock.After(patience):
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	view := a.snapshot(of, of.clock.Now())
	if current.failed() && !a.knowsAll(of.clock.Now()) {
		return nil, current.err
	}
	return view, nil
}

// failed reports whether the round has ended without some answer.
func (r *round) failed() bool {
	select {
	case <-r.done:
		return r.err != nil
	default:
		return false
	}
}

// everywhere are the groups that stand for all namespaces.
func everywhere() (groups []live.Group) {
	for _, resource := range live.ResourceNames() {
		groups = append(groups, live.Group{Resource: resource})
	}
	return groups
}

// knowsAll reports whether it is known what the viewer may list in all namespaces.
func (a *answers) knowsAll(now time.Time) bool {
	for _, group := range everywhere() {
		if !a.usable(a.given[group], now) {
			return false
		}
	}
	return true
}

// usable reports whether an answer is not too old.
func (a *answers) usable(given answer, now time.Time) bool {
	age := now.Sub(given.at)
	return !given.at.IsZero() && (age < keepFor || a.failing && age < graceFor)
}

// eachWanted calls a function with each group about which an answer is wanted: those for all namespaces, and those in namespaces if the one for all is
// not seen. The function reports whether a group is seen.
func eachWanted(groups []live.Group, note func(live.Group) bool) {
	all := map[string]bool{}
	for _, group := range everywhere() {
		all[group.Resource] = note(group)
	}
	for _, group := range groups {
		if !all[group.Resource] {
			note(group)
		}
	}
}

// wanting reports whether answers are missing, or old.
func (a *answers) wanting(of *Views, now time.Time) (missing, old bool) {
	groups, _ := of.groups.Groups()
	eachWanted(groups, func(group live.Group) bool {
		given := a.given[group]
		missing = missing || !a.usable(given, now)
		old = old || now.Sub(given.at) >= refreshAfter
		return given.allowed && a.usable(given, now)
	})
	return missing, old
}

// snapshot returns the view of the answers that can be used. The caller holds the mutex.
func (a *answers) snapshot(of *Views, now time.Time) *View {
	view := &View{seen: map[live.Group]bool{}, Complete: true}
	until := now.Add(refreshAfter)
	groups, version := of.groups.Groups()
	eachWanted(groups, func(group live.Group) bool {
		given := a.given[group]
		if !a.usable(given, now) {
			view.Complete = false
			return false
		}
		if refresh := given.at.Add(refreshAfter); refresh.Before(until) {
			until = refresh
		}
		if given.allowed {
			view.seen[group] = true
		}
		return given.allowed
	})
	view.key = keyOf(view.seen)
	a.kept, a.until, a.version = view, until, version
	if !view.Complete {
		a.kept = nil
	}
	return view
}

// keyOf returns a hash of groups.
func keyOf(seen map[live.Group]bool) string {
	names := make([]string, 0, len(seen))
	for group := range seen {
		names = append(names, group.Resource+" "+group.Namespace+"\n") // no name has a blank or the end of a line
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range names {
		_, _ = io.WriteString(sum, name) // a hash takes everything
	}
	return string(sum.Sum(nil))
}

// ask asks for what is missing or old.
func (a *answers) ask(ctx context.Context, of *Views, viewer Viewer, current *round) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	err := a.askFor(ctx, of, viewer, everywhere())
	groups, _ := of.groups.Groups()
	now := of.clock.Now()
	a.mutex.Lock()
	var each []live.Group
	exist := map[live.Group]bool{}
	for _, group := range groups {
		exist[group] = true
		if all := a.given[live.Group{Resource: group.Resource}]; !a.usable(all, now) || !all.allowed {
			each = append(each, group)
		}
	}
	for group := range a.given {
		if group.Namespace != "" && !exist[group] {
			delete(a.given, group)
		}
	}
	a.mutex.Unlock()
	if err == nil {
		err = a.askFor(ctx, of, viewer, each)
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.asking, a.kept, a.failing, current.err = nil, nil, err != nil, err
	close(current.done)
}

// askFor asks about groups whose answers are missing or old.
func (a *answers) askFor(ctx context.Context, of *Views, viewer Viewer, groups []live.Group) error {
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(inFlight)
	for _, group := range groups {
		a.mutex.Lock()
		fresh := of.clock.Since(a.given[group].at) < refreshAfter
		a.mutex.Unlock()
		if fresh {
			continue
		}
		asking.Go(func() error {
			at := of.clock.Now()
			allowed, err := access.Allowed(viewer.Ask(ctx, access.RightOn("list", group.Resource, group.Namespace, "")))
			if err != nil {
				return err
			}
			a.mutex.Lock()
			defer a.mutex.Unlock()
			a.given[group] = answer{allowed: allowed, at: at}
			return nil
		})
	}
	return asking.Wait()
}
