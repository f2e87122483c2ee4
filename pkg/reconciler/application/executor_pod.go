package application

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// executorPod is what is kept of an executor Pod: whose it is, and what is counted and shown of it. There are more
// executors than anything else, and a Pod with nothing else in it takes five times the memory.
type executorPod struct {
	// ObjectMeta is its identity: its name, UID, resourceVersion and creation.
	metav1.ObjectMeta
	applicationID string
	// owner is the driver Pod or, where ofPod is false, what a driver has it from.
	owner types.UID
	ofPod bool
	// isDriver reports whether the Pod is a driver whose label was changed to an executor's: an application owns it.
	isDriver bool
	ready    bool
	details  dialect.Executor
}

// stripExecutor keeps of a Pod what is known of an executor.
func stripExecutor(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	kept := &executorPod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp,
		},
		applicationID: pod.Labels[submission.LabelApplicationID],
		ready:         isReady(pod),
		details:       executorOf(pod),
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		kept.owner, kept.ofPod, kept.isDriver = owner.UID, owner.Kind == "Pod", owner.Kind == "SparkApplication"
	}
	return kept, nil
}

// executor is the Pod, or nil if there is none or it is no executor.
func (p *executorPod) executor() *executorPod {
	if p == nil || p.isDriver {
		return nil
	}
	return p
}

// application is what the executor has in common with others of its attempt.
func (p *executorPod) application() applicationID { return applicationID{p.Namespace, p.applicationID} }

// executorGroup is what it has in common with those of the same owner.
func (p *executorPod) group() groupID { return groupID{p.application(), p.owner} }

// isReady is what the Apache operator counts: a Pod that runs and is ready.
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
		code := ended.ExitCode // what it is in would be kept with it
		executor.ExitCode, executor.Reason = &code, ended.Reason
	}
	return executor
}

// executorContainer is Spark's name for the container of an executor, where its template names none.
const executorContainer = "spark-kubernetes-executor"

// terminatedState is how the Spark container ended; nil where it did not. Where none has Spark's name, it is the first.
func terminatedState(statuses []corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	for _, status := range statuses {
		if status.Name == executorContainer {
			return status.State.Terminated
		}
	}
	if len(statuses) == 0 {
		return nil
	}
	return statuses[0].State.Terminated
}
