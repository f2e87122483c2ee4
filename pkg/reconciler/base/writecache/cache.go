// Package writecache holds objects as Firesteel last wrote them until the informer's cache has them, so that no decision is based on a
// cache that is stale because of Firesteel's own write.
package writecache

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Object is one that the cache can hold.
type Object interface {
	metav1.Object
	runtime.Object
}

// Cache holds written objects that the informer's cache does not have yet.
type Cache[O Object] struct {
	mutex   sync.Mutex
	written map[types.NamespacedName]O
}

// New returns an empty cache.
func New[O Object]() *Cache[O] { return &Cache[O]{written: map[types.NamespacedName]O{}} }

// Remember holds an object as it was written. Its managed fields are dropped: nothing reads them, and the next write would send them.
func (w *Cache[O]) Remember(object O) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	object.SetManagedFields(nil)
	w.written[keyOf(object)] = object
}

// Newest returns the newer of the informer's object and the last written one.
func (w *Cache[O]) Newest(cached O) O {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	own, known := w.written[keyOf(cached)]
	if !known {
		return cached
	}
	if !Newer(own.GetResourceVersion(), cached.GetResourceVersion()) || own.GetUID() != cached.GetUID() {
		delete(w.written, keyOf(cached))
		return cached
	}
	return own.DeepCopyObject().(O)
}

// Newer reports whether one resourceVersion of an object came after another. It is false if they cannot be compared.
func Newer(one, other string) bool {
	order, err := resourceversion.CompareResourceVersion(one, other)
	return err == nil && order > 0
}

// RolledBack reports whether an informer shows an object older than before: the API server was restored from an older backup.
// Then the last written one is forgotten: it no longer exists.
func (w *Cache[O]) RolledBack(before, after O) bool {
	if before.GetUID() != after.GetUID() || !Newer(before.GetResourceVersion(), after.GetResourceVersion()) {
		return false
	}
	w.Forget(after)
	return true
}

// Forget forgets an object.
func (w *Cache[O]) Forget(object O) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.written, keyOf(object))
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}
