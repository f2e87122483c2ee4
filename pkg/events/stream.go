package events

import (
	"cmp"
	"context"
	"slices"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.opentelemetry.io/otel/trace"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// stream holds what the relay knows about one object. Relay.mu guards it.
type stream struct {
	object Object
	ctx    context.Context
	stop   context.CancelFunc

	// sequence is that of the last published transition, and sequenceTime that transition's time.
	sequence     int64
	sequenceTime time.Time
	// acknowledged is the sequence up to which all transitions are acknowledged, by the sink or according to the record.
	acknowledged int64
	rejected     int64
	// queue holds the events that the sink has not acknowledged, in order.
	queue []*queuedEvent
	// sending reports whether a goroutine sends the queue.
	sending   bool
	lastError string
	// failingSince is when the first send failed after the last success.
	failingSince time.Time
	// sinkFailure is Progress.SinkFailure.
	sinkFailure string
	// request is nil if the object waits for no handler.
	request *handlerRequest
}

// queuedEvent is an event to send. It holds either a transition, whose event is made when it is sent, or a clock event.
type queuedEvent struct {
	transition *v1alpha1.Transition
	clock      *cloudevents.Event
	span       trace.SpanContext
	// done is closed when the event has left the queue.
	done chan struct{}
}

func (e *queuedEvent) sequence() int64 {
	if e.transition == nil {
		return 0
	}
	return e.transition.Sequence
}

func (e *queuedEvent) id(o Object) string {
	if e.clock != nil {
		return e.clock.ID()
	}
	return eventID(o, sequenceText(e.sequence()))
}

func (e *queuedEvent) event(o Object) (cloudevents.Event, error) {
	if e.clock != nil {
		return *e.clock, nil
	}
	return NewTransitionEvent(o, *e.transition)
}

// streamFor returns the object's stream, and creates it if needed. It returns nil for an outdated snapshot.
func (r *Relay) streamFor(snapshot Snapshot) *stream {
	s, ok := r.streams[snapshot.Object.UID]
	if ok && snapshot.Record != nil && snapshot.Record.Sequence < s.sequence {
		if !lastTime(snapshot.Record).After(s.sequenceTime) {
			return nil
		}
		// The sequence is lower, but the transition is newer: the record was lost, and a new one has begun.
		r.forget(snapshot.Object.UID)
		ok = false
	}
	if !ok {
		s = &stream{object: snapshot.Object}
		s.ctx, s.stop = context.WithCancel(r.ctx)
		r.streams[snapshot.Object.UID] = s
	}
	return s
}

func lastTime(record *v1alpha1.Record) time.Time {
	if len(record.Transitions) == 0 {
		return time.Time{}
	}
	return record.Transitions[len(record.Transitions)-1].Time.Time
}

// updateQueue adds the record's new transitions to the queue. It removes those that another replica has delivered.
func (r *Relay) updateQueue(s *stream, snapshot Snapshot) {
	record := snapshot.Record
	if record == nil {
		return
	}
	s.rejected = max(s.rejected, record.Rejected)
	if record.Acknowledged > s.acknowledged {
		s.acknowledged = record.Acknowledged
		r.dequeue(s, func(e *queuedEvent) bool { return e.transition != nil && e.sequence() <= record.Acknowledged })
	}
	if record.Sequence > s.sequence {
		r.enqueue(s, newTransitions(snapshot, max(s.sequence, s.acknowledged))...)
		s.sequence, s.sequenceTime = record.Sequence, lastTime(record)
	}
	s.advanceCursor()
}

// newTransitions returns the transitions after a sequence, in order. It skips those that the record does not hold any more.
func newTransitions(snapshot Snapshot, after int64) []*queuedEvent {
	var queued []*queuedEvent
	for _, t := range snapshot.Record.Transitions {
		if t.Sequence > after && t.Sequence <= snapshot.Record.Sequence {
			queued = append(queued, &queuedEvent{transition: cloneForEvent(t), span: snapshot.Span, done: make(chan struct{})})
		}
	}
	slices.SortStableFunc(queued, func(a, b *queuedEvent) int { return cmp.Compare(a.sequence(), b.sequence()) })
	return queued
}

// cloneForEvent copies the parts of a transition that its event is made from, so that the caller can change the record.
func cloneForEvent(t v1alpha1.Transition) *v1alpha1.Transition {
	t.DriverStatus = nil
	if t.End != nil {
		end := *t.End
		t.End = &end
	}
	return &t
}

func (r *Relay) enqueue(s *stream, queued ...*queuedEvent) {
	if !r.HasSink() {
		return
	}
	s.queue = append(s.queue, queued...)
	r.instruments.addPending(len(queued))
}

// dequeue removes matching events from the queue.
func (r *Relay) dequeue(s *stream, match func(*queuedEvent) bool) {
	before := len(s.queue)
	s.queue = slices.DeleteFunc(s.queue, func(e *queuedEvent) bool {
		if !match(e) {
			return false
		}
		close(e.done)
		return true
	})
	r.instruments.addPending(len(s.queue) - before)
}

// advanceCursor counts all published transitions as acknowledged if none is left in the queue.
func (s *stream) advanceCursor() {
	if !slices.ContainsFunc(s.queue, func(e *queuedEvent) bool { return e.transition != nil }) {
		s.acknowledged = max(s.acknowledged, s.sequence)
	}
}

// clockEvents returns the clock events in the queue, the oldest first.
func (s *stream) clockEvents() []*queuedEvent {
	return slices.DeleteFunc(slices.Clone(s.queue), func(e *queuedEvent) bool { return e.clock == nil })
}

func (s *stream) progress() Progress {
	p := Progress{
		Acknowledged: s.acknowledged,
		Rejected:     s.rejected,
		Pending:      len(s.queue),
		SinkFailure:  s.sinkFailure,
		LastError:    s.lastError,
	}
	if request := s.request; request != nil {
		if request.overdue {
			p.OverdueHandler = request.handler
		}
		if p.LastError == "" {
			p.LastError = request.lastError
		}
	}
	return p
}
