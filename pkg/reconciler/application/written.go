package application

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/latest"
)

// written remembers the applications as Firesteel last wrote them, and what became of their records.
type written struct {
	*latest.Writes[dialect.Application]
	// sameShown says that two statuses show the same to the clients of an API.
	sameShown func(a, b dialect.Application) bool

	mutex    sync.Mutex
	reported map[types.UID]int64
	pruned   map[types.UID]time.Time
	lost     map[types.UID]loss
}

// loss is the last that was seen of an application's record, and when somebody last wrote a status without it.
type loss struct {
	last dialect.Application
	at   time.Time
	// pruned says that it was Firesteel's own write that lost it.
	pruned bool
}

func newWritten(sameShown func(a, b dialect.Application) bool) *written {
	return &written{
		Writes:    latest.NewWrites[dialect.Application](),
		sameShown: sameShown,

		reported: map[types.UID]int64{},
		pruned:   map[types.UID]time.Time{},
		lost:     map[types.UID]loss{},
	}
}

// remember knows an application as it was written. What it was set aside for is over.
func (w *written) remember(app dialect.Application) {
	w.Remember(app)
	w.settle(app.GetUID())
}

func (w *written) settle(uid types.UID) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.reported, uid)
	delete(w.pruned, uid)
	delete(w.lost, uid)
}

// compare sees that a record is dropped: another operator that writes the whole status does so, and so does who sets
// it to null.
func (w *written) compare(before, after dialect.Application, now time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	_, lost := w.lost[after.GetUID()]
	switch {
	case after.GetRecord() != nil:
		delete(w.lost, after.GetUID())
	case after.GetUndecodable() != "", before.GetUID() != after.GetUID():
	case before.GetRecord() != nil:
		w.lost[after.GetUID()] = loss{last: before, at: now}
	case lost && !w.sameShown(before, after):
		w.lost[after.GetUID()] = loss{last: w.lost[after.GetUID()].last, at: now}
	}
}

// lossOf is what is known of a record that was dropped; its last is nil where there was none.
func (w *written) lossOf(app dialect.Application) loss {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known := w.lost[app.GetUID()]
	_, known.pruned = w.pruned[app.GetUID()]
	return known
}

func (w *written) forget(app dialect.Application) {
	w.Forget(app)
	w.settle(app.GetUID())
}

func (w *written) sawPruned(app dialect.Application, now time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.pruned[app.GetUID()] = now
}

// prunedFor is how long to leave an application alone whose record was dropped. Each try changes the object.
func (w *written) prunedFor(app dialect.Application, now time.Time) time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	at, pruned := w.pruned[app.GetUID()]
	if !pruned {
		return 0
	}
	return at.Add(prunedRetry).Sub(now)
}

func (w *written) firstReport(app dialect.Application) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if generation, reported := w.reported[app.GetUID()]; reported && generation == app.GetGeneration() {
		return false
	}
	w.reported[app.GetUID()] = app.GetGeneration()
	return true
}

func (w *written) unreport(app dialect.Application) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.reported, app.GetUID())
}

func keyOf(app dialect.Application) types.NamespacedName {
	return types.NamespacedName{Namespace: app.GetNamespace(), Name: app.GetName()}
}
