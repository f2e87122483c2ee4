package status

import (
	"math"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// Executors holds what is known of the executors of a launch.
type Executors struct {
	// Seen are the known executors by the names of their Pods; nil if nothing is known.
	Seen map[string]dialect.Executor
	// Tracked is the largest number of executors that a status shows; zero or less for all.
	Tracked int
}

// Project writes a record and the known executors into the fields that the Kubeflow operator's clients read, except those of
// the UI and the conditions. If nothing happened since any operator last wrote the status, it does not change: what another
// operator left is shown as it was.
func Project(status *v1beta2.SparkApplicationStatus, record *v1alpha1.Record, executors Executors) {
	current := shows(status, record)
	status.Firesteel = record
	if !current {
		projectRecord(status, record)
	}
	if !current || executors.Seen != nil {
		projectExecutors(status, executors)
	}
}

func projectRecord(status *v1beta2.SparkApplicationStatus, record *v1alpha1.Record) {
	record = beforeDeletion(record)
	state := State(record)
	if nothingRuns(state) {
		status.SparkApplicationID, status.DriverInfo, status.ExecutorState = "", v1beta2.DriverInfo{}, nil
	} else if launch := record.Launch; launch != nil {
		status.SparkApplicationID, status.DriverInfo.PodName = launch.ApplicationID, launch.DriverPod
		if launch.ID != "" { // an adopted launch has none
			status.SubmissionID = names.SubmissionID(launch.ID)
		}
	}
	status.AppState = v1beta2.ApplicationState{State: state, ErrorMessage: errorMessage(record, state)}
	status.TerminationTime = terminationTime(record, state)
	setSubmission(status, record)
	status.ExecutionAttempts = number(lifecycle.Executions(record))
	if submissions := lifecycle.Submissions(record); submissions > 0 || nothingRuns(state) { // the count stays while an end is shown
		status.SubmissionAttempts = number(submissions)
	}
}

// shows reports whether a status shows all of a record already.
func shows(status *v1beta2.SparkApplicationStatus, record *v1alpha1.Record) bool {
	before := status.Firesteel
	if before == nil {
		return HasForeignStatus(*status) && record.Acknowledged == record.Sequence // the record was read from the status
	}
	return before.Sequence == record.Sequence && equality.Semantic.DeepEqual(before.Launch, record.Launch)
}

// nothingRuns reports whether a run has not begun yet. The status then shows neither that run nor the one before.
func nothingRuns(state v1beta2.ApplicationStateType) bool {
	switch state {
	case v1beta2.NewState, v1beta2.PendingRerunState, v1beta2.SuspendedState, v1beta2.ResumingState:
		return true
	default:
		return false
	}
}

// setSubmission writes when the current attempt was submitted, once it was. An edit of the spec clears the time.
func setSubmission(status *v1beta2.SparkApplicationStatus, record *v1alpha1.Record) {
	if lifecycle.CurrentState(record) == lifecycle.ScheduledToRestart && before(record).State == string(lifecycle.Invalidating) {
		status.LastSubmissionAttemptTime = metav1.Time{}
	}
	for _, t := range record.Transitions {
		submitted := t.State == string(lifecycle.DriverRequested) || t.State == string(lifecycle.SchedulingFailure)
		if submitted && t.Attempt == record.Attempt.ID {
			status.LastSubmissionAttemptTime = seconds(t.Time)
			return
		}
	}
}

// terminationTime returns when the run that is shown ended. It is zero, which becomes null, while the run lasts. A failed
// submission is not an end before its retries are used up.
func terminationTime(record *v1alpha1.Record, state v1beta2.ApplicationStateType) metav1.Time {
	end := lastEnd(record)
	switch {
	case end == nil:
		return metav1.Time{}
	case state == v1beta2.FailedState && end.State == string(lifecycle.SchedulingFailure):
		return seconds(firstTerminated(record).Time)
	case state == v1beta2.SucceedingState, state == v1beta2.FailingState, state == v1beta2.CompletedState, state == v1beta2.FailedState:
		return seconds(end.Time)
	default:
		return metav1.Time{}
	}
}

// lastEnd returns the end of the current attempt or, while that attempt waits, of the previous one; nil if none is known.
func lastEnd(record *v1alpha1.Record) *v1alpha1.Transition {
	if end := outbox.LastEnd(record); end != nil {
		return end
	}
	if lifecycle.CurrentState(record) == lifecycle.ScheduledToRestart {
		return lifecycle.PreviousEnd(record)
	}
	return nil
}

// firstTerminated returns the first transition into a terminated state, for an application in such a state.
func firstTerminated(record *v1alpha1.Record) v1alpha1.Transition {
	for _, t := range record.Transitions {
		if t.Attempt == record.Attempt.ID && lifecycle.State(t.State).Terminated() {
			return t
		}
	}
	return outbox.Current(record)
}

// seconds returns a time as the Kubeflow operator writes it.
func seconds(t metav1.MicroTime) metav1.Time { return metav1.NewTime(t.Time).Rfc3339Copy() }

func number(count int64) int32 { return int32(min(count, math.MaxInt32)) }
