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

// stream is one object's story on its way to the sink. Relay.mu guards it.
type stream struct {
	object Object
	ctx    context.Context
	stop   context.CancelFunc

	// sequence is the last transition that was told to the relay, and sequenceTime that transition's time.
	sequence     int64
	sequenceTime time.Time
	// acknowledged is the last transition that the sink has taken, here or by the record's word.
	acknowledged int64
	rejected     int64
	// queue is what the sink has not taken, in order.
	queue     []*queuedEvent
	sending   bool
	lastError string
	// failingSince is when the first send failed after the last that did not, and undelivered why, once it is worth telling.
	failingSince time.Time
	sinkFailure  string
	// request is what awaits a handler.
	request *handlerRequest
}

// queuedEvent is an event to be sent: a transition, whose event is made when it is sent, or a clock event.
type queuedEvent struct {
	transition *v1alpha1.Transition
	clock      *cloudevents.Event
	span       trace.SpanContext
	// done is closed when the item needs no more sending.
	done chan struct{}
}

func (i *queuedEvent) sequence() int64 {
	if i.transition == nil {
		return 0
	}
	return i.transition.Sequence
}

func (i *queuedEvent) id(o Object) string {
	if i.clock != nil {
		return i.clock.ID()
	}
	return eventID(o, sequenceText(i.sequence()))
}

func (i *queuedEvent) event(o Object) (cloudevents.Event, error) {
	if i.clock != nil {
		return *i.clock, nil
	}
	return NewTransitionEvent(o, *i.transition)
}

// streamFor finds or begins an object's stream. It is nil for a story that is older than what was heard.
func (r *Relay) streamFor(story Snapshot) *stream {
	s, known := r.streams[story.Object.UID]
	if known && story.Record != nil && story.Record.Sequence < s.sequence {
		if !lastTime(story.Record).After(s.sequenceTime) {
			return nil
		}
		// The record was lost and begun anew.
		r.forget(story.Object.UID)
		known = false
	}
	if !known {
		s = &stream{object: story.Object}
		s.ctx, s.stop = context.WithCancel(r.ctx)
		r.streams[story.Object.UID] = s
	}
	return s
}

func lastTime(record *v1alpha1.Record) time.Time {
	if len(record.Transitions) == 0 {
		return time.Time{}
	}
	return record.Transitions[len(record.Transitions)-1].Time.Time
}

// updateQueue takes what is new in a record into the queue, and what somebody else has delivered out of it.
func (r *Relay) updateQueue(s *stream, story Snapshot) {
	record := story.Record
	if record == nil {
		return
	}
	s.rejected = max(s.rejected, record.Rejected)
	if record.Acknowledged > s.acknowledged {
		s.acknowledged = record.Acknowledged
		r.removeQueued(s, func(i *queuedEvent) bool { return i.transition != nil && i.sequence() <= record.Acknowledged })
	}
	if record.Sequence > s.sequence {
		r.enqueue(s, newTransitions(story, max(s.sequence, s.acknowledged))...)
		s.sequence, s.sequenceTime = record.Sequence, lastTime(record)
	}
	s.advanceCursor()
}

// newTransitions are the transitions after a sequence, in order. Those that the record no longer holds are passed over.
func newTransitions(story Snapshot, after int64) []*queuedEvent {
	var items []*queuedEvent
	for _, t := range story.Record.Transitions {
		if t.Sequence > after && t.Sequence <= story.Record.Sequence {
			items = append(items, &queuedEvent{transition: cloneForEvent(t), span: story.Span, done: make(chan struct{})})
		}
	}
	slices.SortStableFunc(items, func(a, b *queuedEvent) int { return cmp.Compare(a.sequence(), b.sequence()) })
	return items
}

// cloneForEvent is a copy of what a transition's event is made from, which the record's owner cannot change.
func cloneForEvent(t v1alpha1.Transition) *v1alpha1.Transition {
	t.DriverStatus = nil
	if t.End != nil {
		end := *t.End
		t.End = &end
	}
	return &t
}

func (r *Relay) enqueue(s *stream, items ...*queuedEvent) {
	if !r.HasSink() {
		return
	}
	s.queue = append(s.queue, items...)
	r.instruments.addPending(len(items))
}

// removeQueued takes items out of the queue.
func (r *Relay) removeQueued(s *stream, needless func(*queuedEvent) bool) {
	before := len(s.queue)
	s.queue = slices.DeleteFunc(s.queue, func(i *queuedEvent) bool {
		if !needless(i) {
			return false
		}
		close(i.done)
		return true
	})
	r.instruments.addPending(len(s.queue) - before)
}

// advanceCursor moves the cursor over what is acknowledged because nothing before it waits any more.
func (s *stream) advanceCursor() {
	if !slices.ContainsFunc(s.queue, func(i *queuedEvent) bool { return i.transition != nil }) {
		s.acknowledged = max(s.acknowledged, s.sequence)
	}
}

// clockEvents are the clock events in the queue, the oldest first.
func (s *stream) clockEvents() []*queuedEvent {
	return slices.DeleteFunc(slices.Clone(s.queue), func(i *queuedEvent) bool { return i.clock == nil })
}

func (s *stream) progress() Progress {
	p := Progress{
		Acknowledged: s.acknowledged,
		Rejected:     s.rejected,
		Pending:      len(s.queue),
		SinkFailure:  s.sinkFailure,
		LastError:    s.lastError,
	}
	if q := s.request; q != nil {
		if q.overdue {
			p.OverdueHandler, p.RequestedAt = q.handler, q.startedAt
		}
		if p.LastError == "" {
			p.LastError = q.lastError
		}
	}
	return p
}
