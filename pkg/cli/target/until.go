package target

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// retryAfter is the pause before the next try after a watch ended or failed.
const retryAfter = 200 * time.Millisecond

// Until waits until reached returns true or an error, or the context ends. reached gets each version of the object that is seen. It gets nil if the
// object is gone, or if another object has its name. While the API server does not answer, Until tries again.
func Until(ctx context.Context, client dynamic.Interface, found *Found, reached func(*overview.Object) (bool, error)) error {
	resource := client.Resource(found.Resource).Namespace(found.GetNamespace())
	for {
		done, err := watchUntil(ctx, resource, found, reached)
		switch {
		case done || err != nil && ctx.Err() == nil && !Transient(err):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

// Gone makes Until wait until the object is gone.
func Gone(o *overview.Object) (bool, error) { return o == nil, nil }

// Transient reports whether a failed request may succeed later: the API server may be restarting.
func Transient(err error) bool {
	return !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) && !apierrors.IsBadRequest(err) && !apierrors.IsMethodNotSupported(err)
}

// watchUntil reads the object, and then watches it. It returns false without an error if the watch ended.
func watchUntil(ctx context.Context, client dynamic.ResourceInterface, found *Found, reached func(*overview.Object) (bool, error)) (bool, error) {
	check := func(now *unstructured.Unstructured) (bool, error) {
		if now == nil || now.GetUID() != found.GetUID() {
			done, err := reached(nil)
			return done || err != nil, err
		}
		o, err := overview.Read(now)
		if err != nil {
			return true, err
		}
		done, err := reached(o)
		return done || err != nil, err
	}
	now, err := client.Get(ctx, found.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return check(nil)
	case err != nil:
		return false, err
	}
	if done, err := check(now); done {
		return true, err
	}
	w, err := client.Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, found.GetName()).String(), ResourceVersion: now.GetResourceVersion(),
	})
	if err != nil {
		return false, err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case event, open := <-w.ResultChan():
			seen, ok := event.Object.(*unstructured.Unstructured)
			switch {
			case !open || event.Type == watch.Error || !ok:
				return false, nil // the object is read again
			case event.Type == watch.Deleted:
				return check(nil)
			}
			if done, err := check(seen); done {
				return true, err
			}
		}
	}
}
