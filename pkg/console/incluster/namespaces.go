package incluster

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/console"
	"github.com/firesteel-dev/firesteel/pkg/kube"
)

// Namespaces knows which namespaces live now. Another namespace may have the name of an old one at any moment, and inherits nothing of it: nothing is
// kept without a watch. Without Follow, or while the watch fails, each question is a request to the API server.
type Namespaces struct {
	client kubernetes.Interface
	// followed has the namespaces; nil without Follow. failing reports whether the last request of its watch failed.
	followed cache.SharedIndexInformer
	failing  atomic.Bool
}

// NewNamespaces returns the namespaces that a client reads.
func NewNamespaces(client kubernetes.Interface) *Namespaces { return &Namespaces{client: client} }

// Follow follows the namespaces until the context ends, so that questions cost the API server nothing. It is called once, before the first question.
func (n *Namespaces) Follow(ctx context.Context, client metadata.Interface, logger *zap.SugaredLogger) {
	all := client.Resource(corev1.SchemeGroupVersion.WithResource("namespaces"))
	source := kube.NewSource(client, noting(n, all.List), noting(n, all.Watch))
	n.followed = cache.NewSharedIndexInformer(source(func(*metav1.ListOptions) {}), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	// These fail only after the start.
	_ = n.followed.SetTransform(onlyIdentity)
	_ = new(kube.WatchErrors).Follow(n.followed, func(err error) {
		logger.Warnw("namespaces cannot be watched, each is read when it is needed: allow list and watch on namespaces", zap.Error(err))
	})
	go n.followed.RunWithContext(ctx)
}

// noting returns a request whose results are noted.
func noting[R any](n *Namespaces, ask func(context.Context, metav1.ListOptions) (R, error)) func(context.Context, metav1.ListOptions) (R, error) {
	return func(ctx context.Context, options metav1.ListOptions) (R, error) {
		result, err := ask(ctx, options)
		n.failing.Store(err != nil)
		return result, err
	}
}

// onlyIdentity returns what is kept of a namespace. It may get what it made.
func onlyIdentity(given any) (any, error) {
	if full, ok := given.(*metav1.PartialObjectMetadata); ok {
		return &metav1.PartialObjectMetadata{
			ObjectMeta: metav1.ObjectMeta{Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion},
		}, nil
	}
	return given, nil
}

// named returns the namespace with a name that lives now, or console.ErrNoNamespace.
func (n *Namespaces) named(ctx context.Context, name string) (archive.Namespace, error) {
	if len(validation.ValidateNamespaceName(name, false)) > 0 {
		return archive.Namespace{}, console.ErrNoNamespace
	}
	if n.followed != nil && n.followed.HasSynced() && !n.failing.Load() {
		known, ok, _ := n.followed.GetStore().GetByKey(name) // it has no error
		if !ok {
			return archive.Namespace{}, console.ErrNoNamespace
		}
		return archive.Namespace{Name: name, UID: known.(metav1.Object).GetUID()}, nil
	}
	found, err := n.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return archive.Namespace{}, console.ErrNoNamespace
	}
	if err != nil {
		return archive.Namespace{}, fmt.Errorf("%w: read namespace %s: %w", access.ErrUnavailable, name, err)
	}
	return archive.Namespace{Name: name, UID: found.UID}, nil
}
