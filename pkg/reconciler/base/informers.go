package base

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/kube"
)

// Must ends the process if err is an error: a controller cannot be made.
func Must(ctx context.Context, err error) {
	if err != nil {
		logging.FromContext(ctx).Fatalw("The controller cannot be set up", "error", err)
	}
}

// AddHandler adds a handler to an informer. An object that took the name of another while the watch was interrupted is added, and the
// other is deleted: an update is always of one object.
func AddHandler(
	ctx context.Context, informer cache.SharedIndexInformer, handler cache.ResourceEventHandler,
) cache.ResourceEventHandlerRegistration {
	registration, err := informer.AddEventHandler(kube.ByObject(handler))
	Must(ctx, err)
	return registration
}

// Cached returns the object with a key from a cache, the zero value if the cache has none.
func Cached[O any](objects cache.KeyGetter, key types.NamespacedName) O {
	found, _, _ := objects.GetByKey(key.String()) // nil, too, if there was an error
	object, _ := found.(O)
	return object
}

// InNamespace returns a function that lists the objects of a namespace in a cache.
func InNamespace(ctx context.Context, objects cache.Indexer, namespace string) func() []any {
	return func() []any {
		found, err := objects.ByIndex(cache.NamespaceIndex, namespace)
		Must(ctx, err)
		return found
	}
}

// DropManagedFields is a transform of informers: nothing reads the managed fields of Firesteel's kinds, and a write would send them.
func DropManagedFields(object any) (any, error) {
	if object, ok := object.(metav1.Object); ok {
		object.SetManagedFields(nil)
	}
	return object, nil
}
