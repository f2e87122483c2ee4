package applications

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// client is what is done with the applications of a namespace.
type client interface {
	get(ctx context.Context, name string) (dialect.Application, error)
	updateStatus(ctx context.Context, app dialect.Application) (dialect.Application, error)
	patchStatus(ctx context.Context, name string, patch []byte) error
	delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

// generated is the part of a generated client that is needed.
type generated[A dialect.Application] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (A, error)
	UpdateStatus(ctx context.Context, app A, options metav1.UpdateOptions) (A, error)
	Patch(
		ctx context.Context, name string, kind types.PatchType, patch []byte, options metav1.PatchOptions, subresources ...string,
	) (A, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

// typed makes the generated client of one type one of applications.
type typed[A dialect.Application] struct{ client generated[A] }

func (t typed[A]) get(ctx context.Context, name string) (dialect.Application, error) {
	return t.client.Get(ctx, name, metav1.GetOptions{})
}

func (t typed[A]) updateStatus(ctx context.Context, app dialect.Application) (dialect.Application, error) {
	return t.client.UpdateStatus(ctx, app.(A), metav1.UpdateOptions{})
}

func (t typed[A]) patchStatus(ctx context.Context, name string, patch []byte) error {
	_, err := t.client.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

func (t typed[A]) delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	return t.client.Delete(ctx, name, options)
}
