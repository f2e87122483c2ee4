package lifecycle

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// recordSpec records which spec the attempt is of, unless somebody edited the spec since.
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

// specEdited says that the application is to run anew, since its spec is another than that of its attempt. It matters in
// each state, even where the application has ended, but not where it is deleted.
func (m *machine) specEdited(state State) bool {
	if !m.policy.Interrupts || !m.seen.Deleted.IsZero() || state == Invalidating {
		return false
	}
	return m.policy.Spec.Since(m.record) == spec.Edited
}

// mustSuspend says that an attempt is to be interrupted. One that has ended is not: what follows it is decided first. Nor
// is one whose driver has just ended, lest a resumption do its work again.
func (m *machine) mustSuspend(state State) bool {
	if !m.policy.Interrupts || !m.policy.Suspend {
		return false
	}
	ended := m.seen.Driver != nil && m.seen.Driver.End != nil
	return state.Initializing() || !ended && (state.Starting() || state.Running() || state == Unknown)
}

// suspend stops the driver, whatever it is at.
func (m *machine) suspend() bool {
	if !m.released(outbox.Current(m.record).Time.Time) || m.orphanAlive() {
		return false
	}
	return m.enter(Suspended, "The application is suspended: nothing of it runs.")
}

// resume begins anew once the user says so. What was counted stays counted: a suspension is no restart.
func (m *machine) resume() bool {
	if m.policy.Suspend {
		m.held = HeldSuspended
		return false
	}
	if !m.released(outbox.Current(m.record).Time.Time) || m.recordFull() { // released already, unless somebody edited the record
		return false
	}
	m.record.Verdict = nil
	next := m.record.Attempt
	next.Spec = nil
	next.ID, next.Executions = next.ID+1, Executions(m.record)
	return m.begin(next, Resuming, "The application is resumed: it runs from its beginning.")
}

// invalidate stops what runs the spec of before, and has the spec of now run as if there had been no other.
func (m *machine) invalidate() bool {
	if !m.released(outbox.Current(m.record).Time.Time) || m.recordFull() {
		return false
	}
	m.record.Verdict = nil
	next := v1alpha1.Attempt{ID: m.record.Attempt.ID + 1}
	return m.begin(next, ScheduledToRestart, "The spec was edited: the application runs anew.")
}
