package lifecycle

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// Judge returns the verdict on an ended attempt. It returns false if there is nothing to judge: the attempt has not
// ended, no restart is allowed, or there is a verdict already.
func Judge(record *v1alpha1.Record, policy Policy) (v1alpha1.Verdict, bool) {
	if record == nil || !CurrentState(record).AttemptEnded() {
		return v1alpha1.Verdict{}, false
	}
	ended := outbox.LastEnd(record)
	answered := record.Verdict != nil && record.Verdict.Attempt == record.Attempt.ID
	if ended == nil || !ended.End.RestartAllowed || answered {
		return v1alpha1.Verdict{}, false
	}
	verdict := v1alpha1.Verdict{Attempt: record.Attempt.ID}
	if denied := stillDenied(policy, record.Attempt, *ended); denied != "" {
		verdict.Reason = denied
		return verdict, true
	}
	next := nextAttempt(policy.Restart, record.Attempt, *ended, ended.Time.Time)
	notBefore := metav1.NewMicroTime(ended.Time.Add(backoff(policy.Restart, next, State(ended.State))))
	verdict.Restart, verdict.NotBefore = true, &notBefore
	verdict.Reason = fmt.Sprintf("Restart policy %s covers %s.", policy.Restart.Policy, ended.State)
	return verdict, true
}

// stillDenied is restartDenied for a policy that may have been edited after the attempt ended.
func stillDenied(policy Policy, attempt v1alpha1.Attempt, ended v1alpha1.Transition) string {
	restart := policy.Restart
	switch {
	case policy.Stop != nil:
		return neverAfterStop
	case !restart.Policy.covers(State(ended.State)):
		return fmt.Sprintf("Restart policy %s does not cover %s.", restart.Policy, ended.State)
	default:
		return restartDenied(restart, attempt, ended)
	}
}

// restartAllowed reports whether another attempt may follow this end.
func restartAllowed(policy Policy, attempt v1alpha1.Attempt, ended v1alpha1.Transition) bool {
	return policy.Refused == nil && policy.Stop == nil && policy.Restart.Policy.covers(State(ended.State)) &&
		restartDenied(policy.Restart, attempt, ended) == ""
}

// restartDenied names the limit that forbids a restart which the policy covers; empty if none does. As in the Apache
// operator, a limit on scheduling failures replaces the limit on failures.
func restartDenied(restart Restart, attempt v1alpha1.Attempt, ended v1alpha1.Transition) string {
	state := State(ended.State)
	if !restart.Policy.covers(state) {
		return ""
	}
	next := nextAttempt(restart, attempt, ended, ended.Time.Time)
	switch {
	case next.Restarts > restart.MaxAttempts:
		return fmt.Sprintf("The maximum number of restart attempts (%d) has been exceeded.", restart.MaxAttempts)
	case state == SchedulingFailure && restart.OnSchedulingFailure.MaxAttempts != nil:
		if limit := *restart.OnSchedulingFailure.MaxAttempts; next.SchedulingFailureRestarts > limit {
			return fmt.Sprintf(
				"The maximum number of restart attempts on consecutive scheduling failures (%d) has been exceeded.", limit)
		}
	case state.Failure() && restart.OnFailure.MaxAttempts != nil:
		if limit := *restart.OnFailure.MaxAttempts; next.FailureRestarts > limit {
			return fmt.Sprintf("The maximum number of restart attempts on consecutive failures (%d) has been exceeded.", limit)
		}
	}
	return ""
}

// nextAttempt counts the restart: one counter for all restarts, the others for consecutive failures of their kind.
func nextAttempt(restart Restart, last v1alpha1.Attempt, ended v1alpha1.Transition, now time.Time) v1alpha1.Attempt {
	next := v1alpha1.Attempt{ID: last.ID + 1, Since: outbox.RecordTime(now), Restarts: last.Restarts + 1}
	if restart.ResetAfter >= 0 && ended.Time.Sub(last.Since.Time) >= restart.ResetAfter {
		next.Restarts = 1
		return next
	}
	state := State(ended.State)
	switch {
	case state == SchedulingFailure && restart.CountsApart:
		next.FailureRestarts = last.FailureRestarts
	case state.Failure():
		next.FailureRestarts = last.FailureRestarts + 1
	}
	if state == SchedulingFailure {
		next.SchedulingFailureRestarts = last.SchedulingFailureRestarts + 1
	}
	return next
}

// backoff returns the time between an end in a state and the next attempt.
func backoff(restart Restart, next v1alpha1.Attempt, state State) time.Duration {
	wait := restart.Backoff
	if specific := restart.OnFailure.Backoff; state.Failure() && specific != nil {
		wait = *specific
	}
	if specific := restart.OnSchedulingFailure.Backoff; state == SchedulingFailure && specific != nil {
		wait = *specific
	}
	if !restart.Linear || !state.Failure() || wait <= 0 {
		return wait
	}
	failures := next.FailureRestarts
	if state == SchedulingFailure && restart.CountsApart {
		failures = next.SchedulingFailureRestarts
	}
	return wait * time.Duration(max(min(failures, int64(maxBackoff/wait)), 1))
}

// maxBackoff bounds a growing back-off, so that it cannot overflow.
const maxBackoff = 200 * 365 * 24 * time.Hour
