package sparkcluster

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/latest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/setup"
)

// memory is what this process knows of clusters beyond the caches. What is lost with it costs a few requests.
type memory struct {
	written *latest.Writes[*sparkv1.SparkCluster]
	reports *setup.Reports

	mutex   sync.Mutex
	wrote   map[types.UID]time.Time
	refused map[types.UID]refused
	// parted are the clusters that were let go of, which the cache may not know yet.
	parted map[types.UID]time.Time
}

// refused is an edit that was refused.
type refused struct {
	objects string
	cause   *lifecycle.Cause
	at      time.Time
}

func newMemory() *memory {
	return &memory{
		written: latest.NewWrites[*sparkv1.SparkCluster](), reports: setup.NewReports(), wrote: map[types.UID]time.Time{},
		refused: map[types.UID]refused{}, parted: map[types.UID]time.Time{},
	}
}

// remember knows a cluster as it was written.
func (m *memory) remember(c *sparkv1.SparkCluster, now time.Time) {
	m.written.Remember(c)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.wrote[c.UID] = now
	m.reports.Forget(c.UID)
}

// wroteAt is when a cluster was last written; zero where this process never wrote it.
func (m *memory) wroteAt(uid types.UID) time.Time {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.wrote[uid]
}

// refuse remembers why objects were refused, so that they are not asked for all the time. There is nothing to remember
// where none were.
func (m *memory) refuse(uid types.UID, objects string, cause *lifecycle.Cause, now time.Time) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.refused, uid)
	if cause != nil {
		m.refused[uid] = refused{objects: objects, cause: cause, at: now}
	}
}

// forgive forgets what was refused.
func (m *memory) forgive(uid types.UID) { m.refuse(uid, "", nil, time.Time{}) }

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
	m.parted[c.UID] = now
}

// justParted says that a cluster was let go of a moment ago.
func (m *memory) justParted(uid types.UID, now time.Time) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	at, parted := m.parted[uid]
	return parted && now.Sub(at) < seenWithin
}

// forget knows nothing of a cluster any more.
func (m *memory) forget(c *sparkv1.SparkCluster) {
	m.written.Forget(c)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.parted, c.UID)
	delete(m.wrote, c.UID)
	m.reports.Forget(c.UID)
	delete(m.refused, c.UID)
}

// lastRefusal says why objects like these were refused when they were last asked for; nil where they were not.
func (r *Reconciler) lastRefusal(c *sparkv1.SparkCluster, objects *resources.Objects) *lifecycle.Cause {
	last := r.memory.lastRefusal(c.UID)
	if last.cause == nil || last.objects != combined(objects) {
		return nil
	}
	return last.cause
}
