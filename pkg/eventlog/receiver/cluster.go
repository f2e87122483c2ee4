package receiver

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/access"
	"github.com/firesteel-dev/firesteel/pkg/access/review"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
)

// Cluster asks the API server. It is a Guard.
type Cluster struct {
	Client   kubernetes.Interface
	Metadata metadata.Interface
	// Reviewer reviews tokens for eventlog.Audience.
	Reviewer *review.Reviewer
	// APIs are those whose applications have event logs.
	APIs []*dialect.API
	// Archive returns the archive of a namespace; nil if it has none.
	Archive func(ctx context.Context, namespace string) (*archive.Archive, error)
}

// Pod returns the Pod that a token is bound to.
func (c *Cluster) Pod(ctx context.Context, token string) (review.Pod, error) {
	user, err := c.Reviewer.Authenticate(ctx, token)
	if err != nil {
		return review.Pod{}, err
	}
	pod, ok := user.Pod()
	if !ok {
		return review.Pod{}, fmt.Errorf("%w: the token of %s is bound to no Pod: send that of the driver Pod", access.ErrNotAllowed, user.Name())
	}
	return pod, nil
}

// Attempt returns the attempt whose driver is a Pod. The Pod says which one it is, and only Firesteel or who may create Pods in its namespace wrote that.
func (c *Cluster) Attempt(ctx context.Context, pod review.Pod) (*archive.Attempt, error) {
	live, err := c.Client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && live.UID != pod.UID:
		return nil, fmt.Errorf("%w: the Pod %s that the token is bound to is gone", access.ErrNotAllowed, pod)
	case err != nil:
		return nil, unavailable(err, "Pod "+pod.String())
	}
	number, err := strconv.ParseInt(live.Annotations[eventlog.AttemptAnnotation], 10, 64)
	owner := metav1.GetControllerOf(live)
	api := c.apiOf(owner)
	if err != nil || number < 0 || api == nil {
		return nil, fmt.Errorf("%w: the Pod %s is not a driver that Firesteel launched with a sidecar for event logs", access.ErrNotAllowed, pod)
	}
	app, err := c.describe(ctx, live, api, owner)
	if err != nil {
		return nil, err
	}
	stored, err := c.Archive(ctx, pod.Namespace)
	if err != nil {
		return nil, fmt.Errorf("%w: open the archive of namespace %s: %w", access.ErrUnavailable, pod.Namespace, err)
	}
	if stored == nil {
		return nil, fmt.Errorf("%w: the namespace %s has no archive: set url or namespaces in the ConfigMap config-archive", access.ErrNotAllowed, pod.Namespace)
	}
	if err := stored.AnnounceEventLog(ctx, app, number); err != nil {
		return nil, err
	}
	return stored.Attempt(app.ID(), number), nil
}

// apiOf returns the API of a Pod's owner; nil if it is no application.
func (c *Cluster) apiOf(owner *metav1.OwnerReference) *dialect.API {
	if owner == nil {
		return nil
	}
	kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind()
	for _, api := range c.APIs {
		if api.GroupKind() == kind {
			return api
		}
	}
	return nil
}

// describe describes the application that owns a driver Pod, for an archive that does not know it yet.
func (c *Cluster) describe(ctx context.Context, pod *corev1.Pod, api *dialect.API, owner *metav1.OwnerReference) (archive.Application, error) {
	app, err := c.Metadata.Resource(api.GroupVersionResource()).Namespace(pod.Namespace).Get(ctx, owner.Name, metav1.GetOptions{})
	what := fmt.Sprintf("%s %s/%s", api.Kind, pod.Namespace, owner.Name)
	switch {
	case apierrors.IsNotFound(err), err == nil && app.UID != owner.UID:
		return archive.Application{}, fmt.Errorf("%w: the %s that owns the Pod %s is gone", access.ErrNotAllowed, what, pod.Name)
	case err != nil:
		return archive.Application{}, unavailable(err, what)
	}
	namespace, err := c.Client.CoreV1().Namespaces().Get(ctx, pod.Namespace, metav1.GetOptions{})
	if err != nil {
		return archive.Application{}, unavailable(err, "namespace "+pod.Namespace)
	}
	return archive.Application{
		Namespace: pod.Namespace, NamespaceUID: namespace.UID, Resource: api.GroupResource().String(), APIVersion: api.GroupVersion().String(),
		Kind: api.Kind, Name: app.Name, UID: app.UID, Created: app.CreationTimestamp.UTC(),
		Labels: text.Entries(app.Labels, archive.MaxLabels),
	}, nil
}

func unavailable(err error, what string) error {
	return fmt.Errorf("%w: read %s: %w", access.ErrUnavailable, what, err)
}
