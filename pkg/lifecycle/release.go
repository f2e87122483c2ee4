package lifecycle

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// retain keeps the driver until its time is over.
func (m *machine) retain() bool {
	m.recordDriverGone()
	due, bounded := m.retainedUntil()
	if !bounded {
		return false
	}
	if m.now.Before(due) {
		m.requeueAt(due)
		return false
	}
	if !m.released(due) {
		return false
	}
	return m.terminate(ResourceReleased, "Spark application resources released after exceeding the configured retain duration.", "")
}

// retainedUntil is the shorter of the retention and the time to live, from the end of the application on. A retention
// that was edited away is over.
func (m *machine) retainedUntil() (time.Time, bool) {
	limit := m.policy.RetainFor
	if ended := outbox.LastEnd(m.record); ended != nil && !m.policy.Retain.after(ended.End.Outcome) {
		limit = 0
	}
	if ttl := m.policy.TTL; ttl >= 0 && (limit < 0 || ttl < limit) {
		limit = ttl
	}
	return outbox.Current(m.record).Time.Add(max(limit, 0)), limit >= 0
}

// expire asks for the deletion of an application whose time to live is over. The clock starts with the state
// before the release, as in the Apache operator.
func (m *machine) expire() bool {
	if m.policy.TTL < 0 || !m.seen.Deleted.IsZero() {
		return false
	}
	due, _ := ExpiresAt(m.record, m.policy)
	if m.now.Before(due) {
		m.requeueAt(due)
		return false
	}
	m.awaits, m.awaitsSince = AwaitsDeletion, due
	return false
}

// ExpiresAt is the instant at which the time to live of a released application is over. It says no where the
// application is not released or has no time to live.
func ExpiresAt(record *v1alpha1.Record, policy Policy) (time.Time, bool) {
	if record == nil || CurrentState(record) != ResourceReleased || policy.TTL < 0 {
		return time.Time{}, false
	}
	since := outbox.Current(record).Time.Time
	if n := len(record.Transitions); n > 1 {
		since = record.Transitions[n-2].Time.Time
	}
	return since.Add(policy.TTL), true
}

// AtRest says that an application is over and that nobody is asked to delete it yet.
func AtRest(record *v1alpha1.Record, policy Policy, now time.Time) bool {
	due, expires := ExpiresAt(record, policy)
	return Finished(record, policy) && (!expires || now.Before(due))
}

// Finished says that nothing follows but the application's deletion, unless somebody edits its spec. What is retained for a
// time, which that to live bounds, has its release to come.
func Finished(record *v1alpha1.Record, policy Policy) bool {
	m := machine{record: record, policy: policy}
	state := CurrentState(record)
	if _, bounded := m.retainedUntil(); bounded && state != ResourceReleased {
		return false
	}
	return state.Terminated() && !m.specEdited(state)
}

// orphanAlive says that a driver is still to go that no launch knows of.
func (m *machine) orphanAlive() bool {
	if m.seen.HasOrphan {
		m.held = HeldDriverTerminating
	}
	return m.seen.HasOrphan
}

// deletionTimedOut reports whether a deletion waits no more for a driver Pod that does not go. Where such a Pod is deleted by
// force, that comes first.
func (m *machine) deletionTimedOut() bool {
	limit, since, driver := m.policy.Timeouts.Deletion, m.now, m.awaitedDriver()
	if m.effect != NoEffect || m.held != HeldDriverTerminating || limit <= 0 {
		return false
	}
	if driver != nil && driver.Terminating {
		if m.policy.Timeouts.ForceTermination > 0 && !driver.NoGraceLeft && !m.seen.ReleaseAccepted {
			return false
		}
		since = driver.TerminatingSince
	}
	if m.seen.Deleted.After(since) {
		since = m.seen.Deleted
	}
	due := since.Add(limit)
	if m.now.Before(due) {
		m.requeueAt(due)
		return false
	}
	return true
}

// heldBy names the driver Pod that is awaited to go; empty where none is, or it is not known.
func (m *machine) heldBy() string {
	if driver := m.awaitedDriver(); m.held == HeldDriverTerminating && driver != nil {
		return driver.DescribeTerminating()
	}
	return ""
}

// awaitedDriver is the driver Pod that is to go first; nil where it is not known.
func (m *machine) awaitedDriver() *Driver {
	if m.seen.Driver == nil && m.seen.HasOrphan {
		return m.seen.OrphanDriver
	}
	return m.seen.Driver
}

// released says that no driver of this attempt can be alive; where it cannot, it sets the effect that gets there. What
// does not go is forced some time after since.
func (m *machine) released(since time.Time) bool {
	launch := m.record.Launch
	if launch == nil || launch.Released {
		return true
	}
	var driver Driver
	if m.seen.Driver != nil {
		driver = *m.seen.Driver
	}
	accepted := m.seen.ReleaseAccepted || driver.Terminating
	if m.seen.DriverGone || accepted && driver.Stopped {
		launch.Released, m.changed = true, true
		return true
	}
	if !accepted {
		m.effect = Release
		return false
	}
	m.held = HeldDriverTerminating
	limit := m.policy.Timeouts.ForceTermination
	if !driver.Terminating {
		if limit > 0 {
			m.requeueAt(m.now.Add(limit)) // its grace period is known once its deletion is seen
		}
		return false
	}
	due, again := driver.DeleteAgainAt(limit)
	if !again {
		return false // its end is watched
	}
	effect := Release
	if !driver.NoGraceLeft {
		effect = ForceRelease
		// If the deletion came late, its grace period begins late: the driver may have lived on until then.
		if force := since.Add(limit); force.After(due) {
			due = force
		}
	}
	if m.now.Before(due) {
		m.requeueAt(due)
	} else if !m.seen.ReleaseAccepted {
		m.effect = effect
	}
	return false
}

// recordDriverGone records that the attempt's driver is proven gone, so that nothing says of it that it is kept.
func (m *machine) recordDriverGone() {
	if launch := m.record.Launch; m.seen.DriverGone && launch != nil && !launch.Released {
		launch.Released, m.changed = true, true
	}
}

// terminationStart is when a driver should have begun to go whose attempt ended. One that was given up as lost had its time.
func terminationStart(ended *v1alpha1.Transition) time.Time {
	if ended.End.Reason == reasonNodeLost {
		return time.Time{}
	}
	return ended.Time.Time
}
