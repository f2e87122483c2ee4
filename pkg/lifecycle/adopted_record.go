package lifecycle

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// Adopt completes a record that holds the states of an application which another operator ran. It marks which of them
// end an attempt, how the attempt ended, and whether and when another attempt follows. All transitions count as
// delivered: they are older than Firesteel's part in this application. The record must have an attempt and at least
// one transition.
func Adopt(record *v1alpha1.Record, policy Policy) {
	record.Sequence = outbox.Current(record).Sequence
	record.Acknowledged = record.Sequence
	for i := range record.Transitions {
		t := &record.Transitions[i]
		if State(t.State).AttemptEnded() {
			t.End = adoptedEnd(*t, policy.MainContainer)
			t.End.RestartAllowed = followedByRestart(record.Transitions[i:])
		}
		t.Message, t.DriverStatus = outbox.Clip(t.Message, outbox.MaxMessage), bounded(t.DriverStatus)
	}
	adoptCurrentState(record, policy)
	outbox.Prune(record)
}

func followedByRestart(transitions []v1alpha1.Transition) bool {
	return len(transitions) > 1 && State(transitions[1].State) == ScheduledToRestart
}

// adoptCurrentState completes the current state, from which the next decision follows.
func adoptCurrentState(record *v1alpha1.Record, policy Policy) {
	current := &record.Transitions[len(record.Transitions)-1]
	switch state := State(current.State); {
	case state == ScheduledToRestart:
		notBefore := metav1.NewMicroTime(current.Time.Add(backoff(policy.Restart, record.Attempt, previousEndState(record))))
		record.Verdict = &v1alpha1.Verdict{Attempt: record.Attempt.ID - 1, Restart: true, NotBefore: &notBefore}
	case state.AttemptEnded():
		current.End.RestartAllowed = restartAllowed(policy, record.Attempt, *current)
	case state.Terminated():
		adoptOutcome(record)
	}
}

// previousEndState returns the state in which the previous attempt ended; empty if it is unknown.
func previousEndState(record *v1alpha1.Record) State {
	if end := PreviousEnd(record); end != nil {
		return State(end.State)
	}
	return ""
}

// adoptOutcome sets the outcome on the transition that ended the application: the first one into a terminated state.
func adoptOutcome(record *v1alpha1.Record) {
	for i := range record.Transitions {
		if t := &record.Transitions[i]; t.Attempt == record.Attempt.ID && State(t.State).Terminated() {
			t.Outcome = outcomeDeleted
			if end := outbox.LastEnd(record); end != nil {
				t.Outcome = end.End.Outcome
			}
			return
		}
	}
}

// driverRemoved begins the message of an end without a driver, both in the Apache operator and here.
const driverRemoved = "Driver removed."

// adoptedEnd derives an end from its state, and from the driver's last status if that was stored.
func adoptedEnd(t v1alpha1.Transition, mainContainer string) *v1alpha1.AttemptEnd {
	end := &v1alpha1.AttemptEnd{Outcome: outcomeSucceeded, Message: outbox.Clip(t.Message, outbox.MaxMessage)}
	state := State(t.State)
	if !state.Failure() {
		return end
	}
	end.Outcome, end.Class = outcomeFailed, classOf(state)
	if t.DriverStatus == nil {
		if strings.HasPrefix(t.Message, driverRemoved) {
			end.Class, end.Reason = ClassInfrastructure, ReasonDriverLost
		}
		return end
	}
	if seen := ObserveDriver(&corev1.Pod{Status: *t.DriverStatus}, mainContainer).End; seen != nil && seen.State == state {
		end.Class, end.ExitCode, end.Reason = seen.Cause.Class, seen.Cause.ExitCode, outbox.Clip(seen.Cause.Reason, outbox.MaxReason)
	}
	return end
}

func classOf(failure State) string {
	switch failure {
	case DriverStartTimedOut, DriverReadyTimedOut, ExecutorsStartTimedOut:
		return ClassTimeout
	case SchedulingFailure:
		return ClassScheduling
	case DriverEvicted:
		return ClassEviction
	default:
		return ClassApplication
	}
}
