package integration

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
	"github.com/firesteel-dev/firesteel/test/harness/witness"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

// driverHistory sees every revision of every driver Pod, and checks that no application has two live drivers.
type driverHistory struct {
	kube kubernetes.Interface

	mutex sync.Mutex
	// applications are those of the drivers, by the labels that each had at first.
	applications map[types.UID]string
	drivers      map[string]*invariants.Drivers
	// violations are those of each namespace.
	violations map[string][]error
}

func newDriverHistory(ctx context.Context, kube kubernetes.Interface) (*driverHistory, error) {
	w := &driverHistory{
		kube: kube, applications: map[types.UID]string{}, drivers: map[string]*invariants.Drivers{}, violations: map[string][]error{},
	}
	pods := kube.CoreV1().Pods(metav1.NamespaceAll)
	none, err := pods.List(ctx, metav1.ListOptions{LabelSelector: kubelet.DriverSelector})
	if err != nil {
		return nil, err
	}
	drivers := func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		options.LabelSelector = kubelet.DriverSelector
		return pods.Watch(ctx, options)
	}
	return w, witness.Follow(ctx, none.ResourceVersion, drivers, func(event watch.Event) {
		if pod, ok := event.Object.(*corev1.Pod); ok {
			w.see(event.Type, pod)
		}
	}, func() {})
}

func (w *driverHistory) see(what watch.EventType, pod *corev1.Pod) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	application, known := w.applications[pod.UID]
	if !known {
		for _, api := range applications.All(nil) {
			application = cmp.Or(application, pod.Labels[api.LabelApplication])
		}
		// A Pod of a plain spark-submit run is the driver of an application of its own.
		application = pod.Namespace + "/" + cmp.Or(application, "of Pod "+pod.Name)
		w.applications[pod.UID] = application
	}
	if w.drivers[application] == nil {
		w.drivers[application] = &invariants.Drivers{}
	}
	if err := w.drivers[application].Saw(what, pod); err != nil {
		w.violations[pod.Namespace] = append(w.violations[pod.Namespace], fmt.Errorf("%s: %w", application, err))
	}
}

// knows reports whether the history has all of these drivers.
func (w *driverHistory) knows(pods []corev1.Pod) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return !slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return w.applications[pod.UID] == "" })
}

// violationsIn are the violations in a namespace until now.
func (w *driverHistory) violationsIn(namespace string) []error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.Clone(w.violations[namespace])
}

// driversOf are the uids of all drivers that an application ever had, those that exist now included: a test may know them sooner, from
// another watch.
func (w *driverHistory) driversOf(namespace, name string) []types.UID {
	_ = wait.PollUntilContextTimeout(context.Background(), pollInterval, timeout, true, func(ctx context.Context) (bool, error) {
		pods, err := w.kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: kubelet.DriverSelector})
		return err == nil && w.knows(pods.Items), nil
	})
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if drivers := w.drivers[namespace+"/"+name]; drivers != nil {
		return drivers.UIDs()
	}
	return nil
}
