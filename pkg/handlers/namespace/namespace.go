// Package namespace is the opt-in handler that creates what drivers need in a namespace that asks for it by its label.
package namespace

import (
	"context"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
	"github.com/firesteel-dev/firesteel/pkg/namespaces/provision"
)

// Name is the handler's name in config-handlers.
const Name = namespaces.Handler

type handler struct {
	client   dynamic.Interface
	settings func() *config.Config
	clock    clock.PassiveClock
}

// NewHandler creates the handler. It uses only the event's source, and decides from the namespace that it reads. So a duplicate, late or
// forged event creates nothing that the namespace does not ask for.
func NewHandler(client dynamic.Interface, settings func() *config.Config, clock clock.PassiveClock) events.Handler {
	h := &handler{client: client, settings: settings, clock: clock}
	return func(ctx context.Context, event cloudevents.Event) error {
		object, err := events.Identify(event)
		if err != nil || !object.IsNamespace() {
			return err
		}
		return h.handle(ctx, object)
	}
}

func (h *handler) handle(ctx context.Context, object events.Object) error {
	namespace, err := h.client.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).Get(ctx, object.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("read namespace %s: %w", object.Name, err)
	case namespace.GetUID() != object.UID, namespace.GetDeletionTimestamp() != nil, !namespaces.Asks(namespace),
		!h.settings().Scope.ServesNamespace(object.Name, namespace.GetLabels()):
		return nil
	}
	bindings := h.client.Resource(rbacv1.SchemeGroupVersion.WithResource("rolebindings")).Namespace(object.Name)
	_, err = bindings.Get(ctx, namespaces.Binding, metav1.GetOptions{})
	switch {
	case err == nil:
		return nil // done
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("read RoleBinding %s/%s: %w", object.Name, namespaces.Binding, err)
	}
	report := func(result provision.Result) error { return h.report(ctx, result) }
	return provision.Create(ctx, h.client, report, namespaces.Objects(*h.settings().Namespaces, object.Name)...)
}

// report writes a Kubernetes Event about an object of another owner. Its name is that of the object and its uid, so it is written once.
func (h *handler) report(ctx context.Context, result provision.Result) error {
	if result.Outcome != provision.Left {
		return nil
	}
	about := result.Object
	now := metav1.NewTime(h.clock.Now())
	event := &corev1.Event{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{Namespace: about.GetNamespace(), Name: fmt.Sprintf("%s.%s", about.GetName(), about.GetUID())},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: about.GetAPIVersion(), Kind: about.GetKind(), Namespace: about.GetNamespace(), Name: about.GetName(), UID: about.GetUID(),
		},
		Type: corev1.EventTypeWarning, Reason: "ObjectLeft", Message: result.String(),
		Source:         corev1.EventSource{Component: "firesteel-handler-namespace"},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(event)
	if err != nil {
		return fmt.Errorf("encode an Event: %w", err)
	}
	_, err = h.client.Resource(corev1.SchemeGroupVersion.WithResource("events")).Namespace(event.Namespace).
		Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("report that %s %s/%s is left: %w", about.GetKind(), about.GetNamespace(), about.GetName(), err)
	}
	return nil
}
