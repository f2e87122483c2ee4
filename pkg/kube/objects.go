package kube

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// KeyOf returns the key of an object.
func KeyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// Client reads and writes the objects of one type in a namespace. I is an interface that the type implements.
type Client[I metav1.Object] interface {
	// Get reads an object from the API server.
	Get(ctx context.Context, name string) (I, error)
	// UpdateStatus writes an object's status, with the resourceVersion that it has.
	UpdateStatus(ctx context.Context, object I) (I, error)
	// Patch merges a patch into an object, or into a subresource.
	Patch(ctx context.Context, name string, patch []byte, subresources ...string) (I, error)
	// Delete deletes an object.
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

// Generated is the part of a generated client that ClientOf needs.
type Generated[O metav1.Object] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (O, error)
	UpdateStatus(ctx context.Context, object O, options metav1.UpdateOptions) (O, error)
	Patch(
		ctx context.Context, name string, kind types.PatchType, patch []byte, options metav1.PatchOptions, subresources ...string,
	) (O, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

// ClientOf returns a client that calls a generated one, whose type O implements I.
func ClientOf[I, O metav1.Object](client Generated[O]) Client[I] { return typed[I, O]{client} }

type typed[I, O metav1.Object] struct{ client Generated[O] }

// known returns an object as the interface that it implements. Go cannot express that constraint of a type parameter.
func known[I, O metav1.Object](object O, err error) (I, error) { return any(object).(I), err }

func (t typed[I, O]) Get(ctx context.Context, name string) (I, error) {
	return known[I](t.client.Get(ctx, name, metav1.GetOptions{}))
}

func (t typed[I, O]) UpdateStatus(ctx context.Context, object I) (I, error) {
	return known[I](t.client.UpdateStatus(ctx, any(object).(O), metav1.UpdateOptions{}))
}

func (t typed[I, O]) Patch(ctx context.Context, name string, patch []byte, subresources ...string) (I, error) {
	return known[I](t.client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, subresources...))
}

func (t typed[I, O]) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	return t.client.Delete(ctx, name, options)
}
