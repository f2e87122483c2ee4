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

// The Kubeflow operator's messages about an end, which its clients look for. The condition Succeeded has the cause.
const (
	driverFailed   = "driver container failed with ExitCode: %d, Reason: %s"
	statusMissing  = "driver container status missing"
	driverNotFound = "driver pod not found"
	// submitFailed names a program that Firesteel does not run: clients look for the words.
	submitFailed = "failed to submit spark application: failed to run spark-submit: %s"
)

// errorMessage returns the message of a status about the failure that it shows; empty if it shows none.
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
	case end.End.Class == lifecycle.ClassStopped:
		return end.End.Message
	case end.State == string(lifecycle.SchedulingFailure), neverSubmitted:
		return fmt.Sprintf(submitFailed, end.End.Message)
	case end.End.Reason == lifecycle.ReasonDriverLost:
		return driverNotFound
	case terminated != nil && terminated.ExitCode != 0:
		return fmt.Sprintf(driverFailed, terminated.ExitCode, terminated.Reason)
	case end.End.ExitCode != nil && !hasContainers(end.DriverStatus):
		return fmt.Sprintf(driverFailed, *end.End.ExitCode, cmp.Or(end.End.Reason, "Error"))
	case end.DriverStatus != nil && end.DriverStatus.Phase == corev1.PodFailed:
		return statusMissing
	default:
		return end.End.Message
	}
}

// hasContainers reports whether a stored driver Pod status has its containers. One that is too long is stored without them.
func hasContainers(status *corev1.PodStatus) bool {
	return status != nil && len(status.ContainerStatuses) > 0
}

// terminatedDriver returns the end of the driver's container; nil if no end is known.
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
