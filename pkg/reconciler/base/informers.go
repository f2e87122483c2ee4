// Package base is what every controller here is made with: what those of a process share, such as the settings, and how
// they watch, tell of objects and back off.
package base

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// Must ends the process where a controller cannot be made.
func Must(ctx context.Context, err error) {
	if err != nil {
		logging.FromContext(ctx).Fatalw("The controller cannot be set up", "error", err)
	}
}

// AddHandler has a handler told of what an informer sees.
func AddHandler(
	ctx context.Context, informer cache.SharedIndexInformer, handler cache.ResourceEventHandler,
) cache.ResourceEventHandlerRegistration {
	registration, err := informer.AddEventHandler(handler)
	Must(ctx, err)
	return registration
}

// LastKnown is an object that was deleted, as it was last known.
func LastKnown(object any) any {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return object
}

// WithRecorder gives a context what tells of objects by Kubernetes Events, where it has none.
func WithRecorder(ctx context.Context) context.Context {
	if controller.GetEventRecorder(ctx) != nil {
		return ctx
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	logger := logging.FromContext(ctx).Named("event-broadcaster")
	broadcaster.StartEventWatcher(func(event *corev1.Event) {
		// Its message may quote a driver, and belongs to the namespace alone.
		logger.Infow("event", "kind", event.InvolvedObject.Kind, "namespace", event.InvolvedObject.Namespace,
			"name", event.InvolvedObject.Name, "type", event.Type, "reason", event.Reason)
	})
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kubeclient.Get(ctx).CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "firesteel-controller"})
	return controller.WithEventRecorder(ctx, filteredRecorder{recorder})
}

// filteredRecorder redacts what is told, and leaves out what the generated reconciler tells of its finalizers: nobody asks for it,
// and each Event is a write.
type filteredRecorder struct{ record.EventRecorder }

// Event tells of an object.
func (q filteredRecorder) Event(object runtime.Object, kind, reason, message string) {
	if reason != "FinalizerUpdate" {
		q.EventRecorder.Event(object, kind, reason, redact.Text(message))
	}
}

// Eventf tells of an object.
func (q filteredRecorder) Eventf(object runtime.Object, kind, reason, format string, values ...any) {
	q.Event(object, kind, reason, fmt.Sprintf(format, values...))
}

// AnnotatedEventf tells of an object.
func (q filteredRecorder) AnnotatedEventf(
	object runtime.Object, annotations map[string]string, kind, reason, format string, values ...any,
) {
	q.EventRecorder.AnnotatedEventf(object, annotations, kind, reason, "%s", redact.Text(fmt.Sprintf(format, values...)))
}
