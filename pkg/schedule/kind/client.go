package kind

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Client reads and writes schedules of one kind.
type Client interface {
	// Get reads a schedule as it is now.
	Get(ctx context.Context, key types.NamespacedName) (Schedule, error)
	// UpdateStatus writes a schedule's status, with the resourceVersion that it has.
	UpdateStatus(ctx context.Context, s Schedule) (Schedule, error)
	// PatchStatus merges a patch into a schedule's status.
	PatchStatus(ctx context.Context, key types.NamespacedName, patch []byte) (Schedule, error)
}

// generated is what client-gen makes for a kind.
type generated[S Schedule] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (S, error)
	UpdateStatus(ctx context.Context, s S, options metav1.UpdateOptions) (S, error)
	Patch(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (S, error)
}

// typed is a Client of the generated ones, by namespace.
type typed[S Schedule] func(namespace string) generated[S]

func (t typed[S]) Get(ctx context.Context, key types.NamespacedName) (Schedule, error) {
	return t(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
}

func (t typed[S]) UpdateStatus(ctx context.Context, s Schedule) (Schedule, error) {
	own, is := s.(S)
	if !is {
		return nil, fmt.Errorf("%T is a schedule of another kind", s)
	}
	return t(s.GetNamespace()).UpdateStatus(ctx, own, metav1.UpdateOptions{})
}

func (t typed[S]) PatchStatus(ctx context.Context, key types.NamespacedName, patch []byte) (Schedule, error) {
	return t(key.Namespace).Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
}
