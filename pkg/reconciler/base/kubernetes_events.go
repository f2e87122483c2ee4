package base

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// WithRecorder returns a context with a recorder of Kubernetes Events, the given one if it has one. In a burst of new applications their
// writes wait for a moment.
func (p *Process) WithRecorder(ctx context.Context) context.Context {
	if controller.GetEventRecorder(ctx) != nil {
		return ctx
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	logger := logging.FromContext(ctx).Named("event-broadcaster")
	broadcaster.StartEventWatcher(func(event *corev1.Event) {
		// The message may quote a driver: only who may read the namespace may read it.
		logger.Debugw("Kubernetes Event", "kind", event.InvolvedObject.Kind, "namespace", event.InvolvedObject.Namespace,
			"name", event.InvolvedObject.Name, "type", event.Type, "reason", event.Reason)
	})
	broadcaster.StartRecordingToSink(yieldingSink{
		EventSink: newEventWriter(kubeclient.Get(ctx).CoreV1()),
		burst:     &p.FirstLaunches, done: ctx.Done(),
	})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "firesteel-controller"})
	return controller.WithEventRecorder(ctx, filteredRecorder{recorder})
}

// eventWriter writes Kubernetes Events. It creates them as Protobuf, where the sink of client-go creates them as JSON.
type eventWriter struct {
	record.EventSink
	client typedcorev1.EventsGetter
}

func newEventWriter(client typedcorev1.EventsGetter) eventWriter {
	return eventWriter{&typedcorev1.EventSinkImpl{Interface: client.Events("")}, client}
}

// Create writes a new Event.
func (w eventWriter) Create(event *corev1.Event) (*corev1.Event, error) {
	return w.client.Events(event.Namespace).Create(context.Background(), event, metav1.CreateOptions{})
}

// filteredRecorder redacts messages. It drops the Events of the generated reconciler about finalizers: no user needs them, and each Event is
// a write.
type filteredRecorder struct{ record.EventRecorder }

// Event records an Event.
func (q filteredRecorder) Event(object runtime.Object, kind, reason, message string) {
	if reason != "FinalizerUpdate" {
		q.EventRecorder.Event(object, kind, reason, redact.Text(message))
	}
}

// Eventf records an Event.
func (q filteredRecorder) Eventf(object runtime.Object, kind, reason, format string, values ...any) {
	q.Event(object, kind, reason, fmt.Sprintf(format, values...))
}

// AnnotatedEventf records an Event.
func (q filteredRecorder) AnnotatedEventf(
	object runtime.Object, annotations map[string]string, kind, reason, format string, values ...any,
) {
	q.EventRecorder.AnnotatedEventf(object, annotations, kind, reason, "%s", redact.Text(fmt.Sprintf(format, values...)))
}

// eventsYieldFor is how old a Kubernetes Event is at most when it stops to yield.
const eventsYieldFor = 2 * time.Second

// yieldingSink writes Kubernetes Events. In a burst, each waits until the burst is over or the Event is old: applications that have no driver
// yet come first. A broadcaster writes one Event after the other, so that those behind one that has waited are old, too.
type yieldingSink struct {
	record.EventSink
	burst *Burst
	done  <-chan struct{}
}

// Create writes a new Event.
func (s yieldingSink) Create(event *corev1.Event) (*corev1.Event, error) {
	s.yield(event)
	return s.EventSink.Create(event)
}

// Patch counts an Event that repeats.
func (s yieldingSink) Patch(event *corev1.Event, patch []byte) (*corev1.Event, error) {
	s.yield(event)
	return s.EventSink.Patch(event, patch)
}

func (s yieldingSink) yield(event *corev1.Event) {
	left := eventsYieldFor - time.Since(event.LastTimestamp.Time)
	over := make(chan struct{})
	if left <= 0 || !s.burst.Yield(types.UID(event.Namespace+"/"+event.Name), func() { close(over) }) {
		return
	}
	limit := time.NewTimer(left)
	defer limit.Stop()
	select {
	case <-over:
	case <-limit.C:
	case <-s.done:
	}
}
