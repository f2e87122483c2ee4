package lifecycle

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// recordSpec records the spec of the attempt, unless the spec was edited since.
func (m *machine) recordSpec() {
	if !m.policy.Interrupts || m.policy.Spec.Hash == nil || !m.seen.Deleted.IsZero() {
		return
	}
	switch m.policy.Spec.Since(m.record) {
	case spec.Edited:
		return
	case spec.Unnoted:
		m.changed = true
	case spec.Unknowable:
		m.changed, m.specAdopted = true, true
	}
	m.policy.Spec.Note(m.record)
}

// specEdited reports whether the application is to run again because its spec differs from its attempt's. This holds
// in every state, even after the end, but not during a deletion, nor while the application is stopped. A driver that the user started runs to its
// end first.
func (m *machine) specEdited(state State) bool {
	if !m.policy.Interrupts || !m.seen.Deleted.IsZero() || m.policy.Stop != nil || state == Invalidating {
		return false
	}
	if m.followsUser() && !state.Terminated() {
		return false
	}
	return m.policy.Spec.Since(m.record) == spec.Edited
}

// mustSuspend reports whether the attempt is to be interrupted. An attempt that has ended is not: what follows it is
// decided first. The same holds if its driver has just ended: a resumption would repeat its work. A stop wins over a suspension.
func (m *machine) mustSuspend(state State) bool {
	if !m.policy.Interrupts || !m.policy.Suspend || m.policy.Stop != nil {
		return false
	}
	ended := m.seen.Driver != nil && m.seen.Driver.End != nil
	return state.Initializing() || !ended && (state.Starting() || state.Running() || state == Unknown)
}

// suspend stops the driver, whatever it does.
func (m *machine) suspend() bool {
	since := outbox.Current(m.record).Time.Time
	if m.awaitInterruptedArchive(since) {
		return false
	}
	m.recordArchivedUnlessStopped()
	if !m.released(since) || m.orphanAlive() {
		return false
	}
	m.recordArchived()
	return m.enter(Suspended, "The application is suspended: nothing of it runs.")
}

// resume starts a new attempt once the user asks for it. The counters stay: a suspension is no restart. If the application is stopped, that
// attempt ends before its launch.
func (m *machine) resume() bool {
	stopped := m.policy.Stop != nil
	if m.policy.Suspend && !stopped {
		m.held = HeldSuspended
		return false
	}
	if !m.released(outbox.Current(m.record).Time.Time) || m.recordFull() { // released already, unless a user edited the record
		return false
	}
	m.record.Verdict = nil
	next := m.record.Attempt
	next.Spec, next.WithoutEventLogs = nil, ""
	next.ID, next.Executions = next.ID+1, Executions(m.record)
	if stopped {
		return m.begin(next, Resuming, "The application is stopped: it runs no more.")
	}
	return m.begin(next, Resuming, "The application is resumed: it runs from its beginning.")
}

// invalidate stops the driver that runs the old spec, and starts the new spec as if it were the first. A driver that the user started has
// ended, and is left as it is.
func (m *machine) invalidate() bool {
	since := outbox.Current(m.record).Time.Time
	if !m.followsUser() && m.awaitInterruptedArchive(since) {
		return false
	}
	m.recordArchived()
	if !m.followsUser() && !m.released(since) || m.recordFull() {
		return false
	}
	m.record.Verdict = nil
	next := v1alpha1.Attempt{ID: m.record.Attempt.ID + 1}
	return m.begin(next, ScheduledToRestart, "The spec was edited: the application runs anew.")
}
