package sparkcluster

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/edits"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/writecache"
)

// memory is what this process knows of clusters beyond the caches. What is lost with it costs a few requests.
type memory struct {
	written *writecache.Cache[*sparkv1.SparkCluster]
	reports blocked.Reports
	// pruned are the clusters whose record the API server did not store.
	pruned blocked.Pruned
	edits  *edits.Tracker
	// restorations bounds how often a status is restored that another writer has changed.
	restorations delivery.Restorations

	mutex   sync.Mutex
	wrote   map[types.UID]time.Time
	refused map[types.UID]refused
	// missing are the StatefulSets that lack Pods, by cluster and name.
	missing map[types.UID]map[string]missing
	// looked are the deleted clusters of which it was looked whether all objects are known.
	looked map[types.UID]bool
	// parted are the clusters that were let go of, which the cache may not know yet.
	parted map[types.UID]parting
}

// refused says why objects could not be had when they were last asked for.
type refused struct {
	objects string
	cause   *lifecycle.Cause
	at      time.Time
	// passing says that the cause is on its way out.
	passing bool
}

// parting is when a cluster was let go of, and its resourceVersion then.
type parting struct {
	at      time.Time
	version string
}

func newMemory() *memory {
	return &memory{
		written: writecache.New[*sparkv1.SparkCluster](), edits: edits.NewTracker(), wrote: map[types.UID]time.Time{},
		refused: map[types.UID]refused{}, missing: map[types.UID]map[string]missing{}, parted: map[types.UID]parting{},
		looked: map[types.UID]bool{},
	}
}

// firstLook reports whether a deleted cluster is looked at for the first time.
func (m *memory) firstLook(uid types.UID) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	first := !m.looked[uid]
	m.looked[uid] = true
	return first
}

// remember knows a cluster as it was written.
func (m *memory) remember(c *sparkv1.SparkCluster, now time.Time) {
	m.written.Remember(c)
	m.restorations.Wrote(c)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.wrote[c.UID] = now
	m.reports.Forget(c.UID)
	m.pruned.Forget(c.UID)
}

// wroteAt is when a cluster was last written; zero where this process never wrote it.
func (m *memory) wroteAt(uid types.UID) time.Time {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.wrote[uid]
}

// refuse remembers why objects were refused, so that they are not asked for all the time. There is nothing to remember
// where none were.
func (m *memory) refuse(uid types.UID, what refused) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.refused, uid)
	if what.cause != nil {
		m.refused[uid] = what
	}
}

// forgive forgets what was refused.
func (m *memory) forgive(uid types.UID) { m.refuse(uid, refused{}) }

func (m *memory) lastRefusal(uid types.UID) refused {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.refused[uid]
}

// part remembers that a cluster was let go of, and nothing else of it.
func (m *memory) part(c *sparkv1.SparkCluster, now time.Time) {
	m.forget(c)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.parted[c.UID] = parting{at: now, version: c.ResourceVersion}
}

// justParted says that a cluster was let go of a moment ago. One that still has the finalizer after another's write was not:
// that write, such as the garbage collector's, came before, and made a conflict of it.
func (m *memory) justParted(c *sparkv1.SparkCluster, now time.Time) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	last, parted := m.parted[c.UID]
	contested := writecache.Newer(c.ResourceVersion, last.version) && slices.Contains(c.Finalizers, status.Finalizer)
	return parted && now.Sub(last.at) < seenWithin && !contested
}

// forget knows nothing of a cluster any more.
func (m *memory) forget(c *sparkv1.SparkCluster) {
	m.written.Forget(c)
	m.edits.Forget(c.UID)
	m.restorations.Forget(c.UID)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.parted, c.UID)
	delete(m.wrote, c.UID)
	m.reports.Forget(c.UID)
	m.pruned.Forget(c.UID)
	delete(m.refused, c.UID)
	delete(m.missing, c.UID)
	delete(m.looked, c.UID)
}

// miss is what is known of a StatefulSet that lacks Pods, from now on where nothing was.
func (m *memory) miss(uid types.UID, set string, now time.Time) missing {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	known, is := m.missing[uid][set]
	if !is {
		known.since = now
		m.keepMissingLocked(uid, set, known)
	}
	return known
}

// keepMissing remembers why a StatefulSet lacks Pods.
func (m *memory) keepMissing(uid types.UID, set string, known missing) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.keepMissingLocked(uid, set, known)
}

func (m *memory) keepMissingLocked(uid types.UID, set string, known missing) {
	if m.missing[uid] == nil {
		m.missing[uid] = map[string]missing{}
	}
	m.missing[uid][set] = known
}

// found forgets that a StatefulSet lacked Pods.
func (m *memory) found(uid types.UID, set string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.missing[uid], set)
}

// missed is when it is to be asked why Pods are missing; zero where it was, or where none are.
func (m *memory) missed(uid types.UID) time.Time {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var first time.Time
	for _, known := range m.missing[uid] {
		if at := known.since.Add(missedAfter); known.version == "" && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// lastRefusal says why objects like these were refused when they were last asked for; it has no cause where they were not.
func (r *Reconciler) lastRefusal(c *sparkv1.SparkCluster, objects *resources.Objects) refused {
	last := r.memory.lastRefusal(c.UID)
	if last.objects != combined(objects) {
		return refused{}
	}
	return last
}
