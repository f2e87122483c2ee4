package status

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// HasForeignStatus reports whether another operator has handled an application: its status is not empty.
func HasForeignStatus(status v1beta2.SparkApplicationStatus) bool {
	return !SameVisibleStatus(status, v1beta2.SparkApplicationStatus{})
}

// FinishedElsewhere reports whether an application has ended for good under another operator, and nothing is left to be done
// for it.
func FinishedElsewhere(app *v1beta2.SparkApplication, policy lifecycle.Policy) bool {
	state := app.Status.AppState.State
	ended := state == v1beta2.CompletedState || state == v1beta2.FailedState
	return app.Status.Firesteel == nil && ended && (policy.TTL < 0 || app.DeletionTimestamp != nil)
}

// SameVisibleStatus reports whether two statuses show the same to the Kubeflow operator's clients.
func SameVisibleStatus(a, b v1beta2.SparkApplicationStatus) bool {
	return equality.Semantic.DeepEqual(visible(a), visible(b))
}

// visible returns the fields of a status that the Kubeflow operator writes.
func visible(status v1beta2.SparkApplicationStatus) v1beta2.SparkApplicationStatus {
	status.Conditions, status.ObservedGeneration, status.Firesteel = nil, 0, nil
	return status
}

// Inherit makes a record of the status that the Kubeflow operator left. All its transitions count as delivered. Adopt adds
// the launch. A status without a state becomes the record of an application that was just created. Inherit fails if it
// cannot understand the status: a guess might run something twice.
func Inherit(app *v1beta2.SparkApplication, policy lifecycle.Policy) (*v1alpha1.Record, error) {
	status := app.Status
	if status.AppState.State == v1beta2.NewState {
		created, _ := lifecycle.Decide(nil, lifecycle.Policy{Suspend: true}, lifecycle.Observation{}, app.CreationTimestamp.Time)
		return created, nil
	}
	past, known := pasts[status.AppState.State]
	if !known {
		return nil, fmt.Errorf("applicationState.state %.64q is not known", status.AppState.State)
	}
	if min(status.ExecutionAttempts, status.SubmissionAttempts) < 0 {
		return nil, fmt.Errorf("executionAttempts %d or submissionAttempts %d is below 0",
			status.ExecutionAttempts, status.SubmissionAttempts)
	}
	if status.AppState.State == v1beta2.FailedState && submissionFailed(status.AppState.ErrorMessage) {
		past = neverSubmitted
	}
	record := &v1alpha1.Record{Attempt: attemptOf(status)}
	moments := momentsOf(app)
	for i, step := range past {
		record.Transitions = append(record.Transitions, v1alpha1.Transition{
			Sequence: int64(i + 1), Time: moments[step.at], Attempt: record.Attempt.ID, State: string(step.state),
			Message: message(step.state, status.AppState.ErrorMessage),
		})
	}
	record.Attempt.Since = record.Transitions[0].Time
	lifecycle.Adopt(record, policy)
	explain(record, status.AppState.ErrorMessage)
	if record.Verdict != nil { // the state shows that the wait before the run is over
		record.Verdict.NotBefore = &record.Transitions[0].Time
	}
	return record, nil
}

// moment is one of the times in a status.
type moment int

const (
	created moment = iota
	submitted
	ended
)

// momentsOf returns the moments of an application's life. A moment that the status does not show equals the one before it.
func momentsOf(app *v1beta2.SparkApplication) map[moment]metav1.MicroTime {
	at := map[moment]metav1.MicroTime{created: metav1.NewMicroTime(app.CreationTimestamp.UTC())}
	at[submitted] = at[created]
	if t := app.Status.LastSubmissionAttemptTime; !t.IsZero() {
		at[submitted] = metav1.NewMicroTime(t.UTC())
	}
	at[ended] = at[submitted]
	if t := app.Status.TerminationTime; !t.IsZero() {
		at[ended] = metav1.NewMicroTime(t.UTC())
	}
	return at
}

type step struct {
	state lifecycle.State
	at    moment
}

// pasts holds, for the state that a status shows, the states of the lifecycle that the attempt went through. In each of
// them, the lifecycle does next what the operator does next.
var pasts = map[v1beta2.ApplicationStateType][]step{
	v1beta2.SubmittedState: {{lifecycle.Submitted, created}, {lifecycle.DriverRequested, submitted}},
	v1beta2.RunningState: {
		{lifecycle.Submitted, created}, {lifecycle.DriverRequested, submitted}, {lifecycle.RunningHealthy, submitted},
	},
	v1beta2.UnknownState: {
		{lifecycle.Submitted, created}, {lifecycle.DriverRequested, submitted}, {lifecycle.Unknown, submitted},
	},
	v1beta2.SucceedingState: {
		{lifecycle.Submitted, created}, {lifecycle.DriverRequested, submitted}, {lifecycle.Succeeded, ended},
	},
	v1beta2.FailingState: {
		{lifecycle.Submitted, created}, {lifecycle.DriverRequested, submitted}, {lifecycle.Failed, ended},
	},
	v1beta2.FailedSubmissionState: {{lifecycle.Submitted, created}, {lifecycle.SchedulingFailure, submitted}},
	v1beta2.CompletedState: {
		{lifecycle.Submitted, created}, {lifecycle.DriverRequested, submitted}, {lifecycle.Succeeded, ended},
		{lifecycle.TerminatedWithoutReleaseResources, ended},
	},
	v1beta2.FailedState: {
		{lifecycle.Submitted, created}, {lifecycle.DriverRequested, submitted}, {lifecycle.Failed, ended},
		{lifecycle.TerminatedWithoutReleaseResources, ended},
	},
	v1beta2.PendingRerunState: {{lifecycle.ScheduledToRestart, submitted}},
	v1beta2.InvalidatingState: {{lifecycle.Submitted, created}, {lifecycle.Invalidating, submitted}},
	v1beta2.SuspendingState:   {{lifecycle.Submitted, created}, {lifecycle.Suspending, submitted}},
	v1beta2.SuspendedState:    {{lifecycle.Submitted, created}, {lifecycle.Suspended, submitted}},
	v1beta2.ResumingState:     {{lifecycle.Resuming, submitted}},
}

// neverSubmitted is the past of a FAILED application whose submissions failed.
var neverSubmitted = []step{
	{lifecycle.Submitted, created}, {lifecycle.SchedulingFailure, submitted},
	{lifecycle.TerminatedWithoutReleaseResources, ended},
}

// submissionFailed reports whether a failure is not that of a driver.
func submissionFailed(message string) bool {
	_, _, exited := exitOf(message)
	return !exited && message != "" && message != driverNotFound && message != statusMissing
}

// attemptOf returns the number of the attempt that a status shows, and the counts of earlier attempts. The Kubeflow operator
// counts executions, which are successful submissions, and submissions. With each execution it may or may not reset the
// count of submissions. It does not count how many executions failed in a row: all did, except those that a suspension
// interrupted.
func attemptOf(status v1beta2.SparkApplicationStatus) v1alpha1.Attempt {
	executions, submissions := int64(status.ExecutionAttempts), int64(status.SubmissionAttempts)
	attempt := v1alpha1.Attempt{
		ID: max(executions, submissions, 1) - 1, Executions: executions, FailureRestarts: max(executions, 1) - 1,
	}
	switch status.AppState.State {
	case v1beta2.PendingRerunState:
		attempt.ID, attempt.FailureRestarts = attempt.ID+1, executions
	case v1beta2.ResumingState:
		attempt.ID++
	case v1beta2.FailedSubmissionState:
		if submissions > executions {
			submissions -= executions
		}
		attempt.FailureRestarts, attempt.SchedulingFailureRestarts = executions, max(submissions, 1)-1
	}
	attempt.Restarts = attempt.ID
	return attempt
}

// message returns the message of a transition from the message of a status.
func message(state lifecycle.State, message string) string {
	if !state.Failure() {
		return ""
	}
	for _, words := range strings.SplitAfter(strings.TrimSuffix(submitFailed, "%s"), ": ") {
		message = strings.TrimPrefix(message, words)
	}
	return message
}

// explain adds to an inherited end what the message of the status shows.
func explain(record *v1alpha1.Record, message string) {
	end := outbox.LastEnd(record)
	if end == nil || !lifecycle.State(end.State).Failure() {
		return
	}
	if code, reason, exited := exitOf(message); exited {
		end.End.ExitCode, end.End.Reason = &code, reason
	}
	if message == driverNotFound {
		end.End.Class, end.End.Reason = lifecycle.ClassInfrastructure, lifecycle.ReasonDriverLost
	}
}

// maxReason bounds the reason in another operator's message, in bytes. Kubernetes' own reasons are far shorter.
const maxReason = 128

// exitOf parses the Kubeflow operator's message about a failed container of a driver.
func exitOf(message string) (code int32, reason string, is bool) {
	if fields, _ := fmt.Sscanf(message, driverFailed, &code, &reason); fields == 0 || len(reason) > maxReason {
		return 0, "", false
	}
	return code, reason, true
}
