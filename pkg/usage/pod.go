package usage

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
)

// Pod is what of a Pod is counted. Times are in seconds since 1970, the precision of Pods' times; zero if unknown.
type Pod struct {
	Requests
	// Scheduled is when the Pod got its node.
	Scheduled int64
	// Ended is when the last of its containers ended, native sidecars included; zero while one may run.
	Ended int64
	// Finished is when the last container ended of a Pod that is not reported to have ended; zero while one runs.
	Finished int64
	// Deleted is when the deletion of the Pod was accepted.
	Deleted int64
}

// Requests is what a Pod requests.
type Requests struct {
	MilliCPU, Mebibytes, GPUs int64
}

// Of reads a Pod.
func Of(pod *corev1.Pod) Pod {
	p := Pod{Requests: RequestsOf(pod), Deleted: deleted(pod)}
	var latest int64
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionTrue {
			p.Scheduled = condition.LastTransitionTime.Unix()
		}
		latest = max(latest, condition.LastTransitionTime.Unix())
	}
	finished, all := lastFinished(pod)
	switch over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed; {
	case p.Scheduled == 0:
	case over && all:
		p.Ended = max(finished, p.Scheduled)
	case over: // the node does not report the containers' ends, so the last news of the Pod is the end
		p.Ended = max(finished, latest, p.Scheduled)
	case all:
		p.Finished = max(finished, p.Scheduled)
	}
	return p
}

// lastFinished returns when the last container ended that has, and reports whether all of them have.
func lastFinished(pod *corev1.Pod) (last int64, all bool) {
	all = len(pod.Status.ContainerStatuses) > 0
	for _, status := range pod.Status.ContainerStatuses {
		if ended := status.State.Terminated; ended != nil {
			last = max(last, ended.FinishedAt.Unix())
		} else {
			all = false
		}
	}
	for _, status := range pod.Status.InitContainerStatuses {
		if ended := status.State.Terminated; ended != nil {
			last = max(last, ended.FinishedAt.Unix())
		} else if status.State.Running != nil {
			all = false
		}
	}
	return last, all
}

// ContainerFinished returns when a container of a Pod ended; zero while it runs, and if there is none with that name.
func ContainerFinished(pod *corev1.Pod, name string) int64 {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == name && status.State.Terminated != nil {
			return status.State.Terminated.FinishedAt.Unix()
		}
	}
	return 0
}

func deleted(pod *corev1.Pod) int64 {
	if pod.DeletionTimestamp == nil {
		return 0
	}
	return max(pod.DeletionTimestamp.Unix()-max(ptr.Deref(pod.DeletionGracePeriodSeconds, 0), 0), pod.CreationTimestamp.Unix())
}

// RequestsOf returns what a Pod requests of its node, as the scheduler counts. Memory is rounded up to MiB.
func RequestsOf(pod *corev1.Pod) Requests {
	var requests Requests
	total := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	requests.MilliCPU = max(total.Cpu().MilliValue(), 0)
	requests.Mebibytes = max((total.Memory().Value()-1)>>20+1, 0)
	for name, quantity := range total {
		if IsGPU(string(name)) {
			requests.GPUs = add(requests.GPUs, max(quantity.Value(), 0))
		}
	}
	if pod.Spec.Resources != nil { // of a Pod that As made
		requests.GPUs = add(requests.GPUs, max(ptr.To(pod.Spec.Resources.Requests[gpu]).Value(), 0))
	}
	return requests
}

// gpu is the extended resource under which As puts the GPUs of a Pod. No node has it.
const gpu corev1.ResourceName = "usage.firesteel.dev/gpu"

// As returns the requests as those of a whole Pod: RequestsOf returns the same of a Pod that has them. It is nil if there are none.
func (r Requests) As() *corev1.ResourceRequirements {
	if r == (Requests{}) {
		return nil
	}
	return &corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(r.MilliCPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(r.Mebibytes<<20, resource.BinarySI),
		gpu:                   *resource.NewQuantity(r.GPUs, resource.DecimalSI),
	}}
}

// IsGPU reports whether an extended resource is a GPU or a part of one, by the names of its vendors: nvidia.com/gpu,
// nvidia.com/gpu.shared, nvidia.com/mig-1g.5gb, gpu.intel.com/xe. Spark makes such a name of its settings for the resource gpu and its vendor.
func IsGPU(name string) bool {
	domain, kind, extended := strings.Cut(name, "/")
	return extended && (kind == "gpu" || strings.HasPrefix(kind, "gpu.") || strings.HasPrefix(kind, "mig-") || strings.HasPrefix(domain, "gpu."))
}
