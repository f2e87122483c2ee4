package executors

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

// Pod holds the part of an executor Pod that is read: its owner, whether it is ready, its details, and what it requests and
// for how long. Executors are the
// most numerous objects. A corev1.Pod with the same content takes five times the memory.
type Pod struct {
	// ObjectMeta is its identity: its name, UID, resourceVersion and creation.
	metav1.ObjectMeta
	applicationID string
	// owner is the driver Pod or, if ofPod is false, an allocator.
	owner types.UID
	ofPod bool
	// isDriver reports whether the Pod is a driver whose label was changed to that of an executor: an application owns it.
	isDriver bool
	ready    bool
	details  dialect.Executor
	usage    usage.Pod
}

// Strip transforms a corev1.Pod of the informer into a Pod.
func Strip(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	kept := &Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp,
		},
		applicationID: pod.Labels[submission.LabelApplicationID],
		ready:         isReady(pod),
		details:       executorOf(pod),
		usage:         usage.Of(pod),
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		kept.owner, kept.ofPod, kept.isDriver = owner.UID, owner.Kind == "Pod", owner.Kind == "SparkApplication"
	}
	return kept, nil
}

// executor returns the Pod if it is an executor, else nil.
func (p *Pod) executor() *Pod {
	if p == nil || p.isDriver {
		return nil
	}
	return p
}

// Application returns the ID of the attempt.
func (p *Pod) Application() ApplicationID { return ApplicationID{p.Namespace, p.applicationID} }

// group returns the ID of the executors of the same owner.
func (p *Pod) group() groupID { return groupID{p.Application(), p.owner} }

// ended reports whether the Pod has ended. Quotas do not count it then.
func (p *Pod) ended() bool {
	return p.details.Phase == corev1.PodSucceeded || p.details.Phase == corev1.PodFailed
}

// isReady reports whether a Pod runs and is ready, as the Apache operator counts.
func isReady(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodRunning {
		return false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func executorOf(pod *corev1.Pod) dialect.Executor {
	executor := dialect.Executor{ID: pod.Labels[submission.LabelExecutorID], Phase: pod.Status.Phase}
	if ended := terminatedState(pod.Status.ContainerStatuses); ended != nil {
		code := ended.ExitCode // a copy: a pointer into ended would hold all of it in memory
		executor.ExitCode, executor.Reason = &code, ended.Reason
	}
	return executor
}

// terminatedState returns how the Spark container ended; nil if it did not end. If no container has Spark's name, the first
// one is used.
func terminatedState(statuses []corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	for _, status := range statuses {
		if status.Name == submission.DefaultExecutorContainer {
			return status.State.Terminated
		}
	}
	if len(statuses) == 0 {
		return nil
	}
	return statuses[0].State.Terminated
}
