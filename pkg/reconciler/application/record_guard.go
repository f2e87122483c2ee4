package application

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/adoption"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/writecache"
)

// recordGuard remembers the applications as Firesteel last wrote them, and whether their records were lost.
type recordGuard struct {
	*writecache.Cache[dialect.Application]
	reports blocked.Reports
	pruned  blocked.Pruned
	// sameShown reports whether two statuses show the same to the clients of an API.
	sameShown    func(a, b dialect.Application) bool
	restorations delivery.Restorations
	// stores reports whether the API server stored the newest record that is known.
	stores atomic.Bool

	mutex      sync.Mutex
	withRecord map[types.UID]bool
	lost       map[types.UID]adoption.LostRecord
	losses     map[types.UID]losses
}

// losses counts how often the record of an application was lost in succession, and when it was last.
type losses struct {
	count int
	last  time.Time
}

// succession is the time within which the next loss is one of the same writer.
const succession = 2 * adoption.OtherOperatorQuiet

func newRecordGuard(sameShown func(a, b dialect.Application) bool) *recordGuard {
	return &recordGuard{
		Cache:     writecache.New[dialect.Application](),
		sameShown: sameShown,

		withRecord: map[types.UID]bool{},
		lost:       map[types.UID]adoption.LostRecord{},
		losses:     map[types.UID]losses{},
	}
}

// written remembers an application as it was written. It forgets why the application was blocked, but not a loss after the
// write: the event of that loss may arrive before the response to the write.
func (w *recordGuard) written(app dialect.Application) {
	w.Remember(app)
	w.restorations.Wrote(app)
	w.recordSeen(app)
	w.reports.Forget(app.GetUID())
	w.pruned.Forget(app.GetUID())
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if !writecache.Newer(w.lost[app.GetUID()].Version, app.GetResourceVersion()) {
		delete(w.lost, app.GetUID())
	}
}

// recordSeen remembers whether an application has a record.
func (w *recordGuard) recordSeen(app dialect.Application) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	record := app.GetRecord()
	if record == nil {
		return
	}
	w.withRecord[app.GetUID()] = true
	if record.Attempt.Spec != nil { // an older CustomResourceDefinition does not have this field
		w.stores.Store(true)
	}
}

// storesRecords reports whether the API server is known to store records. If it is not known, nothing is launched before the
// response to a status write shows that the record is stored.
func (w *recordGuard) storesRecords() bool { return w.stores.Load() }

// notStored remembers that the API server did not store the record of an application.
func (w *recordGuard) notStored() { w.stores.Store(false) }

// statusChanged detects that a record was dropped: another operator wrote the whole status, or a client set it to null.
func (w *recordGuard) statusChanged(before, after dialect.Application, now time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known, lost := w.lost[after.GetUID()]
	switch {
	case after.GetRecord() != nil:
		delete(w.lost, after.GetUID())
		w.withRecord[after.GetUID()] = true
	case after.GetUndecodable() != "", before.GetUID() != after.GetUID():
	case before.GetRecord() != nil:
		w.notStored()
		w.lost[after.GetUID()] = adoption.LostRecord{
			Last: before, At: now, Times: w.countLossLocked(after.GetUID(), now), Version: after.GetResourceVersion(),
		}
	case lost && !w.sameShown(before, after):
		w.lost[after.GetUID()] = adoption.LostRecord{Last: known.Last, At: now, Times: known.Times, Version: after.GetResourceVersion()}
	case !lost:
		delete(w.withRecord, after.GetUID()) // the record was lost while the application could not be decoded
	}
}

// countLossLocked counts a loss, and returns the number of those in succession.
func (w *recordGuard) countLossLocked(app types.UID, now time.Time) int {
	known := w.losses[app]
	if now.Sub(known.last) > succession {
		known.count = 0
	}
	known = losses{known.count + 1, now}
	w.losses[app] = known
	return known.count
}

// restored forgets what was known of an application that was restored from an older backup. If it has no record, the record
// was not dropped: no controller had begun with it at that time, and it begins anew.
func (w *recordGuard) restored(app dialect.Application) {
	w.forget(app)
	w.recordSeen(app)
}

// lossPending reports whether an application without a record had one, and the event of its loss is still pending: the informer
// updates the cache before it calls the handlers.
func (w *recordGuard) lossPending(app dialect.Application) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	_, lost := w.lost[app.GetUID()]
	return w.withRecord[app.GetUID()] && !lost
}

// lostRecordOf returns what is known of a lost record. Last is nil if no record was lost.
func (w *recordGuard) lostRecordOf(app dialect.Application) adoption.LostRecord {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known := w.lost[app.GetUID()]
	known.Pruned = w.pruned.Has(app.GetUID())
	return known
}

func (w *recordGuard) forget(app dialect.Application) {
	w.Forget(app)
	w.restorations.Forget(app.GetUID())
	w.reports.Forget(app.GetUID())
	w.pruned.Forget(app.GetUID())
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.withRecord, app.GetUID())
	delete(w.lost, app.GetUID())
	delete(w.losses, app.GetUID())
}
