package integration

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
)

// kubelet stands in for scheduler and kubelet: it binds driver pods to a node, stops them when they are deleted, and
// confirms that they are gone.
type kubelet struct {
	kube kubernetes.Interface
	pods corev1listers.PodLister

	mutex   sync.Mutex
	paused  map[string]bool
	failing map[string]bool
}

const driverSelector = "spark-role=driver"

func newKubelet(ctx context.Context, kube kubernetes.Interface) *kubelet {
	factory := informers.NewSharedInformerFactoryWithOptions(kube, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = driverSelector }))
	informer := factory.Core().V1().Pods()
	k := &kubelet{kube: kube, pods: informer.Lister(), paused: map[string]bool{}, failing: map[string]bool{}}
	_, _ = informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { k.see(ctx, object) },
		UpdateFunc: func(_, object any) { k.see(ctx, object) },
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return k
}

// pause loses the node of a namespace's pods: those that are deleted stay.
func (k *kubelet) pause(namespace string) { k.setPaused(namespace, true) }

// resume brings the node back.
func (k *kubelet) resume(ctx context.Context, namespace string) {
	k.setPaused(namespace, false)
	var pods *corev1.PodList
	err := insist(ctx, func() (err error) {
		pods, err = k.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: driverSelector})
		return err
	})
	if err != nil {
		return
	}
	for i := range pods.Items {
		k.see(ctx, &pods.Items[i])
	}
}

// fail has each driver of a namespace exit with 1 as soon as it is bound.
func (k *kubelet) fail(namespace string) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.failing[namespace] = true
}

func (k *kubelet) fails(namespace string) bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.failing[namespace]
}

func (k *kubelet) setPaused(namespace string, paused bool) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.paused[namespace] = paused
}

func (k *kubelet) isPaused(namespace string) bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.paused[namespace]
}

func (k *kubelet) see(ctx context.Context, object any) {
	pod, ok := object.(*corev1.Pod)
	switch {
	case !ok, k.isPaused(pod.Namespace):
	case pod.DeletionTimestamp != nil:
		go k.remove(ctx, pod)
	case pod.Spec.NodeName == "":
		go k.bind(ctx, pod)
	case pod.Status.Phase == corev1.PodPending && k.fails(pod.Namespace):
		go k.end(ctx, pod, 1)
	}
}

func (k *kubelet) bind(ctx context.Context, pod *corev1.Pod) {
	_ = insist(ctx, func() error {
		return k.kube.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: "node"},
		}, metav1.CreateOptions{})
	})
}

// end has a Pod's containers exit with a code. A Pod that is gone is nobody's concern.
func (k *kubelet) end(ctx context.Context, pod *corev1.Pod, code int32) {
	_ = setStatus(ctx, k.kube, pod, func(status *corev1.PodStatus) { ended(status, code) })
}

func (k *kubelet) remove(ctx context.Context, pod *corev1.Pod) {
	if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
		k.end(ctx, pod, 143)
	}
	now := int64(0)
	_ = insist(ctx, func() error {
		return k.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
		})
	})
}

// insist tries a write again, as a kubelet does, where another was faster or the connection failed: a busy API server may
// reset a stream.
func insist(ctx context.Context, write func() error) error {
	again := func(err error) bool {
		return ctx.Err() == nil && (apierrors.IsConflict(err) || apierrors.ReasonForError(err) == metav1.StatusReasonUnknown)
	}
	return retry.OnError(retry.DefaultBackoff, again, write)
}

// setStatus changes the status of this Pod, not of a namesake.
func setStatus(ctx context.Context, kube kubernetes.Interface, pod *corev1.Pod, change func(*corev1.PodStatus)) error {
	return insist(ctx, func() error {
		live, err := kube.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil || live.UID != pod.UID {
			return err
		}
		if len(live.Status.ContainerStatuses) == 0 {
			for _, container := range live.Spec.Containers {
				live.Status.ContainerStatuses = append(live.Status.ContainerStatuses,
					corev1.ContainerStatus{Name: container.Name, Image: container.Image})
			}
		}
		change(&live.Status)
		_, err = kube.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, live, metav1.UpdateOptions{})
		return err
	})
}

// started has the containers run. Whether the Pod is ready is another matter.
func started(status *corev1.PodStatus) {
	status.Phase = corev1.PodRunning
	for i := range status.ContainerStatuses {
		running := &corev1.ContainerStateRunning{StartedAt: metav1.Now()}
		status.ContainerStatuses[i].State = corev1.ContainerState{Running: running}
		status.ContainerStatuses[i].Ready = true
	}
}

func ready(status *corev1.PodStatus) {
	status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

// ended has the containers exit with a code.
func ended(status *corev1.PodStatus, code int32) {
	status.Phase, status.Conditions = corev1.PodSucceeded, nil
	reason := "Completed"
	if code != 0 {
		status.Phase, reason = corev1.PodFailed, "Error"
	}
	for i := range status.ContainerStatuses {
		terminated := &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: metav1.Now()}
		status.ContainerStatuses[i].State = corev1.ContainerState{Terminated: terminated}
		status.ContainerStatuses[i].Ready = false
	}
}

func evicted(status *corev1.PodStatus) {
	status.Phase, status.Conditions = corev1.PodFailed, nil
	status.Reason, status.Message = "Evicted", "The node was low on resource: memory."
}
