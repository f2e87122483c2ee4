package lifecycle_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

// kubelet advances a Pod by one step.
func (w *simulation) kubelet() {
	if len(w.pods) == 0 {
		return
	}
	pod := pick(w, w.pods...)
	switch {
	case pod.lost:
	case pod.DeletionTimestamp != nil:
		w.terminatePod(pod)
	default:
		w.advancePod(pod)
	}
}

// terminatePod ends the containers of a deleted Pod, then removes the Pod.
func (w *simulation) terminatePod(pod *simPod) {
	if pod.alive() && w.oneIn(2) {
		pod.exit(pick(w, int32(0), 143))
		return
	}
	w.removePod(pod)
}

func (w *simulation) advancePod(pod *simPod) {
	status := &pod.Status
	switch {
	case status.Phase == corev1.PodSucceeded || status.Phase == corev1.PodFailed:
	case pod.heldUp && w.oneIn(20):
		pod.heldUp, status.InitContainerStatuses = false, nil
	case pod.heldUp:
		w.holdUp(pod)
	case len(status.ContainerStatuses) == 0 && w.oneIn(3):
		status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable"}}
	case len(status.ContainerStatuses) == 0 && len(status.Conditions) < 2 && w.oneIn(2):
		status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.now)},
			{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse},
		}
	case len(status.ContainerStatuses) == 0:
		status.Conditions = nil
		status.ContainerStatuses = []corev1.ContainerStatus{{Name: mainName}}
		if w.oneIn(3) {
			status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{Name: sidecarName})
		}
		for i := range status.ContainerStatuses {
			status.ContainerStatuses[i].State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
		}
	case status.Phase == corev1.PodPending:
		status.Phase = corev1.PodRunning
		for i := range status.ContainerStatuses {
			status.ContainerStatuses[i].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		}
	case !status.ContainerStatuses[0].Ready && !w.oneIn(4):
		for i := range status.ContainerStatuses {
			status.ContainerStatuses[i].Ready = status.ContainerStatuses[i].State.Running != nil
		}
	case pod.stuck && !w.reliable:
		w.changeExecutors(pod)
	case len(status.Conditions) == 0 && !w.oneIn(4):
		status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	case pod.starved && !w.reliable, w.changingExecutors && !w.reliable && !w.oneIn(40):
		w.changeExecutors(pod)
	default:
		w.finishPod(pod)
	}
}

// holdUp keeps the containers of a Pod from starting: its sidecar for event logs does not start.
func (w *simulation) holdUp(pod *simPod) {
	if len(pod.Status.InitContainerStatuses) > 0 {
		return
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.now)}}
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: w.text()}}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: eventlog.Container, State: waiting}}
}

// changeExecutors changes the number of a driver's ready executors.
func (w *simulation) changeExecutors(pod *simPod) {
	most := 9
	if pod.starved {
		most = max(w.policy.Executors.Init, 1)
	}
	pod.executors = w.rng.Intn(most)
}

// finishPod ends a Pod or one of its containers in a random way.
func (w *simulation) finishPod(pod *simPod) {
	containers := pod.Status.ContainerStatuses
	pod.Status.Conditions = nil
	pod.Status.Message = w.text()
	how := 0
	if !w.reliable {
		how = w.rng.Intn(6)
	}
	w.logf("%s ends, way %d", pod.UID, how)
	switch how {
	case 0: // all containers
		pod.exit(pick(w, int32(0), 0, 1, 137))
		for i := range containers {
			containers[i].State.Terminated.Message, containers[i].State.Terminated.Reason = w.text(), w.text()
		}
	case 1: // only the driver
		end(&containers[0], pick(w, int32(0), 1))
	case 2: // only the sidecar, if there is one
		end(&containers[len(containers)-1], pick(w, int32(0), 1))
	case 3: // restarted, which must not happen
		containers[0].RestartCount++
		containers[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1}
	case 4:
		pod.exit(137)
		pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, "Evicted"
	case 5: // before its containers started
		pod.exit(1)
		pod.Status.Phase, pod.Status.ContainerStatuses = corev1.PodFailed, nil
	}
}

func end(container *corev1.ContainerStatus, code int32) {
	container.Ready = false
	container.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Ended"}}
}

// exit ends the running containers of a Pod.
func (p *simPod) exit(code int32) {
	p.Status.Phase = corev1.PodSucceeded
	for i := range p.Status.ContainerStatuses {
		container := &p.Status.ContainerStatuses[i]
		if container.State.Terminated == nil {
			end(container, code)
		}
		if container.State.Terminated.ExitCode != 0 {
			p.Status.Phase = corev1.PodFailed
		}
	}
}

// alive reports whether the driver works or may still start.
func (p *simPod) alive() bool {
	if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
		return false
	}
	return len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Terminated == nil
}
