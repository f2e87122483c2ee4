package invariants

import (
	"crypto/sha256"
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Restored hears that the API server was restored from a backup of a revision, and of the applications in it. What was
// seen after that revision is undone, and everything is judged as before, with these differences:
//
//   - a sequence number above that of the restored record is used again, for another event with the same id. Each event
//     is held against the transition of its own time, and one of a transition that was undone may still arrive;
//   - such an event counts for nothing: the transition that has its number now must be delivered, too;
//   - nothing is asked of an application that is not in the backup;
//   - a driver Pod that is not in the backup is gone: the kubelet removes what the server does not know.
//
// An event may then have been taken of a transition that never was. That is the cost of a restore.
func (c *Court) Restored(revision string, apps []dialect.Application) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	restored := map[types.UID]bool{}
	for _, app := range apps {
		restored[app.GetUID()] = true
		c.caseOf(app.GetUID()).restore(revision, app)
		if app.GetDeletionTimestamp() == nil {
			delete(c.permitted, app.GetUID())
		}
	}
	for uid, its := range c.cases {
		if !restored[uid] && !its.Gone() {
			its.lost = true
			its.undoDrivers(revision)
		}
	}
}

// restore has the case be what it was when the application was as it is in a backup of a revision.
func (c *Case) restore(revision string, app dialect.Application) {
	c.seen, c.gone, c.released, c.outcome, c.shown = app.GetResourceVersion(), "", "", "", nil
	c.doomed = app.GetDeletionTimestamp() != nil
	c.record = app.GetRecord().DeepCopy()
	var sequence, acknowledged int64
	if c.record != nil {
		sequence, acknowledged = c.record.Sequence, c.record.Acknowledged
	}
	c.undoSteps(sequence)
	c.taken = max(acknowledged, min(c.taken, sequence))
	for _, t := range c.Transitions() {
		c.settle(t)
	}
	c.undoDrivers(revision)
	if app, is := app.(*v1beta2.SparkApplication); is && c.record != nil {
		c.shown = app.DeepCopy()
	}
	if lifecycle.CurrentState(c.record) == lifecycle.ResourceReleased {
		c.released = revision
	}
}

// undoSteps forgets the transitions after a sequence number, but for their events, which may still arrive.
func (c *Case) undoSteps(sequence int64) {
	maps.DeleteFunc(c.steps, func(number int64, s *step) bool {
		if number <= sequence {
			return false
		}
		if s.known {
			c.undone[s.digest] = true
		}
		if s.transition != nil {
			if event, err := told(c.Object, *s.transition); err == nil {
				c.undone[sha256.Sum256([]byte(event))] = true
			}
		}
		return true
	})
}

// undoDrivers forgets the driver Pods that were made after a revision, and the ends of others that came after it.
func (c *Case) undoDrivers(revision string) {
	maps.DeleteFunc(c.drivers, func(_ types.UID, d *driver) bool { return later(d.from, revision) })
	for _, d := range c.drivers {
		if d.to != "" && later(d.to, revision) {
			d.to = ""
		}
	}
}

// Saw reports whether a revision of an application was seen.
func (c *Court) Saw(app dialect.Application) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.caseOf(app.GetUID()).seen == app.GetResourceVersion()
}

// Lost reports whether the application was not in the backup that the API server was restored from.
func (c *Case) Lost() bool { return c.lost }
