package lifecycle

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// retain keeps the driver until the retention is over.
func (m *machine) retain() bool {
	m.recordDriverGone()
	m.archiveRetained()
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

// retainedUntil returns when the retention ends: after the shorter of the retention and the time to live, counted
// from the end of the application. If an edit removed the retention, it is over. false means that there is no bound.
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

// orphanAlive reports whether a driver that no launch knows is still alive.
func (m *machine) orphanAlive() bool {
	if m.seen.HasOrphan {
		m.held = HeldDriverTerminating
	}
	return m.seen.HasOrphan
}

// deletionTimedOut reports whether the deletion stops waiting for a driver Pod that stays terminating. If such a Pod
// can be deleted by force, that is tried first.
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

// heldBy names the driver Pod that has to disappear; empty if there is none or it is unknown.
func (m *machine) heldBy() string {
	if driver := m.awaitedDriver(); m.held == HeldDriverTerminating && driver != nil {
		return driver.DescribeTerminating()
	}
	return ""
}

// awaitedDriver returns the driver Pod that has to disappear first; nil if it is unknown.
func (m *machine) awaitedDriver() *Driver {
	if m.seen.Driver == nil && m.seen.HasOrphan {
		return m.seen.OrphanDriver
	}
	return m.seen.Driver
}

// released reports whether no driver of this attempt can be alive. If one can, it sets the effect that stops it.
// since is when the driver should have begun to stop: force is allowed some time after that.
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
		m.recordArchived()
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
			m.requeueAt(m.now.Add(limit)) // the watch will show its grace period
		}
		return false
	}
	due, again := driver.DeleteAgainAt(limit)
	if !again {
		return false // the watch will show its end
	}
	effect := Release
	if !driver.NoGraceLeft {
		effect = ForceRelease
		// A late deletion starts a late grace period: the driver may have lived until then.
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

// recordDriverGone records that the attempt's driver is gone, so that no message says it is retained.
func (m *machine) recordDriverGone() {
	if launch := m.record.Launch; m.seen.DriverGone && launch != nil && !launch.Released {
		launch.Released, m.changed = true, true
	}
}

// terminationStart returns when the driver of an ended attempt should have begun to stop. A lost driver already had
// its time.
func terminationStart(ended *v1alpha1.Transition) time.Time {
	if ended.End.Reason == reasonNodeLost {
		return time.Time{}
	}
	return ended.Time.Time
}
