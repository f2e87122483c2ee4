package status

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// visibleStates is what the Kubeflow operator calls each state, where that does not depend on more: the state before a restart
// is due, and the end, are in State.
var visibleStates = map[lifecycle.State]v1beta2.ApplicationStateType{
	lifecycle.Submitted:                          v1beta2.NewState,
	lifecycle.ScheduledToRestart:                 v1beta2.PendingRerunState,
	lifecycle.DriverRequested:                    v1beta2.SubmittedState,
	lifecycle.DriverStarted:                      v1beta2.RunningState,
	lifecycle.DriverReady:                        v1beta2.RunningState,
	lifecycle.InitializedBelowThresholdExecutors: v1beta2.RunningState,
	lifecycle.RunningHealthy:                     v1beta2.RunningState,
	lifecycle.RunningWithPartialCapacity:         v1beta2.RunningState,
	lifecycle.RunningWithBelowThresholdExecutors: v1beta2.RunningState,
	lifecycle.DriverStartTimedOut:                v1beta2.FailingState,
	lifecycle.ExecutorsStartTimedOut:             v1beta2.FailingState,
	lifecycle.DriverReadyTimedOut:                v1beta2.FailingState,
	lifecycle.Succeeded:                          v1beta2.SucceedingState,
	lifecycle.Failed:                             v1beta2.FailingState,
	lifecycle.SchedulingFailure:                  v1beta2.FailedSubmissionState,
	lifecycle.DriverEvicted:                      v1beta2.FailingState,
	lifecycle.Suspending:                         v1beta2.SuspendingState,
	lifecycle.Suspended:                          v1beta2.SuspendedState,
	lifecycle.Resuming:                           v1beta2.ResumingState,
	lifecycle.Invalidating:                       v1beta2.InvalidatingState,
	lifecycle.Unknown:                            v1beta2.UnknownState,
}

// State is what the Kubeflow operator would call the state that a record is in. That operator stays in the state that
// a run ended in until the next is due, and calls a run whose submission failed that until it is submitted again. Of a
// run that never was submitted it knows no other failure than that of the submission.
func State(record *v1alpha1.Record) v1beta2.ApplicationStateType {
	record = beforeDeletion(record)
	switch state := lifecycle.CurrentState(record); {
	case state == lifecycle.ScheduledToRestart && waitsAfter(record) != "":
		return waitsAfter(record)
	case state == lifecycle.Failed && record.Launch == nil:
		return v1beta2.FailedSubmissionState
	case state.Terminated():
		return over(record)
	default:
		return visibleStates[state]
	}
}

// waitsAfter is the state of the end that a restart follows, as long as that is what is shown; empty where it is not.
func waitsAfter(record *v1alpha1.Record) v1beta2.ApplicationStateType {
	end := before(record)
	switch {
	case end.End == nil:
		return "" // the spec was edited
	case end.State == string(lifecycle.SchedulingFailure), record.Launch == nil:
		return visibleStates[lifecycle.State(end.State)]
	default:
		return ""
	}
}

// over is the state of an application that has come to its end.
func over(record *v1alpha1.Record) v1beta2.ApplicationStateType {
	if outbox.LastEnd(record).End.Outcome == v1alpha1.OutcomeSucceeded {
		return v1beta2.CompletedState
	}
	return v1beta2.FailedState
}

// beforeDeletion is what a record said before its application was deleted, where that was before its end, or after an edit
// that was to have it run anew: it is shown as it was.
func beforeDeletion(record *v1alpha1.Record) *v1alpha1.Record {
	if record == nil {
		return nil
	}
	was := *record
	for lifecycle.CurrentState(&was).Terminated() {
		was.Transitions = was.Transitions[:len(was.Transitions)-1]
	}
	if outbox.LastEnd(record) == nil || lifecycle.CurrentState(&was) == lifecycle.Invalidating {
		return &was
	}
	return record
}

// before is the transition before the last; the zero transition where there is none.
func before(record *v1alpha1.Record) v1alpha1.Transition {
	if record == nil || len(record.Transitions) < 2 {
		return v1alpha1.Transition{}
	}
	return record.Transitions[len(record.Transitions)-2]
}
