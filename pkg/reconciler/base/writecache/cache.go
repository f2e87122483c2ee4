// Package writecache remembers objects as Firesteel last wrote them, until the cache has them too, so that no decision is made
// on what Firesteel itself has made old.
package writecache

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Object is one that can be remembered.
type Object interface {
	metav1.Object
	runtime.Object
}

// Cache are the objects that the cache does not have yet.
type Cache[O Object] struct {
	mutex   sync.Mutex
	written map[types.NamespacedName]O
}

// New remembers nothing yet.
func New[O Object]() *Cache[O] { return &Cache[O]{written: map[types.NamespacedName]O{}} }

// Remember knows an object as it was written.
func (w *Cache[O]) Remember(object O) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.written[keyOf(object)] = object
}

// Newest is the newer of the cache's object and the last written one.
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

// Newer says that one resourceVersion of an object came after another. Where nobody can tell, it did not.
func Newer(one, other string) bool {
	order, err := resourceversion.CompareResourceVersion(one, other)
	return err == nil && order > 0
}

// RolledBack reports whether an informer shows an object older than before: the API server was restored from an older backup.
// Then the last written one is void, and forgotten.
func (w *Cache[O]) RolledBack(before, after O) bool {
	if before.GetUID() != after.GetUID() || !Newer(before.GetResourceVersion(), after.GetResourceVersion()) {
		return false
	}
	w.Forget(after)
	return true
}

// Forget knows nothing of an object any more.
func (w *Cache[O]) Forget(object O) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.written, keyOf(object))
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}
