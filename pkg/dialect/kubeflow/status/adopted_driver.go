package status

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// PickDriver finds the driver of the run that a status shows among the driver Pods of an application. The others must be
// gone before the application continues: only one driver may run at a time.
//
// The Kubeflow operator writes a status after each submission. If that write is lost, there is a driver of a submission that
// the status does not show.
func PickDriver(app *v1beta2.SparkApplication, pods []corev1.Pod) (driver *corev1.Pod, others []corev1.Pod) {
	others = slices.Clone(pods)
	slices.SortStableFunc(others, func(a, b corev1.Pod) int { return cmp.Compare(claim(app.Status, &b), claim(app.Status, &a)) })
	if len(others) == 0 || claim(app.Status, &others[0]) == 0 {
		return nil, others
	}
	return &others[0], others[1:]
}

// claim returns how likely a Pod is the driver of the run that a status shows; 0 means that it is not.
func claim(status v1beta2.SparkApplicationStatus, pod *corev1.Pod) int {
	id := pod.Labels[names.LabelSubmission]
	ofRun := id == "" || status.SubmissionID == "" || id == status.SubmissionID
	terminating := pod.DeletionTimestamp != nil
	rank := 2
	if lifecycle.PodEnded(pod) {
		rank = 1
	}
	switch status.AppState.State {
	case v1beta2.NewState: // a Pod belongs to the first submission
		if terminating {
			return 0
		}
		return rank
	case v1beta2.PendingRerunState, v1beta2.ResumingState: // a Pod of the previous submission must be deleted
		if terminating || ofRun {
			return 0
		}
		return rank
	case v1beta2.FailedSubmissionState: // its driver never starts without the objects that could not be created
		if terminating || ofRun && pod.Status.Phase == corev1.PodPending {
			return 0
		}
		return rank
	case v1beta2.SuspendedState:
		return 0
	}
	switch {
	case ofRun:
		return 2 + rank
	case pod.Name == status.DriverInfo.PodName: // the Kubeflow operator looks at this Pod
		return rank
	default:
		return 0
	}
}

// Adopt adds the launch to an inherited record. If the status does not show a driver that exists, Adopt records it. A launch
// without a driver counts as released.
func Adopt(
	app *v1beta2.SparkApplication, policy lifecycle.Policy, record *v1alpha1.Record, driver *corev1.Pod,
) *v1alpha1.Record {
	policy.Spec.Note(record)
	state := lifecycle.CurrentState(record)
	unsubmitted := state.Initializing() || outbox.LastEnd(record) != nil &&
		outbox.LastEnd(record).State == string(lifecycle.SchedulingFailure)
	if driver == nil && (unsubmitted || state == lifecycle.Suspended) {
		return record
	}
	record.Launch = &v1alpha1.Launch{
		DriverPod: cmp.Or(app.Status.DriverInfo.PodName, names.DriverPodName(app)), ApplicationID: app.Status.SparkApplicationID,
		Released: driver == nil,
	}
	if driver != nil {
		record.Launch.DriverPod, record.Launch.DriverUID = driver.Name, driver.UID
		record.Launch.ApplicationID = cmp.Or(driver.Labels[submission.LabelApplicationID], record.Launch.ApplicationID)
	}
	if driver != nil && !unsubmitted {
		record.Attempt.Executions = max(record.Attempt.Executions-1, 0) // this field counts the executions before the current one
	}
	if driver != nil && unsubmitted {
		return requested(record, policy, driver)
	}
	addLaunch(record)
	return record
}

// requested continues from the submission that created a driver.
func requested(record *v1alpha1.Record, policy lifecycle.Policy, driver *corev1.Pod) *v1alpha1.Record {
	if last := len(record.Transitions) - 1; record.Transitions[last].End != nil { // the submission did not fail
		record.Transitions = record.Transitions[:last]
		record.Sequence, record.Acknowledged = record.Sequence-1, min(record.Acknowledged, record.Sequence-1)
	}
	at := driver.CreationTimestamp.Time
	if since := outbox.Current(record).Time.Time; at.Before(since) {
		at = since
	}
	record, _ = lifecycle.Decide(record, policy, lifecycle.Observation{Launched: driver.UID}, at)
	return record
}

// addLaunch adds the launch to the transitions that followed from it.
func addLaunch(record *v1alpha1.Record) {
	for i := range record.Transitions {
		if t := &record.Transitions[i]; !lifecycle.State(t.State).Initializing() {
			t.DriverPod, t.ApplicationID = record.Launch.DriverPod, record.Launch.ApplicationID
		}
	}
}
