package apache

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// Project writes a record into the fields that the Apache operator's clients read. It does not change conditions.
func Project(status *sparkv1.ApplicationStatus, record *v1alpha1.Record) {
	status.Firesteel = record
	current := state(outbox.Current(record))
	status.CurrentState = &current
	status.StateTransitionHistory = sparkv1.History(record, record.Attempt.ID, state)
	status.CurrentAttemptSummary = &sparkv1.AttemptSummary{AttemptInfo: info(record.Attempt)}
	status.PreviousAttemptSummary = nil
	if record.Previous != nil {
		status.PreviousAttemptSummary = &sparkv1.AttemptSummary{
			AttemptInfo:            info(*record.Previous),
			StateTransitionHistory: sparkv1.History(record, record.Previous.ID, state),
		}
	}
}

func state(transition v1alpha1.Transition) sparkv1.ApplicationState {
	return sparkv1.ApplicationState{
		CurrentStateSummary:      transition.State,
		LastTransitionTime:       sparkv1.FormatStateTime(transition.Time),
		Message:                  transition.Message,
		LastObservedDriverStatus: transition.DriverStatus,
	}
}

func info(attempt v1alpha1.Attempt) *sparkv1.AttemptInfo {
	return &sparkv1.AttemptInfo{
		ID:                              attempt.ID,
		RestartCounter:                  attempt.Restarts,
		FailureRestartCounter:           attempt.FailureRestarts,
		SchedulingFailureRestartCounter: attempt.SchedulingFailureRestarts,
	}
}

// VisibleState returns the state that the status shows; empty if it shows none.
func VisibleState(app *sparkv1.SparkApplication) string {
	if state := app.Status.CurrentState; state != nil {
		return state.CurrentStateSummary
	}
	return ""
}
