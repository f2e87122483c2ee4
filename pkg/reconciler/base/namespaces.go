package base

import (
	"context"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	informercorev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// namespaces knows the labels of the cluster's namespaces, once the scope asks for them.
type namespaces struct {
	informer cache.SharedIndexInformer
	start    sync.Once
}

// newNamespaces tells of each namespace that comes to be known and is selected, and of each whose labels change.
func newNamespaces(
	ctx context.Context, kube kubernetes.Interface, selected func(labels.Set) bool, changed func(namespace string),
) *namespaces {
	n := &namespaces{informer: informercorev1.NewNamespaceInformer(kube, 0, cache.Indexers{})}
	Must(ctx, n.informer.SetTransform(stripNamespace))
	AddHandler(ctx, n.informer, cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if namespace, is := object.(*corev1.Namespace); is && selected(namespace.Labels) {
				changed(namespace.Name)
			}
		},
		// Whether the present scope selects it is not asked: the scope may be changing too, and what is served twice
		// the same is looked at in vain, no more.
		UpdateFunc: func(before, after any) {
			was, is := before.(*corev1.Namespace), after.(*corev1.Namespace)
			if !maps.Equal(was.Labels, is.Labels) {
				changed(is.Name)
			}
		},
		// One that is gone has no objects.
	})
	return n
}

// watch has the namespaces watched, from now until the process ends.
func (n *namespaces) watch(ctx context.Context) {
	n.start.Do(func() { go n.informer.RunWithContext(ctx) })
}

// labels are those of a namespace; none are known of one that was not seen yet.
func (n *namespaces) labels(name string) (labels.Set, bool) {
	object, known, err := n.informer.GetStore().GetByKey(name)
	if err != nil || !known {
		return nil, false
	}
	namespace, is := object.(*corev1.Namespace)
	if !is {
		return nil, false
	}
	return namespace.Labels, true
}

// stripNamespace keeps of a namespace what the scope reads.
func stripNamespace(object any) (any, error) {
	if namespace, ok := object.(*corev1.Namespace); ok {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: namespace.Name, UID: namespace.UID, ResourceVersion: namespace.ResourceVersion, Labels: namespace.Labels,
		}}, nil
	}
	return object, nil
}
