package status

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// visibleStates maps each state to the Kubeflow operator's name for it, if the name depends on nothing else. State has the
// others: the state before a restart is due, and the end.
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

// State returns the Kubeflow operator's name for the state of a record. That operator stays in the state of an ended run
// until the next run is due, and in that of a failed submission until it is submitted again. If a run was never submitted,
// the only failure that it knows is that of the submission.
func State(record *v1alpha1.Record) v1beta2.ApplicationStateType {
	record = beforeDeletion(record)
	switch state := lifecycle.CurrentState(record); {
	case state == lifecycle.ScheduledToRestart && waitsAfter(record) != "":
		return waitsAfter(record)
	case state == lifecycle.Failed && (record.Launch == nil || stoppedUnsubmitted(record)):
		return v1beta2.FailedSubmissionState
	case state.Terminated():
		return over(record)
	default:
		return visibleStates[state]
	}
}

// stoppedUnsubmitted reports whether a user stopped an attempt whose launch had begun, and whose driver was not recorded.
func stoppedUnsubmitted(record *v1alpha1.Record) bool {
	end := outbox.LastEnd(record)
	return end != nil && end.End.Class == lifecycle.ClassStopped && lifecycle.State(before(record).State).Initializing()
}

// waitsAfter returns the state of the end that a restart follows, as long as the status shows that state; otherwise it is
// empty.
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

// over returns the state of an application that has ended.
func over(record *v1alpha1.Record) v1beta2.ApplicationStateType {
	if outbox.LastEnd(record).End.Outcome == v1alpha1.OutcomeSucceeded {
		return v1beta2.CompletedState
	}
	return v1beta2.FailedState
}

// beforeDeletion returns the record as it was before the deletion of its application, in two cases: the application had not
// ended, or an edit was about to run it again. The status then shows that state.
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

// before returns the transition before the last; the zero transition if there is none.
func before(record *v1alpha1.Record) v1alpha1.Transition {
	if record == nil || len(record.Transitions) < 2 {
		return v1alpha1.Transition{}
	}
	return record.Transitions[len(record.Transitions)-2]
}
