package integration

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

// witness sees every revision of every driver Pod, and remembers where two of one application were alive at once.
type witness struct {
	mutex sync.Mutex
	// applications are those of the drivers, by the labels that each had at first.
	applications map[types.UID]string
	alive        map[string]map[types.UID]string
	drivers      map[string][]types.UID
	charges      map[string][]string
}

func newWitness(ctx context.Context, kube kubernetes.Interface) (*witness, error) {
	w := &witness{
		applications: map[types.UID]string{},

		alive:   map[string]map[types.UID]string{},
		drivers: map[string][]types.UID{},
		charges: map[string][]string{},
	}
	pods := kube.CoreV1().Pods(metav1.NamespaceAll)
	none, err := pods.List(ctx, metav1.ListOptions{LabelSelector: kubelet.DriverSelector})
	if err != nil {
		return nil, err
	}
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, none.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = kubelet.DriverSelector
			return pods.Watch(ctx, options)
		},
	})
	if err != nil {
		return nil, err
	}
	go func() {
		for event := range watcher.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok {
				w.see(event.Type, pod)
			}
		}
	}()
	return w, nil
}

func (w *witness) see(what watch.EventType, pod *corev1.Pod) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	application, known := w.applications[pod.UID]
	if !known {
		for _, api := range applications.All(nil) {
			application = cmp.Or(application, pod.Labels[api.LabelApplication])
		}
		application = pod.Namespace + "/" + application
		w.applications[pod.UID] = application
	}
	if w.alive[application] == nil {
		w.alive[application] = map[types.UID]string{}
	}
	alive := w.alive[application]
	if what == watch.Added {
		w.drivers[application] = append(w.drivers[application], pod.UID)
	}
	if what == watch.Deleted || stopped(pod) {
		delete(alive, pod.UID)
		return
	}
	alive[pod.UID] = pod.Name
	if len(alive) > 1 {
		w.charges[pod.Namespace] = append(w.charges[pod.Namespace], fmt.Sprintf("%s has live drivers %v", application, alive))
	}
}

func stopped(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// against are the charges of a namespace.
func (w *witness) against(namespace string) []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return append([]string{}, w.charges[namespace]...)
}

// driversOf are the uids of all drivers that an application ever had.
func (w *witness) driversOf(namespace, name string) []types.UID {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return append([]types.UID{}, w.drivers[namespace+"/"+name]...)
}
