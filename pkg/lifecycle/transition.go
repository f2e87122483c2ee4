package lifecycle

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// maxDriverStatus bounds the stored status of a driver Pod, in bytes of JSON.
const maxDriverStatus = 12 * 1024

// enter appends a transition into a state that ends nothing.
func (m *machine) enter(state State, message string) bool {
	m.append(v1alpha1.Transition{State: string(state), Message: message})
	return true
}

// enterRunning enters a running state, which may be left out: it does nothing if the sink is far behind.
func (m *machine) enterRunning(state State, message string) bool {
	return outbox.HasRoomForProgress(m.record) && m.enter(state, message)
}

// fail ends the attempt with a failure.
func (m *machine) fail(state State, cause Cause) bool {
	return m.end(End{State: state, Cause: cause})
}

// end ends the attempt.
func (m *machine) end(end End) bool {
	transition := m.ended(end)
	transition.End.RestartAllowed = !m.deadlineOver() && restartAllowed(m.policy, m.record.Attempt, transition)
	m.append(transition)
	return true
}

// ended returns the transition that ends the attempt, with no restart allowed.
func (m *machine) ended(end End) v1alpha1.Transition {
	outcome := outcomeSucceeded
	if end.State.Failure() {
		outcome = outcomeFailed
	}
	transition := v1alpha1.Transition{
		State:   string(end.State),
		Message: end.Cause.Message,
		End: &v1alpha1.AttemptEnd{
			Outcome: outcome, Class: end.Cause.Class, ExitCode: end.Cause.ExitCode,
			Reason: outbox.Clip(end.Cause.Reason, outbox.MaxReason), Message: outbox.Clip(end.Cause.fullMessage(), outbox.MaxEvidence),
			EventMessage: outbox.Clip(end.Cause.eventMessage(), outbox.MaxEvidence),
		},
		Time: outbox.RecordTime(m.now),
	}
	if driver := m.seen.Driver; driver != nil && driver.Status != nil && driver.Status.Phase != corev1.PodSucceeded {
		transition.DriverStatus = bounded(driver.Status)
	}
	return transition
}

// terminate ends the application. outcome is empty if an earlier transition has it.
func (m *machine) terminate(state State, message, outcome string) bool {
	m.recordArchived()
	m.append(v1alpha1.Transition{State: string(state), Message: message, Outcome: outcome})
	return true
}

func (m *machine) append(t v1alpha1.Transition) {
	if m.record.Launch != nil {
		t.DriverPod, t.ApplicationID = m.record.Launch.DriverPod, m.record.Launch.ApplicationID
	}
	t.UIAddress = m.uiAddress(State(t.State))
	since := m.activeSince()
	outbox.Append(m.record, t, m.now)
	m.countActive(since)
	m.changed = true
}

func bounded(status *corev1.PodStatus) *corev1.PodStatus {
	if status == nil {
		return nil
	}
	if outbox.Size(status) > maxDriverStatus {
		return &corev1.PodStatus{
			Phase: status.Phase, Reason: outbox.Clip(status.Reason, outbox.MaxReason), Message: outbox.Clip(status.Message, outbox.MaxMessage),
		}
	}
	return status
}
