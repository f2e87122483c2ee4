package live

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
)

// Options are what a Live needs.
type Options struct {
	// Dynamic reads the objects. If kinds may be absent, its transport is wrapped by pkg/kube/kinds. Kubernetes reads Pods.
	Dynamic    dynamic.Interface
	Kubernetes kubernetes.Interface
	// Versions are those in which kinds are read that are served in other versions than Firesteel's, by the names that ResourceNames returns. Another
	// operator may have an older one.
	Versions map[string]string
	// Settings returns the current settings.
	Settings func() Settings
	Clock    clock.Clock
	Logger   *zap.SugaredLogger
}

// Live holds what runs.
type Live struct {
	options   Options
	clock     clock.Clock
	freshness freshness
	started   time.Time

	// running is the context of Run; nil before it.
	running context.Context
	// watched are the namespaces that are read; it has AllNamespaces if all are.
	watched map[string]*watchedNamespace
	watches sync.Mutex

	mutex  sync.RWMutex
	groups map[Group]*group
	// groupsVersion changes when there are other groups.
	groupsVersion uint64
	pods          map[types.NamespacedName]*pod
	podsOf        map[podKey]map[string]*pod
	owners        map[podKey][]*entry
	changes       *changeLog
	shared        *shared
}

// New creates a Live without objects.
func New(options Options) *Live {
	now := options.Clock.Now().UTC()
	return &Live{
		options: options, clock: options.Clock, started: now,
		freshness: freshness{clock: options.Clock, failing: map[*informer]time.Time{}},
		watched:   map[string]*watchedNamespace{},
		groups:    map[Group]*group{}, pods: map[types.NamespacedName]*pod{}, podsOf: map[podKey]map[string]*pod{}, owners: map[podKey][]*entry{},
		changes: newChangeLog(now), shared: newShared(options.Clock),
	}
}

// housekeeping is how often is looked whether the API server answers and the settings changed.
const housekeeping = time.Second

// Run follows the cluster until the context ends. What is followed is set by Watch.
func (l *Live) Run(ctx context.Context) {
	l.watches.Lock()
	l.running = ctx
	for namespace, w := range l.watched {
		w.start(ctx, l, namespace)
	}
	l.watches.Unlock()
	go l.publish(ctx)
	settings, stale := l.options.Settings(), time.Time{}
	for rounds := 0; ; rounds++ {
		select {
		case <-ctx.Done():
			return
		case <-l.clock.After(housekeeping):
		}
		if now := l.StaleSince(); !now.Equal(stale) {
			stale = now
			l.mutex.Lock()
			l.wakeAll()
			l.mutex.Unlock()
		}
		if now := l.options.Settings(); now != settings {
			settings = now
			l.readAgain(settings)
		}
		if rounds%60 == 0 {
			l.forget()
		}
	}
}

// readAgain makes all rows anew, with other settings.
func (l *Live) readAgain(settings Settings) {
	l.mutex.RLock()
	var all []*object
	for _, g := range l.groups {
		for _, e := range g.entries {
			all = append(all, e.object)
		}
	}
	l.mutex.RUnlock()
	for _, o := range all {
		read, err := o.read()
		if err != nil {
			continue // it was too large to be kept
		}
		again := newObject(read.Source, o.row.Resource, settings, l.clock.Now())
		l.replaceObject(o, again)
	}
}

// replaceObject replaces an object by one that was read in another way, unless it has changed.
func (l *Live) replaceObject(before, after *object) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if e := l.find(before.row.Ref); e != nil && e.object == before {
		e.object = after
		l.refresh(e)
		l.changed(e.shown, nil)
	}
}

// Watch sets the namespaces that are read: all, if there are none. It may be called again.
func (l *Live) Watch(namespaces []string) {
	wanted := slices.Clone(namespaces)
	if len(wanted) == 0 {
		wanted = []string{AllNamespaces}
	}
	l.watches.Lock()
	defer l.watches.Unlock()
	for namespace, w := range maps.Clone(l.watched) {
		if !slices.Contains(wanted, namespace) {
			w.stop()
			l.freshness.forget(w.informers)
			delete(l.watched, namespace)
			l.drop(namespace)
		}
	}
	for _, namespace := range wanted {
		if l.watched[namespace] == nil {
			w := &watchedNamespace{}
			l.watched[namespace] = w
			if l.running != nil {
				w.start(l.running, l, namespace)
			}
		}
	}
}

// HasSynced reports whether all that is watched was read once. What may not be read does not count.
func (l *Live) HasSynced() bool {
	l.watches.Lock()
	defer l.watches.Unlock()
	for _, w := range l.watched {
		if !w.synced() {
			return false
		}
	}
	return len(l.watched) > 0
}

// drop forgets the objects of a namespace, or of all.
func (l *Live) drop(namespace string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for key, g := range l.groups {
		if namespace == AllNamespaces || key.Namespace == namespace {
			for _, e := range maps.Clone(g.entries) {
				l.remove(g, e)
			}
			delete(l.groups, key)
		}
	}
	l.groupsVersion++
	for name, p := range l.pods {
		if namespace == AllNamespaces || name.Namespace == namespace {
			delete(l.pods, name)
			l.dropPod(p, false)
		}
	}
}
