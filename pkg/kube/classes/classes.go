// Package classes follows the priority classes and the runtime classes of the cluster. The API server adds to Pods what they say.
package classes

import (
	"context"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	informernodev1 "k8s.io/client-go/informers/node/v1"
	informerschedulingv1 "k8s.io/client-go/informers/scheduling/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/kube"
)

// Classes are the priority classes and the runtime classes that are known. Of nil, none is.
type Classes struct {
	priorities, runtimes *watch
}

type watch struct {
	informer cache.SharedIndexInformer
	errors   kube.WatchErrors
}

// Follow begins to watch the classes, until the context ends. A process that may not read them goes on, and knows none.
func Follow(ctx context.Context, client kubernetes.Interface, logger *zap.SugaredLogger) *Classes {
	return &Classes{
		priorities: follow(ctx, "priority classes", informerschedulingv1.NewPriorityClassInformer(client, 0, cache.Indexers{}), logger),
		runtimes:   follow(ctx, "runtime classes", informernodev1.NewRuntimeClassInformer(client, 0, cache.Indexers{}), logger),
	}
}

func follow(ctx context.Context, what string, informer cache.SharedIndexInformer, logger *zap.SugaredLogger) *watch {
	w := &watch{informer: informer}
	if err := w.errors.Follow(informer, func(err error) {
		logger.Warnw("quota of config-admission needs the right to list and watch", "what", what, zap.Error(err))
	}); err != nil {
		logger.Errorw("cannot follow errors of a watch", "what", what, zap.Error(err))
	}
	go informer.RunWithContext(ctx)
	return w
}

// Synced reports whether all classes are known that existed at the start. A kind that may not be read, or that the API server does not
// serve, counts as known.
func (c *Classes) Synced() bool { return c.priorities.synced() && c.runtimes.synced() }

func (w *watch) synced() bool {
	err := w.errors.Last()
	return w.informer.HasSynced() || apierrors.IsForbidden(err) || apierrors.IsNotFound(err)
}

// Admitted returns a Pod as the API server will admit it: with the cluster's default priority class if it names none, and with the overhead
// of its runtime class. priority is the value of its class. A class that is not known has the value 0, and no overhead.
func (c *Classes) Admitted(pod *corev1.Pod) (admitted *corev1.Pod, priority int32) {
	if c == nil {
		return pod, 0
	}
	changed := *pod
	admitted = &changed
	if class := c.priorityClass(pod.Spec.PriorityClassName); class != nil {
		admitted.Spec.PriorityClassName, priority = class.Name, class.Value
	}
	if name := pod.Spec.RuntimeClassName; name != nil && len(pod.Spec.Overhead) == 0 {
		if runtime, ok := known[*nodev1.RuntimeClass](c.runtimes, *name); ok && runtime.Overhead != nil {
			admitted.Spec.Overhead = runtime.Overhead.PodFixed
		}
	}
	return admitted, priority
}

// priorityClass returns the class with a name; without a name, the cluster's default class. It returns nil for none that is known.
func (c *Classes) priorityClass(name string) *schedulingv1.PriorityClass {
	if name != "" {
		class, _ := known[*schedulingv1.PriorityClass](c.priorities, name)
		return class
	}
	var first *schedulingv1.PriorityClass
	for _, object := range c.priorities.informer.GetStore().List() {
		// Of several defaults, the API server takes the lowest.
		if class, ok := object.(*schedulingv1.PriorityClass); ok && class.GlobalDefault && (first == nil || class.Value < first.Value) {
			first = class
		}
	}
	return first
}

// known returns an object of the cluster by its name.
func known[T any](watched *watch, name string) (object T, ok bool) {
	found, exists, err := watched.informer.GetStore().GetByKey(name)
	if err != nil || !exists {
		return object, false
	}
	object, ok = found.(T)
	return object, ok
}
