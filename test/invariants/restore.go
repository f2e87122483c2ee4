package invariants

import (
	"crypto/sha256"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Restored undoes what was seen after a revision: the API server was restored from a backup of that revision, which holds these
// applications. Everything is checked as before, with these differences:
//
//   - a sequence number above that of the restored record is used again, for another event with the same id. Each event is
//     compared with the transition of its own time. An event of a transition that was undone may still arrive;
//   - such an event counts for nothing: the transition that has its number now must be delivered, too;
//   - nothing is required of an application that is not in the backup;
//   - a driver Pod that is not in the backup is gone: the kubelet removes what the API server does not know.
//
// So the sink may have taken an event of a transition that no longer exists. That is the cost of a restore.
func (h *History) Restored(revision string, apps []dialect.Application) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	restored := map[types.UID]bool{}
	for _, app := range apps {
		restored[app.GetUID()] = true
		h.application(app.GetUID()).restore(revision, app)
		if app.GetDeletionTimestamp() == nil {
			delete(h.permitted, app.GetUID())
		}
	}
	for uid, a := range h.applications {
		if !restored[uid] && !a.Gone() {
			a.lost = true
			a.drivers.undo(revision)
		}
	}
}

// restore sets the history to what it was when the application was as it is in a backup of a revision.
func (a *Application) restore(revision string, app dialect.Application) {
	a.seen, a.gone, a.released, a.outcome, a.shown = app.GetResourceVersion(), "", "", "", nil
	a.deleted = time.Time{}
	if at := app.GetDeletionTimestamp(); at != nil {
		a.deleted = at.Time
	}
	a.record = app.GetRecord().DeepCopy()
	var sequence, acknowledged int64
	if a.record != nil {
		sequence, acknowledged = a.record.Sequence, a.record.Acknowledged
	}
	a.undoSteps(sequence)
	clear(a.takenAgain)
	a.taken = max(acknowledged, min(a.taken, sequence))
	for _, t := range a.Transitions() {
		a.settle(t)
	}
	a.drivers.undo(revision)
	if app, ok := app.(*v1beta2.SparkApplication); ok && a.record != nil {
		a.shown = app.DeepCopy()
	}
	if lifecycle.CurrentState(a.record) == lifecycle.ResourceReleased {
		a.released = revision
	}
}

// undoSteps removes the transitions after a sequence number. Their events may still arrive.
func (a *Application) undoSteps(sequence int64) {
	maps.DeleteFunc(a.steps, func(number int64, s *step) bool {
		if number <= sequence {
			return false
		}
		if s.received {
			a.undone[s.digest] = true
		}
		if s.transition != nil {
			if event, err := eventOf(a.Object, *s.transition); err == nil {
				a.undone[sha256.Sum256([]byte(event))] = true
			}
		}
		return true
	})
}

// HasSeen reports whether this revision of an application was the last one seen.
func (h *History) HasSeen(app dialect.Application) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.application(app.GetUID()).seen == app.GetResourceVersion()
}

// Lost reports whether the application was not in the backup that the API server was restored from, or was removed although it had the
// finalizer.
func (a *Application) Lost() bool { return a.lost || a.slipped }
