// Package kubelet stands in for the scheduler and the kubelet where a test itself moves Pods through their phases.
package kubelet

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
)

// Kubelet binds driver Pods to a node, stops them when they are deleted, and confirms that they are gone.
type Kubelet struct {
	kube kubernetes.Interface
	pods corev1listers.PodLister

	mutex  sync.Mutex
	paused map[string]bool
	plays  map[string]func(*corev1.Pod) []Step
	// playing are the Pods that go through steps.
	playing map[types.UID]bool
	// removing has the uids of Pods that are being stopped.
	removing sync.Map
}

// Step is what happens to a Pod some time after the step before.
type Step struct {
	After  time.Duration
	Change func(*corev1.PodStatus)
}

// DriverSelector selects driver Pods.
const DriverSelector = "spark-role=driver"

// New starts a kubelet for all namespaces. It ends with the context.
func New(ctx context.Context, kube kubernetes.Interface) *Kubelet {
	factory := informers.NewSharedInformerFactoryWithOptions(kube, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = DriverSelector }))
	informer := factory.Core().V1().Pods()
	k := &Kubelet{kube: kube, pods: informer.Lister(), paused: map[string]bool{}, plays: map[string]func(*corev1.Pod) []Step{}, playing: map[types.UID]bool{}}
	_, _ = informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { k.reconcile(ctx, object) },
		UpdateFunc: func(_, object any) { k.reconcile(ctx, object) },
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return k
}

// Pause simulates that the node of a namespace's Pods is lost: Pods that are deleted stay.
func (k *Kubelet) Pause(namespace string) { k.setPaused(namespace, true) }

// Resume brings the node back.
func (k *Kubelet) Resume(ctx context.Context, namespace string) {
	k.setPaused(namespace, false)
	var pods *corev1.PodList
	err := RetryWrite(ctx, func() (err error) {
		pods, err = k.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: DriverSelector})
		return err
	})
	if err != nil {
		return
	}
	for i := range pods.Items {
		k.reconcile(ctx, &pods.Items[i])
	}
}

// Fail makes each driver of a namespace exit with code 1 as soon as it is bound.
func (k *Kubelet) Fail(namespace string) {
	fails := []Step{{Change: func(status *corev1.PodStatus) { Ended(status, 1) }}}
	k.Play(namespace, func(*corev1.Pod) []Step { return fails })
}

// Play makes each driver of a namespace go through steps as soon as it is bound.
func (k *Kubelet) Play(namespace string, steps func(*corev1.Pod) []Step) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.plays[namespace] = steps
}

// begin returns the steps of a Pod that does not go through them yet.
func (k *Kubelet) begin(pod *corev1.Pod) []Step {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	steps := k.plays[pod.Namespace]
	if steps == nil || k.playing[pod.UID] {
		return nil
	}
	k.playing[pod.UID] = true
	return steps(pod)
}

func (k *Kubelet) setPaused(namespace string, paused bool) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.paused[namespace] = paused
}

func (k *Kubelet) isPaused(namespace string) bool {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.paused[namespace]
}

func (k *Kubelet) reconcile(ctx context.Context, object any) {
	pod, ok := object.(*corev1.Pod)
	switch {
	case !ok, k.isPaused(pod.Namespace):
	case pod.DeletionTimestamp != nil:
		go k.remove(ctx, pod)
	case pod.Spec.NodeName == "":
		go k.bind(ctx, pod)
	case pod.Status.Phase == corev1.PodPending:
		if steps := k.begin(pod); len(steps) > 0 {
			go k.play(ctx, pod, steps)
		}
	}
}

// play makes a Pod go through steps until it is to be deleted.
func (k *Kubelet) play(ctx context.Context, pod *corev1.Pod, steps []Step) {
	for _, step := range steps {
		select {
		case <-time.After(step.After):
		case <-ctx.Done():
			return
		}
		if now, err := k.pods.Pods(pod.Namespace).Get(pod.Name); err != nil || now.UID != pod.UID || now.DeletionTimestamp != nil {
			return
		}
		_ = SetStatus(ctx, k.kube, pod, step.Change)
	}
}

func (k *Kubelet) bind(ctx context.Context, pod *corev1.Pod) {
	_ = RetryWrite(ctx, func() error {
		return k.kube.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: "node"},
		}, metav1.CreateOptions{})
	})
}

// end makes a Pod's containers exit with a code. It ignores that a Pod is gone.
func (k *Kubelet) end(ctx context.Context, pod *corev1.Pod, code int32) {
	_ = SetStatus(ctx, k.kube, pod, func(status *corev1.PodStatus) { Ended(status, code) })
}

// remove stops a Pod and confirms that it is gone. The Pod changes meanwhile, and is not stopped again for that.
func (k *Kubelet) remove(ctx context.Context, pod *corev1.Pod) {
	if _, busy := k.removing.LoadOrStore(pod.UID, nil); busy {
		return
	}
	defer k.removing.Delete(pod.UID)
	if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
		k.end(ctx, pod, 143)
	}
	now := int64(0)
	_ = RetryWrite(ctx, func() error {
		return k.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
		})
	})
}

// writeBackoff is that of a write. It lasts some 20 seconds, since nothing tries again later. A cap would end it when it is reached.
var writeBackoff = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 12}

// RetryWrite retries a write after a conflict, a time-out or a failed connection, as a kubelet does: a busy API server may reset a stream.
func RetryWrite(ctx context.Context, write func() error) error {
	again := func(err error) bool {
		switch apierrors.ReasonForError(err) {
		case metav1.StatusReasonConflict, metav1.StatusReasonTimeout, metav1.StatusReasonServerTimeout, metav1.StatusReasonUnknown:
			return ctx.Err() == nil
		}
		return false
	}
	return retry.OnError(writeBackoff, again, write)
}

// SetStatus changes the status of this Pod, but not of another Pod with its name.
func SetStatus(ctx context.Context, kube kubernetes.Interface, pod *corev1.Pod, change func(*corev1.PodStatus)) error {
	return RetryWrite(ctx, func() error {
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

// Started sets that the containers run, but not that the Pod is ready.
func Started(status *corev1.PodStatus) {
	status.Phase = corev1.PodRunning
	for i := range status.ContainerStatuses {
		running := &corev1.ContainerStateRunning{StartedAt: metav1.Now()}
		status.ContainerStatuses[i].State = corev1.ContainerState{Running: running}
		status.ContainerStatuses[i].Ready = true
	}
}

// Ready sets that the Pod is ready.
func Ready(status *corev1.PodStatus) {
	status.Conditions = append(scheduled(status), corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
}

// scheduled returns the condition that the binding of a Pod set. A kubelet keeps it.
func scheduled(status *corev1.PodStatus) []corev1.PodCondition {
	return slices.DeleteFunc(slices.Clone(status.Conditions), func(c corev1.PodCondition) bool { return c.Type != corev1.PodScheduled })
}

// Ended sets that the containers exited with a code.
func Ended(status *corev1.PodStatus, code int32) {
	status.Phase, status.Conditions = corev1.PodSucceeded, scheduled(status)
	reason := "Completed"
	if code != 0 {
		status.Phase, reason = corev1.PodFailed, "Error"
	}
	for i := range status.ContainerStatuses {
		terminated := &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: metav1.Now()}
		if running := status.ContainerStatuses[i].State.Running; running != nil {
			terminated.StartedAt = running.StartedAt
		}
		status.ContainerStatuses[i].State = corev1.ContainerState{Terminated: terminated}
		status.ContainerStatuses[i].Ready = false
	}
}

// Evicted sets that the Pod was evicted from its node.
func Evicted(status *corev1.PodStatus) {
	status.Phase, status.Conditions = corev1.PodFailed, scheduled(status)
	status.Reason, status.Message = "Evicted", "The node was low on resource: memory."
}
