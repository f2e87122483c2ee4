package sparkcluster

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/edits"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/writecache"
)

// clusterState is what this process knows about clusters that the caches do not have. If it is lost, a few requests
// are repeated.
type clusterState struct {
	written *writecache.Cache[*sparkv1.SparkCluster]
	reports blocked.Reports
	// pruned are the clusters whose record the API server did not store.
	pruned blocked.Pruned
	edits  *edits.Tracker
	// restorations bounds how often a status is restored that another writer changed.
	restorations      delivery.Restorations
	finalizerRemovals *base.FinalizerRemovals

	mutex      sync.Mutex
	writeTimes map[types.UID]time.Time
	refusals   map[types.UID]refusal
	// missingPods are the StatefulSets that lack Pods, by cluster and name.
	missing map[types.UID]map[string]missingPods
	// deletedSeen are the deleted clusters that were reconciled before.
	deletedSeen map[types.UID]bool
}

// refusal is why objects could not be created or updated at the last try.
type refusal struct {
	objects string
	cause   *lifecycle.Cause
	at      time.Time
	// until is when to try again, if the cause can end without a change of the spec; else zero.
	until time.Time
}

func (r refusal) isTemporary() bool { return !r.until.IsZero() }

func newClusterState(clock clock.PassiveClock) *clusterState {
	return &clusterState{
		written: writecache.New[*sparkv1.SparkCluster](), edits: edits.NewTracker(), writeTimes: map[types.UID]time.Time{},
		refusals: map[types.UID]refusal{}, missing: map[types.UID]map[string]missingPods{},
		finalizerRemovals: base.NewFinalizerRemovals(status.Finalizer, clock), deletedSeen: map[types.UID]bool{},
	}
}

// firstReconcileOfDeleted reports whether a deleted cluster is reconciled for the first time.
func (m *clusterState) firstReconcileOfDeleted(uid types.UID) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	first := !m.deletedSeen[uid]
	m.deletedSeen[uid] = true
	return first
}

// statusWritten stores a cluster as Firesteel wrote it.
func (m *clusterState) statusWritten(c *sparkv1.SparkCluster, now time.Time) {
	m.written.Remember(c)
	m.restorations.Wrote(c)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.writeTimes[c.UID] = now
	m.reports.Forget(c.UID)
	m.pruned.Forget(c.UID)
}

// writtenAt returns when this process last wrote a cluster, zero if it never did.
func (m *clusterState) writtenAt(uid types.UID) time.Time {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.writeTimes[uid]
}

// setRefusal stores why objects were refused, so that not every reconcile tries again. A refusal without a cause
// deletes the stored one.
func (m *clusterState) setRefusal(uid types.UID, what refusal) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.refusals, uid)
	if what.cause != nil {
		m.refusals[uid] = what
	}
}

// forgetRefusal deletes the stored refusal.
func (m *clusterState) forgetRefusal(uid types.UID) { m.setRefusal(uid, refusal{}) }

func (m *clusterState) lastRefusal(uid types.UID) refusal {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.refusals[uid]
}

// finalizerRemoved remembers that the finalizer of a cluster is removed, and forgets everything else about the cluster.
func (m *clusterState) finalizerRemoved(c *sparkv1.SparkCluster) {
	m.forget(c)
	m.finalizerRemovals.Add(c)
}

// forget forgets a cluster.
func (m *clusterState) forget(c *sparkv1.SparkCluster) {
	m.written.Forget(c)
	m.edits.Forget(c.UID)
	m.restorations.Forget(c.UID)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.writeTimes, c.UID)
	m.reports.Forget(c.UID)
	m.pruned.Forget(c.UID)
	delete(m.refusals, c.UID)
	delete(m.missing, c.UID)
	delete(m.deletedSeen, c.UID)
}

// lackingSince returns what is known about a StatefulSet that lacks Pods. If nothing is, it lacks them from now on.
func (m *clusterState) lackingSince(uid types.UID, set string, now time.Time) missingPods {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	known, ok := m.missing[uid][set]
	if !ok {
		known.since = now
		m.setMissingLocked(uid, set, known)
	}
	return known
}

// setMissing stores why a StatefulSet lacks Pods.
func (m *clusterState) setMissing(uid types.UID, set string, known missingPods) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.setMissingLocked(uid, set, known)
}

func (m *clusterState) setMissingLocked(uid types.UID, set string, known missingPods) {
	if m.missing[uid] == nil {
		m.missing[uid] = map[string]missingPods{}
	}
	m.missing[uid][set] = known
}

// podsFound records that a StatefulSet has all its Pods.
func (m *clusterState) podsFound(uid types.UID, set string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.missing[uid], set)
}

// explainAt returns when to look for the reason of missing Pods; zero if that was done or no Pods are missing.
func (m *clusterState) explainAt(uid types.UID) time.Time {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	var first time.Time
	for _, known := range m.missing[uid] {
		if at := known.since.Add(explainAfter); known.askedAt == "" && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// lastRefusal returns why these objects were refused at the last try. It has no cause if they were not, or if the objects have
// changed since.
func (r *Reconciler) lastRefusal(c *sparkv1.SparkCluster, objects *resources.Objects) refusal {
	last := r.state.lastRefusal(c.UID)
	if last.objects != objectsHash(objects) {
		return refusal{}
	}
	return last
}
