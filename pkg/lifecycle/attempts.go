package lifecycle

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// Executions is the number of attempts whose driver was launched, the current one's included, since the beginning or
// since an edit of the spec had the application run anew.
func Executions(record *v1alpha1.Record) int64 {
	if record == nil {
		return 0
	}
	launched := record.Launch != nil && record.Launch.DriverUID != ""
	if end := outbox.LastEnd(record); !launched || end != nil && State(end.State) == SchedulingFailure {
		return record.Attempt.Executions
	}
	return record.Attempt.Executions + 1
}

// Submissions is the number of launches that were tried for the current execution: those that failed before, and
// this one. It is 0 before the first.
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

// RestartPending says that the current attempt has ended and another may follow it: the spec allows one, and no
// verdict says otherwise.
func RestartPending(record *v1alpha1.Record) bool {
	end := outbox.LastEnd(record)
	if end == nil || !CurrentState(record).AttemptEnded() {
		return false
	}
	verdict := record.Verdict
	denied := verdict != nil && verdict.Attempt == record.Attempt.ID && !verdict.Restart
	return end.End.RestartAllowed && !denied
}

// PreviousEnd is the transition that ended an earlier attempt, the last of them; nil where none is known.
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
