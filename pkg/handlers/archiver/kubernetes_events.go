package archiver

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/redact"
)

const (
	// kubernetesEvents is what a manifest calls them, and eventsFile the object with them.
	kubernetesEvents, eventsFile = "Kubernetes Events", "events.json.gz"
	// maxEvents bounds the Kubernetes Events of one object that are archived, and is the number that one request lists.
	maxEvents = 500
	// eventsShared is the number of objects from which on a list of all Kubernetes Events of a namespace costs less than one for each object.
	eventsShared = 6
	// maxEventsShared bounds the Kubernetes Events of a namespace of which all are listed.
	maxEventsShared = 20_000
	// eventsTimeout bounds a reading.
	eventsTimeout = 30 * time.Second
)

// eventReader reads the Kubernetes Events about attempts, and about clusters. The API server has no index of them: to list those about one object, it reads all of the
// namespace. So the attempts of a namespace that are archived at the same time share a reading.
type eventReader struct {
	core corev1client.CoreV1Interface

	mu sync.Mutex
	// next holds the reading that follows the one that is under way, by namespace. It is nil if no attempt waits for it.
	next map[string]*eventReading
}

// eventReading is a reading of the Kubernetes Events of a namespace.
type eventReading struct {
	about map[types.UID]*eventsOf
	// done is closed when the Events are read, or err is known.
	done chan struct{}
	err  error
}

// eventsOf are the Kubernetes Events about an object.
type eventsOf struct {
	items     []corev1.Event
	truncated bool
}

func newEventReader(core corev1client.CoreV1Interface) *eventReader {
	return &eventReader{core: core, next: map[string]*eventReading{}}
}

// of returns the Kubernetes Events about the objects of an attempt, or of a cluster, as they are after the call, and whether there are more than maxEvents about one of them.
func (r *eventReader) of(ctx context.Context, namespace string, objects ...types.UID) (items []corev1.Event, truncated bool, err error) {
	reading := r.join(ctx, namespace, objects)
	select {
	case <-reading.done:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	if reading.err != nil {
		return nil, false, reading.err
	}
	for _, object := range objects {
		found := reading.about[object]
		items, truncated = append(items, found.items...), truncated || found.truncated
	}
	return items, truncated, nil
}

// join adds the objects of an attempt to the next reading, and starts it unless another one is under way.
func (r *eventReader) join(ctx context.Context, namespace string, objects []types.UID) *eventReading {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, underWay := r.next[namespace]
	if next == nil {
		next = &eventReading{about: map[types.UID]*eventsOf{}, done: make(chan struct{})}
		r.next[namespace] = next
	}
	for _, object := range objects {
		next.about[object] = &eventsOf{}
	}
	if !underWay {
		go r.readAll(context.WithoutCancel(ctx), namespace)
	}
	return next
}

// readAll reads until no attempt of the namespace waits.
func (r *eventReader) readAll(ctx context.Context, namespace string) {
	for reading := r.begin(namespace); reading != nil; reading = r.begin(namespace) {
		reading.err = guarded(ctx, func() error { return r.read(ctx, namespace, reading) })
		close(reading.done)
	}
}

// begin returns the next reading of a namespace, which no attempt joins any more; nil if there is none.
func (r *eventReader) begin(namespace string) *eventReading {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.next[namespace]
	if next == nil {
		delete(r.next, namespace)
		return nil
	}
	r.next[namespace] = nil
	return next
}

func (r *eventReader) read(ctx context.Context, namespace string, reading *eventReading) error {
	ctx, cancel := context.WithTimeout(ctx, eventsTimeout)
	defer cancel()
	if len(reading.about) >= eventsShared {
		if all, err := r.readShared(ctx, namespace, reading); err != nil || all {
			return err
		}
	}
	for object, found := range reading.about {
		list, err := r.list(ctx, namespace, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(object)})
		if err != nil {
			return err
		}
		found.items, found.truncated = list.Items, list.Continue != ""
	}
	return nil
}

// readShared reads all Kubernetes Events of a namespace, and keeps those of the reading. It returns false if there are too many.
func (r *eventReader) readShared(ctx context.Context, namespace string, reading *eventReading) (bool, error) {
	var options metav1.ListOptions
	for {
		list, err := r.list(ctx, namespace, options)
		if err != nil {
			return false, err
		}
		if left := list.RemainingItemCount; left != nil && *left > maxEventsShared {
			return false, nil
		}
		for i := range list.Items {
			reading.keep(&list.Items[i])
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return true, nil
		}
	}
}

func (r *eventReader) list(ctx context.Context, namespace string, options metav1.ListOptions) (*corev1.EventList, error) {
	options.Limit = maxEvents
	list, err := r.core.Events(namespace).List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("list Kubernetes Events of namespace %s: %w", namespace, err)
	}
	return list, nil
}

// keep keeps a Kubernetes Event about one of the objects.
func (r *eventReading) keep(event *corev1.Event) {
	found := r.about[event.InvolvedObject.UID]
	switch {
	case found == nil:
	case len(found.items) == maxEvents:
		found.truncated = true
	default:
		found.items = append(found.items, *event)
	}
}

// tooManyEvents says why some are missing.
var tooManyEvents = fmt.Sprintf("there are more than %d about one object", maxEvents)

// describeEvents returns Kubernetes Events in the order of time, as they are stored.
func describeEvents(items []corev1.Event, redactor *redact.Redactor) map[string]any {
	for i := range items {
		items[i].ManagedFields, items[i].Message = nil, redactor.Text(items[i].Message)
	}
	slices.SortStableFunc(items, func(a, b corev1.Event) int { return happened(a).Compare(happened(b)) })
	return map[string]any{"items": items}
}

func happened(event corev1.Event) time.Time {
	switch {
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	case !event.EventTime.IsZero():
		return event.EventTime.Time
	default:
		return event.CreationTimestamp.Time
	}
}
