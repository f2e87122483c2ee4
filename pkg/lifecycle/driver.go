package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ObserveDriver reads a driver Pod. mainContainer names the container whose end is the driver's; empty takes
// all containers, as the Apache operator does.
func ObserveDriver(pod *corev1.Pod, mainContainer string) *Driver {
	mains := mainStatuses(pod, mainContainer)
	return &Driver{
		UID:              pod.UID,
		Started:          started(mains),
		Ready:            pod.Status.Phase == corev1.PodRunning && conditionTrue(pod, corev1.PodReady),
		End:              end(pod, mains, mainContainer),
		Waiting:          waiting(pod),
		Stopped:          stopped(pod, mains),
		Terminating:      pod.DeletionTimestamp != nil,
		TerminatingSince: terminatingSince(pod),
		Status:           &pod.Status,
	}
}

func stopped(pod *corev1.Pod, mains []corev1.ContainerStatus) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return true
	}
	running := find(mains, func(s corev1.ContainerStatus) bool { return s.State.Terminated == nil })
	return len(mains) > 0 && running == nil
}

// terminatingSince is when the deletion was accepted; the Pod's own timestamp is when it is due to be over.
func terminatingSince(pod *corev1.Pod) time.Time {
	if pod.DeletionTimestamp == nil {
		return time.Time{}
	}
	var grace int64
	if pod.DeletionGracePeriodSeconds != nil {
		grace = *pod.DeletionGracePeriodSeconds
	}
	return pod.DeletionTimestamp.Add(-time.Duration(grace) * time.Second)
}

func mainStatuses(pod *corev1.Pod, name string) []corev1.ContainerStatus {
	if name == "" {
		return pod.Status.ContainerStatuses
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == name {
			return []corev1.ContainerStatus{status}
		}
	}
	return pod.Status.ContainerStatuses
}

func started(mains []corev1.ContainerStatus) bool {
	for _, status := range mains {
		if status.Ready {
			return true
		}
	}
	return false
}

func conditionTrue(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == kind {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// waiting names what holds a Pod up, in words that do not change while it lasts: kubelet alternates between
// ErrImagePull and ImagePullBackOff, and a condition that followed would be written each time.
func waiting(pod *corev1.Pod) *Cause {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return &Cause{Class: ClassScheduling, Reason: condition.Reason, Message: "Driver Pod cannot be scheduled."}
		}
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

// end decides by the phase first: a Pod that died before its containers began has no container statuses.
func end(pod *corev1.Pod, mains []corev1.ContainerStatus, mainContainer string) *End {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return &End{State: Succeeded, Cause: Cause{Message: "Spark application completed successfully."}}
	case pod.Status.Phase == corev1.PodFailed:
		return failedPod(pod, mains, mainContainer)
	}
	if restarted := find(mains, func(s corev1.ContainerStatus) bool { return s.RestartCount > 0 }); restarted != nil {
		return failedContainer(*restarted, restarted.LastTerminationState.Terminated,
			"Driver has one or more critical container(s) restarted unexpectedly")
	}
	if failed := find(mains, failedIn); failed != nil {
		return failedContainer(*failed, failed.State.Terminated, "Driver has one or more failed critical container(s)")
	}
	if find(mains, succeededIn) != nil {
		return exitedWithZero()
	}
	return nil
}

func succeededIn(s corev1.ContainerStatus) bool {
	return s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
}

func failedIn(s corev1.ContainerStatus) bool {
	return s.State.Terminated != nil && s.State.Terminated.ExitCode != 0
}

func exitedWithZero() *End {
	return &End{State: Succeeded, Cause: Cause{Message: "Driver has critical container(s) exited with 0."}}
}

func failedPod(pod *corev1.Pod, mains []corev1.ContainerStatus, mainContainer string) *End {
	if strings.EqualFold(pod.Status.Reason, "Evicted") {
		return &End{State: DriverEvicted, Cause: Cause{
			Class: ClassEviction, Reason: "Evicted", Message: orElse(pod.Status.Message, "Driver was evicted."),
		}}
	}
	// The main containers come first: an init container that failed kept them from starting, and one that is a
	// sidecar may well fail when it is stopped after them.
	if failed := find(mains, failedIn); failed != nil {
		return failedContainer(*failed, failed.State.Terminated, "Driver has one or more failed critical container(s)")
	}
	// A sidecar that failed made the Pod fail. Seen a moment earlier, the attempt would have succeeded.
	byItself := pod.Status.Reason == ""
	if done := find(mains, succeededIn); byItself && done != nil && done.Name == mainContainer {
		return exitedWithZero()
	}
	if failed := find(pod.Status.InitContainerStatuses, failedIn); failed != nil {
		return failedContainer(*failed, failed.State.Terminated, "Driver has failed init container(s)")
	}
	return &End{State: Failed, Cause: Cause{
		Class:   ClassInfrastructure,
		Reason:  orElse(pod.Status.Reason, "PodFailed"),
		Message: orElse(pod.Status.Message, "Driver Pod failed before its container ended."),
	}}
}

func failedContainer(status corev1.ContainerStatus, terminated *corev1.ContainerStateTerminated, what string) *End {
	cause := Cause{Class: ClassApplication, Reason: "Restarted", Message: fmt.Sprintf("%s: %s.", what, status.Name)}
	if terminated == nil {
		return &End{State: Failed, Cause: cause}
	}
	cause.Reason = orElse(terminated.Reason, "Error")
	exitCode := terminated.ExitCode
	cause.ExitCode = &exitCode
	cause.Message = fmt.Sprintf("%s: %s exited with code %d (%s).", what, status.Name, exitCode, cause.Reason)
	return &End{State: Failed, Cause: cause}
}

func find(statuses []corev1.ContainerStatus, is func(corev1.ContainerStatus) bool) *corev1.ContainerStatus {
	for i := range statuses {
		if is(statuses[i]) {
			return &statuses[i]
		}
	}
	return nil
}

func orElse(text, fallback string) string {
	if text != "" {
		return text
	}
	return fallback
}
