package events

import (
	"context"
	"errors"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.opentelemetry.io/otel/trace"
	"knative.dev/pkg/logging"
)

// question is an event that a handler has yet to act on. It is asked again and again until the object shows the
// deed done. Relay.mu guards what changes.
type question struct {
	handler string
	event   cloudevents.Event
	since   time.Time
	cause   trace.SpanContext
	cancel  context.CancelFunc
	// told is closed when the event's ordinary emission, in its place in the stream, is over; ahead says that it
	// was not when the question was first asked.
	told  <-chan struct{}
	ahead bool

	overdue   bool
	lastError string
}

func (q *question) is(a *Awaiting) bool {
	return q.handler == a.Handler && q.event.ID() == a.Event.ID() && q.event.Type() == a.Event.Type()
}

// await begins and ends the asking, as the newest story has it.
func (r *Relay) await(s *stream, story Story) {
	a := story.Awaiting
	if a != nil && s.question != nil && s.question.is(a) {
		return
	}
	r.stopAsking(s)
	if a == nil {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	q := &question{
		handler: a.Handler, event: a.Event.Clone(), since: r.config.Clock.Now(), cause: story.Cause, cancel: cancel,
	}
	q.told = r.ordinaryEmission(s, q)
	q.ahead = !closed(q.told)
	s.question = q
	r.instruments.awaited(q.handler, 1)
	r.spawn(func() { r.ask(ctx, s, q) })
	r.spawn(func() { r.watchOver(ctx, s, q) })
}

func (r *Relay) stopAsking(s *stream) {
	if s.question == nil {
		return
	}
	s.question.cancel()
	r.instruments.awaited(s.question.handler, -1)
	s.question = nil
}

// ordinaryEmission finds an awaited event's place in the stream. A clock event, which no record holds, gets one.
// The channel is closed when that emission is over: at once if it was before, and never without a sink.
func (r *Relay) ordinaryEmission(s *stream, q *question) <-chan struct{} {
	event := q.event
	if !r.HasSink() {
		return nil
	}
	for _, i := range s.queue {
		if i.id(s.object) == event.ID() {
			return i.done
		}
	}
	if _, sequenced := event.Extensions()[ExtensionSequence]; !sequenced {
		return r.enqueueClock(s, q)
	}
	over := make(chan struct{})
	close(over)
	return over
}

// clockEventLimit bounds the clock events of one object that wait for a sink which takes none.
const clockEventLimit = 64

var errClockEventsPiledUp = errors.New("too many clock events wait for the sink")

func (r *Relay) enqueueClock(s *stream, q *question) <-chan struct{} {
	waiting := s.clocks()
	if len(waiting) == clockEventLimit {
		oldest := waiting[0]
		r.noteRejection(s, oldest, *oldest.clock, errClockEventsPiledUp)
		r.drop(s, func(i *item) bool { return i == oldest })
	}
	i := &item{clock: &q.event, cause: q.cause, done: make(chan struct{})}
	r.enqueue(s, i)
	return i.done
}

var errOutOfReach = errors.New("the handler does not run in process, and there is no sink")

// ask brings the event to its handler, at once and then with back-off. It asks each time anew where the handler
// runs, since that is a setting.
func (r *Relay) ask(ctx context.Context, s *stream, q *question) {
	asked := 0
	for ctx.Err() == nil {
		moved := r.nextMove()
		switch {
		case r.runsHere(q.handler):
			r.noteAnswer(ctx, s, q, r.deliver(s, q))
		case !r.HasSink():
			r.noteAnswer(ctx, s, q, errOutOfReach)
		case asked == 0 && q.ahead:
			// The ordinary emission is the first.
			r.pause(ctx, r.config.Repeat.Cap, q.told, moved)
			if !closed(q.told) {
				continue
			}
		case closed(q.told):
			r.noteAnswer(ctx, s, q, r.post(s, r.config.Requests, q.event, q.cause))
		}
		r.pause(ctx, r.config.Repeat.delay(asked), nil, moved)
		asked++
	}
}

// deliver calls a handler in this process. What it has begun goes on when the question is answered, as it is by
// the first of several deeds, or when the object is gone.
func (r *Relay) deliver(s *stream, q *question) error {
	logger := r.config.Logger.With("object", s.object.Key(), "handler", q.handler, "event", q.event.ID())
	ctx, span := r.span(logging.WithLogger(r.ctx, logger), "handle", trace.SpanKindConsumer, q.event, q.cause)
	err := r.config.Handlers.Deliver(ctx, q.handler, q.event)
	endSpan(span, err)
	return err
}

func (r *Relay) runsHere(handler string) bool {
	return r.config.Handlers != nil && r.config.Handlers.InProcess(handler)
}

func (r *Relay) noteAnswer(ctx context.Context, s *stream, q *question, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	r.mu.Lock()
	news := text != q.lastError
	q.lastError = text
	r.mu.Unlock()
	if news && err != nil && ctx.Err() == nil {
		r.config.Logger.Warnw("handler is asked again later",
			"object", s.object.Key(), "handler", q.handler, "event", q.event.ID(), "error", err)
	}
}

// watchOver makes it known when a handler keeps an object waiting.
func (r *Relay) watchOver(ctx context.Context, s *stream, q *question) {
	timer := r.config.Clock.NewTimer(r.config.Patience)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
		return
	}
	if r.markOverdue(s, q) {
		r.instruments.overdue(q.handler)
		r.config.OnProgress(s.object.Key())
	}
}

func (r *Relay) markOverdue(s *stream, q *question) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	q.overdue = s.question == q
	return q.overdue
}
