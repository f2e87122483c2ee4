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

// namespaceLabels knows the labels of all namespaces, from when the scope selects by labels.
type namespaceLabels struct {
	informer cache.SharedIndexInformer
	start    sync.Once
}

// newNamespaces calls changed for each namespace that is selected when it becomes known, and for each whose labels change.
func newNamespaces(
	ctx context.Context, kube kubernetes.Interface, selected func(labels.Set) bool, changed func(namespace string),
) *namespaceLabels {
	n := &namespaceLabels{informer: informercorev1.NewNamespaceInformer(kube, 0, cache.Indexers{})}
	Must(ctx, n.informer.SetTransform(stripNamespace))
	AddHandler(ctx, n.informer, cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if namespace, ok := object.(*corev1.Namespace); ok && selected(namespace.Labels) {
				changed(namespace.Name)
			}
		},
		// The scope may be changing at the same time, so this does not ask whether it selects the namespace. At worst objects are
		// reconciled in vain.
		UpdateFunc: func(old, updated any) {
			before, after := old.(*corev1.Namespace), updated.(*corev1.Namespace)
			if !maps.Equal(before.Labels, after.Labels) {
				changed(after.Name)
			}
		},
		// A namespace that is deleted has no objects.
	})
	return n
}

// watch starts to watch the namespaces, until the process ends.
func (n *namespaceLabels) watch(ctx context.Context) {
	n.start.Do(func() { go n.informer.RunWithContext(ctx) })
}

// labels returns the labels of a namespace, and false if the namespace is not known yet.
func (n *namespaceLabels) labels(name string) (labels.Set, bool) {
	object, known, err := n.informer.GetStore().GetByKey(name)
	if err != nil || !known {
		return nil, false
	}
	namespace, ok := object.(*corev1.Namespace)
	if !ok {
		return nil, false
	}
	return namespace.Labels, true
}

// stripNamespace drops everything that the scope does not read.
func stripNamespace(object any) (any, error) {
	if namespace, ok := object.(*corev1.Namespace); ok {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: namespace.Name, UID: namespace.UID, ResourceVersion: namespace.ResourceVersion, Labels: namespace.Labels,
		}}, nil
	}
	return object, nil
}
