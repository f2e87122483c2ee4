package lifecycle

import (
	"slices"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// Executions returns the number of attempts whose driver was launched, including the current one. An edit of the spec
// that restarts the application resets it.
func Executions(record *v1alpha1.Record) int64 {
	if record == nil {
		return 0
	}
	launched := record.Launch != nil && record.Launch.DriverUID != "" || replacing(record)
	if end := outbox.LastEnd(record); !launched || end != nil && State(end.State) == SchedulingFailure {
		return record.Attempt.Executions
	}
	return record.Attempt.Executions + 1
}

// replacing reports whether the attempt had a driver, and waits for the launch of another one in its place.
func replacing(record *v1alpha1.Record) bool {
	return record.Attempt.WithoutEventLogs != "" && CurrentState(record) == ScheduledToRestart &&
		slices.ContainsFunc(record.Transitions, func(t v1alpha1.Transition) bool {
			return t.Attempt == record.Attempt.ID && State(t.State) == DriverRequested
		})
}

// Submissions returns the number of launches tried for the current execution: this one and the failed ones before it.
// It is 0 before the first.
func Submissions(record *v1alpha1.Record) int64 {
	switch end := outbox.LastEnd(record); {
	case record == nil:
		return 0
	case record.Launch != nil, end != nil && State(end.State) == SchedulingFailure:
		return record.Attempt.SchedulingFailureRestarts + 1
	default:
		return record.Attempt.SchedulingFailureRestarts
	}
}

// PreviousEnd returns the transition that ended the last of the earlier attempts; nil if it is unknown.
func PreviousEnd(record *v1alpha1.Record) *v1alpha1.Transition {
	if record == nil {
		return nil
	}
	for i := len(record.Transitions) - 1; i >= 0; i-- {
		if t := &record.Transitions[i]; t.End != nil && t.Attempt < record.Attempt.ID {
			return t
		}
	}
	return nil
}
