package application

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/writecache"
)

// written remembers the applications as Firesteel last wrote them, and what became of their records.
type written struct {
	*writecache.Cache[dialect.Application]
	reports *base.Reports
	// sameShown says that two statuses show the same to the clients of an API.
	sameShown    func(a, b dialect.Application) bool
	restorations delivery.Restorations

	mutex    sync.Mutex
	recorded map[types.UID]bool
	pruned   map[types.UID]time.Time
	lost     map[types.UID]loss
}

// loss is the last that was seen of an application's record, and when somebody last wrote a status without it.
type loss struct {
	last dialect.Application
	at   time.Time
	// pruned says that it was Firesteel's own write that lost it.
	pruned bool
	// version is the resourceVersion that it was seen with.
	version string
}

func newWritten(sameShown func(a, b dialect.Application) bool) *written {
	return &written{
		Cache:     writecache.New[dialect.Application](),
		reports:   base.NewReports(),
		sameShown: sameShown,

		recorded: map[types.UID]bool{},
		pruned:   map[types.UID]time.Time{},
		lost:     map[types.UID]loss{},
	}
}

// remember knows an application as it was written. What it was set aside for is over, but for a loss that came after the
// write: its news may be here before the write's answer. Nobody reads its managed fields, which the next write would carry.
func (w *written) remember(app dialect.Application) {
	app.SetManagedFields(nil)
	w.Remember(app)
	w.restorations.Wrote(app)
	w.found(app)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.reports.Forget(app.GetUID())
	delete(w.pruned, app.GetUID())
	if !writecache.Newer(w.lost[app.GetUID()].version, app.GetResourceVersion()) {
		delete(w.lost, app.GetUID())
	}
}

// found knows that an application has a record, where it does.
func (w *written) found(app dialect.Application) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if app.GetRecord() != nil {
		w.recorded[app.GetUID()] = true
	}
}

// compare sees that a record is dropped: another operator that writes the whole status does so, and so does who sets
// it to null.
func (w *written) compare(before, after dialect.Application, now time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known, lost := w.lost[after.GetUID()]
	switch {
	case after.GetRecord() != nil:
		delete(w.lost, after.GetUID())
		w.recorded[after.GetUID()] = true
	case after.GetUndecodable() != "", before.GetUID() != after.GetUID():
	case before.GetRecord() != nil:
		w.lost[after.GetUID()] = loss{last: before, at: now, version: after.GetResourceVersion()}
	case lost && !w.sameShown(before, after):
		w.lost[after.GetUID()] = loss{last: known.last, at: now, version: after.GetResourceVersion()}
	case !lost:
		delete(w.recorded, after.GetUID()) // it went while the application could not be decoded
	}
}

// wentBack forgets what was known of an application that is as in an older backup. Its record was not dropped if it has none: nobody
// had begun with it at that time, and it begins anew.
func (w *written) wentBack(app dialect.Application) {
	w.forget(app)
	w.found(app)
}

// unexplained says that an application without a record is known to have had one, and that the news of its loss is on its
// way: the cache has an object before those that watch it are told.
func (w *written) unexplained(app dialect.Application) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	_, lost := w.lost[app.GetUID()]
	return w.recorded[app.GetUID()] && !lost
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
	w.restorations.Forget(app.GetUID())
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.recorded, app.GetUID())
	w.reports.Forget(app.GetUID())
	delete(w.pruned, app.GetUID())
	delete(w.lost, app.GetUID())
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
	return at.Add(base.PrunedRetryAfter).Sub(now)
}

func keyOf(app dialect.Application) types.NamespacedName {
	return types.NamespacedName{Namespace: app.GetNamespace(), Name: app.GetName()}
}
