package lifecycle

import (
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// ObserveDriver reads a driver Pod. mainContainer names the container whose end is the driver's end. If it is empty,
// all containers count, as in the Apache operator.
func ObserveDriver(pod *corev1.Pod, mainContainer string) *Driver {
	mains := mainStatuses(pod, mainContainer)
	ended := end(pod, mains, mainContainer)
	since, until := termination(pod)
	return &Driver{
		UID:              pod.UID,
		Name:             pod.Name,
		Node:             pod.Spec.NodeName,
		Host:             pod.Status.HostIP,
		Finalizers:       pod.Finalizers,
		Started:          started(mains),
		RunningSince:     runningSince(mains),
		Ready:            pod.Status.Phase == corev1.PodRunning && (conditionTrue(pod, corev1.PodReady) || readyBut(pod)),
		End:              ended,
		Unknown:          ended == nil && unknown(pod),
		Waiting:          WaitingCause(pod, "Driver Pod"),
		PreparingSince:   PreparingSince(pod),
		HeldUpSince:      heldUpSince(pod),
		Disruption:       disruption(pod),
		Stopped:          stopped(pod, mains),
		Archived:         archived(pod),
		Terminating:      pod.DeletionTimestamp != nil,
		NoGraceLeft:      pod.DeletionTimestamp != nil && ptr.Deref(pod.DeletionGracePeriodSeconds, 1) == 0,
		TerminatingSince: since,
		TerminatingUntil: until,
		Status:           &pod.Status,
	}
}

// DescribeTerminating names a terminating driver Pod, its node, and the finalizers that keep it.
func (d *Driver) DescribeTerminating() string {
	text := d.Name
	if d.Node != "" {
		text += " on node " + d.Node
	}
	if len(d.Finalizers) == 0 {
		return text
	}
	return text + ", " + KeptByFinalizers(d.Finalizers)
}

// KeptByFinalizers names the finalizers of a deleted object, and who removes them.
func KeptByFinalizers(finalizers []string) string {
	const most = 4 // enough for a person to act on
	names := strings.Join(finalizers[:min(len(finalizers), most)], ", ")
	return "kept by its finalizers: their controllers remove them; if a controller is gone, remove its finalizer yourself (" + names + ")"
}

// PodEnded reports whether a Pod is in one of the two final phases: all its containers have ended.
func PodEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// unknown reports whether Kubernetes lost contact with a Pod. Only older versions of Kubernetes set the phase.
func unknown(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodUnknown || pod.Status.Reason == reasonNodeLost
}

func stopped(pod *corev1.Pod, mains []corev1.ContainerStatus) bool {
	if PodEnded(pod) {
		return true
	}
	running := find(mains, func(s corev1.ContainerStatus) bool { return s.State.Terminated == nil })
	return len(mains) > 0 && running == nil
}

// longestGrace is the longest grace period that a duration can hold, in seconds. For a longer one the sum in the API
// server overflows, and the deletion timestamp may be before the deletion.
const longestGrace = int64(math.MaxInt64 / time.Second)

// termination returns when the deletion of a Pod was accepted, and when its grace period is over. Both are zero if
// the Pod is not deleted.
func termination(pod *corev1.Pod) (since, until time.Time) {
	if pod.DeletionTimestamp == nil {
		return time.Time{}, time.Time{}
	}
	grace := max(ptr.Deref(pod.DeletionGracePeriodSeconds, 0), 0)
	until = pod.DeletionTimestamp.Time
	since = until.Add(-time.Duration(grace) * time.Second) // overflows as the API server's sum did, which cancels it out
	if grace <= longestGrace {
		return since, until
	}
	if created := pod.CreationTimestamp.Time; since.Before(created) {
		since = created // this API server's sum differs
	}
	return since, since.Add(time.Duration(longestGrace) * time.Second)
}

// afterGrace is how long a healthy Pod may outlive its grace period: the kubelet needs a moment to kill it, and
// clocks differ.
const afterGrace = 5 * time.Second

// ForceDeleteAt returns from when a terminating driver Pod may be deleted by force: limit after its deletion was
// accepted, and never within its own grace period.
func (d *Driver) ForceDeleteAt(limit time.Duration) time.Time {
	due, killed := d.TerminatingSince.Add(limit), d.TerminatingUntil.Add(afterGrace)
	if killed.After(due) {
		return killed
	}
	return due
}

// DeleteAgainAt returns from when a terminating driver Pod may be deleted again, and reports whether it may be at
// all. Either it is deleted by force, limit after its deletion was accepted, or its deletion was interrupted.
//
// The API server first stores a grace period of zero, then removes the Pod. If the request or the API server fails in
// between, the Pod stays until another delete request.
func (d *Driver) DeleteAgainAt(limit time.Duration) (time.Time, bool) {
	switch {
	case d.NoGraceLeft:
		return d.TerminatingUntil.Add(afterGrace), len(d.Finalizers) == 0
	case limit <= 0:
		return time.Time{}, false
	default:
		return d.ForceDeleteAt(limit), true
	}
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

// runningSince returns when the first of the containers started; zero if none did.
func runningSince(mains []corev1.ContainerStatus) time.Time {
	var first time.Time
	for _, status := range mains {
		var since time.Time
		switch {
		case status.State.Running != nil:
			since = status.State.Running.StartedAt.Time
		case status.State.Terminated != nil:
			since = status.State.Terminated.StartedAt.Time
		}
		if !since.IsZero() && (first.IsZero() || since.Before(first)) {
			first = since
		}
	}
	return first
}

func conditionTrue(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	found := condition(pod, kind)
	return found != nil && found.Status == corev1.ConditionTrue
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func find(statuses []corev1.ContainerStatus, match func(corev1.ContainerStatus) bool) *corev1.ContainerStatus {
	for i := range statuses {
		if match(statuses[i]) {
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
