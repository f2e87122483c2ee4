package launch

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
	"github.com/firesteel-dev/firesteel/pkg/kube/apierror"
)

// mayBeOfSidecar reports whether a launch may have been refused for the driver's sidecar for event logs: the Pod was refused, by a policy for example. Then
// it is launched once more without it. What has nothing to do with containers is no such reason.
func mayBeOfSidecar(refused *refusedError, driver *corev1.Pod) bool {
	hasSidecar := slices.ContainsFunc(driver.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == eventlog.Container })
	if !hasSidecar || refused.object != describe(driver) {
		return false
	}
	switch refused.reason() {
	case apierror.NameTaken, apierror.ServiceAccountNotFound:
		return false
	default:
		return true
	}
}

// withoutEventLogs warns that the driver of an attempt has no sidecar for event logs.
func withoutEventLogs(attempt v1alpha1.Attempt) []string {
	if attempt.WithoutEventLogs == "" {
		return nil
	}
	return []string{"The driver runs without the sidecar that sends its event log to the archive: " + attempt.WithoutEventLogs + "."}
}
