package archiver

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
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
	maxEventsShared = 100_000
	// eventsTimeout bounds a reading.
	eventsTimeout = 30 * time.Second
	// eventsRest is how many times as long as a reading took no other one of its namespace begins, and maxEventsRest bounds that. Attempts that end meanwhile
	// share the next one.
	eventsRest, maxEventsRest = 9, 2 * time.Second
	// maxJoined bounds the attempts that hold Kubernetes Events or wait for them, and maxJoinedPerNamespace those of one namespace.
	maxJoined, maxJoinedPerNamespace = 512, 256
	// maxJoinedBytes bounds what one of them holds before it has a slot. With more, it reads again in its slot.
	maxJoinedBytes = 64 << 10
	// eventBytes is the memory of a Kubernetes Event beside its texts.
	eventBytes = 1 << 10
	// joinedShare is the part of the wait, as a divisor, for which an attempt waits for its Kubernetes Events before it has a slot.
	joinedShare = 8
)

// eventReader reads the Kubernetes Events about attempts, and about clusters. The API server has no index of them: to list those about one object, it reads all of the
// namespace. So the attempts of a namespace that end at about the same time share a reading.
type eventReader struct {
	core corev1client.CoreV1Interface

	mu sync.Mutex
	// next holds the reading that follows the last one, by namespace. It is nil if no attempt waits for it.
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
	// room is how many bytes more may be held for the objects of its attempt. Below zero, nothing is.
	room *int
}

// joinedEvents are the Kubernetes Events about an attempt, or about a cluster, that are being read.
type joinedEvents struct {
	reader    *eventReader
	namespace string
	objects   []types.UID
	// reading is what was joined; nil once its result is here.
	reading   *eventReading
	items     []corev1.Event
	truncated bool
	// crowded reports whether there were too many to hold them.
	crowded bool
	err     error
}

func newEventReader(core corev1client.CoreV1Interface) *eventReader {
	return &eventReader{core: core, next: map[string]*eventReading{}}
}

// joinEvents lets the Kubernetes Events of an attempt be read with those of others, before it has a slot. What follows a driver that has ended waits long enough for the
// attempt to wait for them here: in a slot, it would keep others from theirs.
func (a *Archiver) joinEvents(ctx context.Context, p *pending) *joinedEvents {
	joined := a.events.join(ctx, p.name.Namespace, maxJoinedBytes, p.uid, p.driver)
	if end := p.ended.End; end != nil && (end.ExitCode != nil || end.Outcome == v1alpha1.OutcomeSucceeded) {
		ctx, cancel := context.WithTimeout(ctx, a.settings().Archive.WaitIn(p.name.Namespace)/joinedShare)
		defer cancel()
		joined.wait(ctx)
	}
	return joined
}

// of returns the Kubernetes Events about objects as they are after the call, and whether there are more than maxEvents about one of them.
func (r *eventReader) of(ctx context.Context, namespace string, objects ...types.UID) (items []corev1.Event, truncated bool, err error) {
	return r.join(ctx, namespace, math.MaxInt, objects...).get(ctx)
}

// join adds objects to the next reading of a namespace, and starts it unless another one is under way or was a moment ago. room bounds the bytes that are held for them.
func (r *eventReader) join(ctx context.Context, namespace string, room int, objects ...types.UID) *joinedEvents {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, underWay := r.next[namespace]
	if next == nil {
		next = &eventReading{about: map[types.UID]*eventsOf{}, done: make(chan struct{})}
		r.next[namespace] = next
	}
	for _, object := range objects {
		next.about[object] = &eventsOf{room: &room}
	}
	if !underWay {
		go r.readAll(context.WithoutCancel(ctx), namespace)
	}
	return &joinedEvents{reader: r, namespace: namespace, objects: objects, reading: next}
}

// wait waits until the Kubernetes Events are read, or ctx ends.
func (j *joinedEvents) wait(ctx context.Context) {
	if j.reading == nil {
		return
	}
	select {
	case <-j.reading.done:
	case <-ctx.Done():
		return
	}
	j.err = j.reading.err
	for _, object := range j.objects {
		found := j.reading.about[object]
		j.items, j.truncated, j.crowded = append(j.items, found.items...), j.truncated || found.truncated, j.crowded || *found.room < 0
	}
	j.reading = nil // it holds those of others
}

// get returns the Kubernetes Events, and whether there are more than maxEvents about one of the objects.
func (j *joinedEvents) get(ctx context.Context) (items []corev1.Event, truncated bool, err error) {
	j.wait(ctx)
	switch {
	case j.reading != nil:
		return nil, false, ctx.Err()
	case j.err == nil && j.crowded:
		return j.reader.of(ctx, j.namespace, j.objects...)
	}
	return j.items, j.truncated, j.err
}

// readAll reads until no attempt of the namespace waits. A reading takes no more than a tenth of the time, unless it is long.
func (r *eventReader) readAll(ctx context.Context, namespace string) {
	for reading := r.begin(namespace); reading != nil; reading = r.begin(namespace) {
		began := time.Now()
		reading.err = guarded(ctx, func() error { return r.read(ctx, namespace, reading) })
		close(reading.done)
		<-time.After(min(eventsRest*time.Since(began), maxEventsRest))
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
		reading.keep(list)
		found.truncated = list.Continue != ""
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
		if left := list.RemainingItemCount; options.Continue == "" && left != nil && *left > maxEventsShared {
			return false, nil
		}
		reading.keep(list)
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

// keep keeps the Kubernetes Events about the objects.
func (r *eventReading) keep(list *corev1.EventList) {
	for i := range list.Items {
		event := &list.Items[i]
		found := r.about[event.InvolvedObject.UID]
		switch {
		case found == nil:
		case len(found.items) == maxEvents:
			found.truncated = true
		default:
			event.ManagedFields = nil
			if *found.room -= event.Size() + eventBytes; *found.room < 0 {
				found.items = nil
				continue
			}
			found.items = append(found.items, *event)
		}
	}
}

// tooManyEvents says why some are missing.
var tooManyEvents = fmt.Sprintf("there are more than %d about one object", maxEvents)

// describeEvents returns Kubernetes Events in the order of time, as they are stored.
func describeEvents(items []corev1.Event, redactor *redact.Redactor) map[string]any {
	for i := range items {
		items[i].Message = redactor.Text(items[i].Message)
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
