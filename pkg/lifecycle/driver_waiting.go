package lifecycle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// WaitingCause returns what keeps a Pod from starting. what names the Pod in messages. The text stays the same as
// long as the problem does: the kubelet alternates between ErrImagePull and ImagePullBackOff, and a condition that
// followed would be written each time.
func WaitingCause(pod *corev1.Pod, what string) *Cause {
	if scheduled := condition(pod, corev1.PodScheduled); scheduled != nil && scheduled.Status == corev1.ConditionFalse {
		return &Cause{Class: ClassScheduling, Reason: scheduled.Reason, Message: unscheduled(what, scheduled.Message)}
	}
	for _, status := range append(slices.Clone(pod.Status.InitContainerStatuses), pod.Status.ContainerStatuses...) {
		if status.State.Waiting == nil {
			continue
		}
		switch status.State.Waiting.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
			"ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
			return &Cause{Class: ClassInfrastructure, Reason: "ImagePullFailed",
				Message: fmt.Sprintf("Image %q of container %s cannot be pulled; correct the image's name or its pull secret.",
					status.Image, status.Name)}
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return &Cause{Class: ClassInfrastructure, Reason: status.State.Waiting.Reason,
				Message: fmt.Sprintf("Container %s cannot be created: %s", status.Name, status.State.Waiting.Message)}
		}
	}
	return nil
}

// unreadyContainers names the containers that run and are not ready; empty if there are none.
func unreadyContainers(driver *Driver) string {
	if driver == nil || driver.Status == nil {
		return ""
	}
	var names []string
	for _, status := range driver.Status.ContainerStatuses {
		if status.State.Running != nil && !status.Ready {
			names = append(names, status.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("Running but not ready: container %s; see its readiness probe.", strings.Join(names, ", "))
}

var (
	nodesCounted = regexp.MustCompile(`^\d+/\d+ nodes are available: `)
	nodesOfAKind = regexp.MustCompile(`^\d+ `)
)

// unscheduled returns the scheduler's message without its numbers, which change with each node and each try.
func unscheduled(what, message string) string {
	sentence := what + " cannot be scheduled"
	counted := nodesCounted.FindString(message)
	if message == "" {
		return sentence + "."
	}
	if counted == "" {
		return sentence + ": " + message
	}
	message, _, _ = strings.Cut(strings.TrimPrefix(message, counted), ". ") // the rest is about preemption
	var reasons []string
	for _, reason := range strings.Split(strings.TrimSuffix(message, "."), ", ") {
		reasons = append(reasons, nodesOfAKind.ReplaceAllString(reason, ""))
	}
	slices.Sort(reasons)
	return sentence + ": " + strings.Join(slices.Compact(reasons), ", ") + "."
}

// PreparingSince returns when a Pod was bound to a node that has not prepared its volumes and network yet. The
// kubelet reports what is missing only in Kubernetes Events.
func PreparingSince(pod *corev1.Pod) time.Time {
	scheduled, prepared := condition(pod, corev1.PodScheduled), condition(pod, corev1.PodReadyToStartContainers)
	if scheduled == nil || scheduled.Status != corev1.ConditionTrue || prepared == nil || prepared.Status != corev1.ConditionFalse ||
		pod.Status.Phase != corev1.PodPending {
		return time.Time{}
	}
	return scheduled.LastTransitionTime.Time
}
