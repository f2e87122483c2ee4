package status

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// What the Kubeflow operator says of an end, and its clients look for. Why it came so is in the condition Succeeded.
const (
	driverFailed   = "driver container failed with ExitCode: %d, Reason: %s"
	statusMissing  = "driver container status missing"
	driverNotFound = "driver pod not found"
	// submitFailed names a program that Firesteel does not run: clients look for the words.
	submitFailed = "failed to submit spark application: failed to run spark-submit: %s"
)

// errorMessage is what a status says of the failure that it shows; empty where it shows none.
func errorMessage(record *v1alpha1.Record, state v1beta2.ApplicationStateType) string {
	end := lastEnd(record)
	switch state {
	case v1beta2.FailingState, v1beta2.FailedState, v1beta2.FailedSubmissionState:
	default:
		return ""
	}
	if end == nil || end.End.Outcome == v1alpha1.OutcomeSucceeded {
		return ""
	}
	return failure(record, end)
}

func failure(record *v1alpha1.Record, end *v1alpha1.Transition) string {
	neverSubmitted := record.Launch == nil && end.Attempt == record.Attempt.ID
	terminated := terminatedDriver(end.DriverStatus)
	switch {
	case end.State == string(lifecycle.SchedulingFailure), neverSubmitted:
		return fmt.Sprintf(submitFailed, end.End.Message)
	case end.End.Reason == lifecycle.ReasonDriverLost:
		return driverNotFound
	case terminated != nil && terminated.ExitCode != 0:
		return fmt.Sprintf(driverFailed, terminated.ExitCode, terminated.Reason)
	case end.End.ExitCode != nil && !keptContainers(end.DriverStatus):
		return fmt.Sprintf(driverFailed, *end.End.ExitCode, cmp.Or(end.End.Reason, "Error"))
	case end.DriverStatus != nil && end.DriverStatus.Phase == corev1.PodFailed:
		return statusMissing
	default:
		return end.End.Message
	}
}

// keptContainers says that a driver Pod's status tells of its containers: one that is too long to keep does not.
func keptContainers(status *corev1.PodStatus) bool {
	return status != nil && len(status.ContainerStatuses) > 0
}

// terminatedDriver is the end of the driver's container; nil where that is not known to have ended.
func terminatedDriver(status *corev1.PodStatus) *corev1.ContainerStateTerminated {
	if status == nil {
		return nil
	}
	name := lifecycle.DriverContainer(status, names.DriverContainer)
	for _, container := range status.ContainerStatuses {
		if container.Name == name {
			return container.State.Terminated
		}
	}
	return nil
}
