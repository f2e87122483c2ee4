package kube

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Source lists and watches the objects of a kind, those that the change of the options selects.
type Source func(change func(*metav1.ListOptions)) cache.ListerWatcher

// NewSource returns the objects that a client lists and watches by two of its methods.
func NewSource[L runtime.Object](
	client any, listAll func(context.Context, metav1.ListOptions) (L, error), watchAll func(context.Context, metav1.ListOptions) (watch.Interface, error),
) Source {
	return func(change func(*metav1.ListOptions)) cache.ListerWatcher {
		return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				change(&options)
				return listAll(ctx, options)
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
				change(&options)
				return watchAll(ctx, options)
			},
		}, client)
	}
}

// WatchErrors are the errors of an informer whose kind may be forbidden or absent. The zero value has seen none.
type WatchErrors struct {
	mutex sync.Mutex
	last  error
	once  sync.Once
}

// Follow follows the errors of an informer that does not run yet. forbidden is called with the first one that says that its kind may not be
// listed or watched. An absent kind is nobody's mistake, and client-go logs all other errors.
func (w *WatchErrors) Follow(informer cache.SharedInformer, forbidden func(error)) error {
	return informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
		w.mutex.Lock()
		w.last = err
		w.mutex.Unlock()
		switch {
		case apierrors.IsForbidden(err):
			w.once.Do(func() { forbidden(err) })
		case !apierrors.IsNotFound(err):
			cache.DefaultWatchErrorHandler(ctx, r, err)
		}
	})
}

// Last returns the last error; nil if there was none.
func (w *WatchErrors) Last() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.last
}

// ByObject returns a handler to which an update is always of one object: for an object that took the name of another while the watch was interrupted, the
// other is deleted, and it is added.
func ByObject(handler cache.ResourceEventHandler) cache.ResourceEventHandler {
	return byObject{handler}
}

// byObject is a handler to which an object with another UID is another object.
type byObject struct{ cache.ResourceEventHandler }

// OnUpdate handles the update of an object, or the deletion of one, whose last state the watch has missed, and the creation of another.
func (h byObject) OnUpdate(before, after any) {
	from, ok := before.(metav1.Object)
	to, ok2 := after.(metav1.Object)
	if !ok || !ok2 || from.GetUID() == to.GetUID() {
		h.ResourceEventHandler.OnUpdate(before, after)
		return
	}
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: cache.MetaObjectToName(from).String(), Obj: before})
	h.OnAdd(after, false)
}

// LastKnown returns the last known state of a deleted object.
func LastKnown(object any) any {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return object
}
