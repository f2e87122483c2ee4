package application

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// redactPod returns a Pod whose texts contain none of the application's secrets. The texts are those of its status and the
// driver's exception. If there is nothing to redact, it returns the same Pod. A running Pod has no texts.
func (r *Reconciler) redactPod(app dialect.Application, pod *corev1.Pod) *corev1.Pod {
	shown := pod
	redact := func(text string, set func(*corev1.Pod, string)) {
		if text == "" {
			return
		}
		if redacted := r.redactors.For(app).Text(text); redacted != text {
			if shown == pod {
				shown = pod.DeepCopy() // pod belongs to the cache
			}
			set(shown, redacted)
		}
	}
	redact(pod.Annotations[lifecycle.ExitExceptionAnnotation], func(p *corev1.Pod, text string) {
		p.Annotations[lifecycle.ExitExceptionAnnotation] = text
	})
	redact(pod.Status.Message, func(p *corev1.Pod, text string) { p.Status.Message = text })
	for i, condition := range pod.Status.Conditions {
		redact(condition.Message, func(p *corev1.Pod, text string) { p.Status.Conditions[i].Message = text })
	}
	for _, part := range []func(*corev1.Pod) []corev1.ContainerStatus{
		func(p *corev1.Pod) []corev1.ContainerStatus { return p.Status.InitContainerStatuses },
		func(p *corev1.Pod) []corev1.ContainerStatus { return p.Status.ContainerStatuses },
		func(p *corev1.Pod) []corev1.ContainerStatus { return p.Status.EphemeralContainerStatuses },
	} {
		for i, status := range part(pod) {
			if waiting := status.State.Waiting; waiting != nil {
				redact(waiting.Message, func(p *corev1.Pod, text string) { part(p)[i].State.Waiting.Message = text })
			}
			if terminated := status.State.Terminated; terminated != nil {
				redact(terminated.Message, func(p *corev1.Pod, text string) { part(p)[i].State.Terminated.Message = text })
			}
			if terminated := status.LastTerminationState.Terminated; terminated != nil {
				redact(terminated.Message, func(p *corev1.Pod, text string) { part(p)[i].LastTerminationState.Terminated.Message = text })
			}
		}
	}
	return shown
}
