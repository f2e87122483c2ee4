package lifecycle

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// sparkContainer is the driver's container if no template names another.
const sparkContainer = "spark-kubernetes-driver"

// DriverContainer returns the name of the container that runs the driver; the others are sidecars.
func DriverContainer(status *corev1.PodStatus, mainContainer string) string {
	name := orElse(mainContainer, sparkContainer)
	named := func(s corev1.ContainerStatus) bool { return s.Name == name }
	if find(status.ContainerStatuses, named) == nil && len(status.ContainerStatuses) > 0 {
		name = status.ContainerStatuses[0].Name
	}
	return name
}

const (
	containerFailed    = "Driver has one or more failed critical container(s)"
	containerRestarted = "Driver has one or more critical container(s) restarted unexpectedly"
	initFailed         = "Driver has failed init container(s)"
	podFailed          = "Driver Pod failed before its container ended."
)

// end looks at the phase first: a Pod that failed before its containers started has no container statuses.
func end(pod *corev1.Pod, mains []corev1.ContainerStatus, mainContainer string) *End {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return &End{State: Succeeded, Cause: Cause{Message: "Spark application completed successfully."}}
	case pod.Status.Phase == corev1.PodFailed:
		return failedPod(pod, mains, mainContainer)
	}
	if restarted := find(mains, func(s corev1.ContainerStatus) bool { return s.RestartCount > 0 }); restarted != nil {
		return failedContainer(pod, mainContainer, *restarted, restarted.LastTerminationState.Terminated, containerRestarted)
	}
	if failed := find(mains, failedIn); failed != nil {
		return failedContainer(pod, mainContainer, *failed, failed.State.Terminated, containerFailed)
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
			Class: ClassEviction, Reason: "Evicted", Message: orElse(strings.TrimSpace(pod.Status.Message), "Driver was evicted."),
		}}
	}
	// Main containers come first: a failed init container would have kept them from starting, and a native sidecar
	// may fail when it is stopped after them.
	if failed := find(mains, failedIn); failed != nil {
		return failedContainer(pod, mainContainer, *failed, failed.State.Terminated, containerFailed)
	}
	// The Pod failed because of a sidecar. A moment earlier, with the sidecar still running, the attempt would have
	// succeeded.
	byItself := pod.Status.Reason == ""
	if done := find(mains, succeededIn); byItself && done != nil && done.Name == mainContainer {
		return exitedWithZero()
	}
	if failed := find(pod.Status.InitContainerStatuses, failedIn); failed != nil {
		return failedContainer(pod, mainContainer, *failed, failed.State.Terminated, initFailed)
	}
	if disrupted := disruption(pod); disrupted != nil {
		return &End{State: Failed, Cause: *disrupted}
	}
	if stopped := stoppedByNode(pod); stopped != nil {
		return &End{State: Failed, Cause: *stopped}
	}
	return &End{State: Failed, Cause: Cause{
		Class: ClassInfrastructure, Reason: "PodFailed", Message: orElse(pod.Status.Message, podFailed),
	}}
}

// stoppedByNode returns why the kubelet ended a Pod, if it did: the Pod's deadline, a node shutdown, or a missing
// resource. It does not matter how the containers exited.
func stoppedByNode(pod *corev1.Pod) *Cause {
	if pod.Status.Phase != corev1.PodFailed || pod.Status.Reason == "" {
		return nil
	}
	cause := &Cause{Class: ClassInfrastructure, Reason: pod.Status.Reason, Message: orElse(pod.Status.Message, podFailed)}
	if cause.Reason == "DeadlineExceeded" { // the template's activeDeadlineSeconds
		cause.Class = ClassTimeout
	}
	return cause
}

func failedContainer(
	pod *corev1.Pod, mainContainer string, status corev1.ContainerStatus, terminated *corev1.ContainerStateTerminated, what string,
) *End {
	cause := Cause{Class: ClassApplication, Reason: "Restarted", Message: fmt.Sprintf("%s: %s.", what, status.Name)}
	if terminated == nil {
		return &End{State: Failed, Cause: cause}
	}
	exitCode := terminated.ExitCode
	cause.ExitCode = &exitCode
	cause.Reason = orElse(terminated.Reason, "Error")
	cause.Message = fmt.Sprintf("%s: %s exited with code %d (%s).", what, status.Name, exitCode, cause.Reason)
	var exception string
	isDriver := status.Name == orElse(mainContainer, sparkContainer)
	switch disrupted, stopped := disruption(pod), stoppedByNode(pod); {
	case disrupted != nil && wasKilled(exitCode):
		cause.Class, cause.Reason = disrupted.Class, disrupted.Reason
		cause.addSentence(disrupted.Message)
	case stopped != nil:
		cause.Class, cause.Reason = stopped.Class, stopped.Reason
		cause.addSentence(pod.Status.Message)
	case pod.DeletionTimestamp != nil && wasKilled(exitCode): // Firesteel never deletes it before its end
		cause.Class, cause.Reason = ClassInfrastructure, "DriverDeleted"
		cause.addSentence("Another client deleted the driver Pod.")
	case isDriver && cause.Reason == "OOMKilled":
		cause.addSentence(outOfLimit)
	case isDriver:
		cause.addSentence(exitCodes[exitCode])
		exception = pod.Annotations[ExitExceptionAnnotation]
	}
	if exception != "" || terminated.Message != "" {
		cause.Unquoted = cause.Message
	}
	cause.addException(exception)
	cause.addTerminationMessage(logTail(terminated.Message, maxTerminationMessage))
	return &End{State: Failed, Cause: cause}
}

// disruption returns what the cluster did to a Pod, with the message of the condition DisruptionTarget.
func disruption(pod *corev1.Pod) *Cause {
	disrupted := condition(pod, corev1.DisruptionTarget)
	if disrupted == nil || disrupted.Status != corev1.ConditionTrue {
		return nil
	}
	class := ClassEviction
	switch disrupted.Reason {
	case "DeletionByTaintManager", "DeletionByPodGC": // the node is gone or does not answer
		class = ClassInfrastructure
	}
	message := "The cluster removed the driver Pod."
	if disrupted.Message != "" {
		message = "The cluster removed the driver Pod: " + disrupted.Message
	}
	return &Cause{Class: class, Reason: orElse(disrupted.Reason, "Disrupted"), Message: message}
}
