package events

import (
	"context"
	"errors"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.opentelemetry.io/otel/trace"
	"knative.dev/pkg/logging"
)

// request is an event that a handler has yet to act on. It is asked again and again until the object shows the
// deed done. Relay.mu guards what changes.
type handlerRequest struct {
	handler   string
	event     cloudevents.Event
	startedAt time.Time
	span      trace.SpanContext
	cancel    context.CancelFunc
	// firstSent is closed when the event's ordinary emission, in its place in the stream, is over; ahead says that it
	// was not when the question was first asked.
	firstSent <-chan struct{}
	queued    bool

	overdue   bool
	lastError string
}

func (q *handlerRequest) matches(a *PendingRequest) bool {
	return q.handler == a.Handler && q.event.ID() == a.Event.ID() && q.event.Type() == a.Event.Type()
}

// updateRequest begins and ends the asking, as the newest story has it.
func (r *Relay) updateRequest(s *stream, story Snapshot) {
	a := story.Request
	if a != nil && s.request != nil && s.request.matches(a) {
		return
	}
	r.cancelRequest(s)
	if a == nil {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	q := &handlerRequest{
		handler: a.Handler, event: a.Event.Clone(), startedAt: r.config.Clock.Now(), span: story.Span, cancel: cancel,
	}
	q.firstSent = r.firstSend(s, q)
	q.queued = !isClosed(q.firstSent)
	s.request = q
	r.instruments.addAwaited(q.handler, 1)
	r.start(func() { r.repeat(ctx, s, q) })
	r.start(func() { r.reportOverdue(ctx, s, q) })
}

func (r *Relay) cancelRequest(s *stream) {
	if s.request == nil {
		return
	}
	s.request.cancel()
	r.instruments.addAwaited(s.request.handler, -1)
	s.request = nil
}

// firstSend finds an awaited event's place in the stream. A clock event, which no record holds, gets one.
// The channel is closed when that emission is over: at once if it was before, and never without a sink.
func (r *Relay) firstSend(s *stream, q *handlerRequest) <-chan struct{} {
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
		return r.enqueueClockEvent(s, q)
	}
	over := make(chan struct{})
	close(over)
	return over
}

// maxQueuedClockEvents bounds the clock events of one object that wait for a sink which takes none.
const maxQueuedClockEvents = 64

var errTooManyClockEvents = errors.New("too many clock events wait for the sink")

func (r *Relay) enqueueClockEvent(s *stream, q *handlerRequest) <-chan struct{} {
	waiting := s.clockEvents()
	if len(waiting) == maxQueuedClockEvents {
		oldest := waiting[0]
		r.reportRejection(s, oldest, *oldest.clock, errTooManyClockEvents)
		r.removeQueued(s, func(i *queuedEvent) bool { return i == oldest })
	}
	i := &queuedEvent{clock: &q.event, span: q.span, done: make(chan struct{})}
	r.enqueue(s, i)
	return i.done
}

var errUnreachable = errors.New("the handler does not run in process, and there is no sink")

// repeat brings the event to its handler, at once and then with back-off. It asks each time anew where the handler
// runs, since that is a setting.
func (r *Relay) repeat(ctx context.Context, s *stream, q *handlerRequest) {
	asked := 0
	for ctx.Err() == nil {
		moved := r.settingsChange()
		switch {
		case r.inProcess(q.handler):
			r.recordAttempt(ctx, s, q, r.callHandler(s, q))
		case !r.HasSink():
			r.recordAttempt(ctx, s, q, errUnreachable)
		case asked == 0 && q.queued:
			// The ordinary emission is the first.
			r.wait(ctx, r.config.RequestBackoff.Cap, q.firstSent, moved)
			if !isClosed(q.firstSent) {
				continue
			}
		case isClosed(q.firstSent):
			r.recordAttempt(ctx, s, q, r.sendOnce(s, r.config.Requests, q.event, q.span))
		}
		r.wait(ctx, r.config.RequestBackoff.delay(asked), nil, moved)
		asked++
	}
}

// callHandler calls a handler in this process. What it has begun goes on when the question is answered, as it is by
// the first of several deeds, or when the object is gone.
func (r *Relay) callHandler(s *stream, q *handlerRequest) error {
	logger := r.config.Logger.With("object", s.object.Key(), "handler", q.handler, "event", q.event.ID())
	ctx, span := r.startSpan(logging.WithLogger(r.ctx, logger), "handle", trace.SpanKindConsumer, q.event, q.span)
	err := r.config.Handlers.Deliver(ctx, q.handler, q.event)
	endSpan(span, err)
	return err
}

func (r *Relay) inProcess(handler string) bool {
	return r.config.Handlers != nil && r.config.Handlers.InProcess(handler)
}

func (r *Relay) recordAttempt(ctx context.Context, s *stream, q *handlerRequest, err error) {
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

// reportOverdue makes it known when a handler keeps an object waiting.
func (r *Relay) reportOverdue(ctx context.Context, s *stream, q *handlerRequest) {
	timer := r.config.Clock.NewTimer(r.config.ReportAfter)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
		return
	}
	if r.markOverdue(s, q) {
		r.instruments.recordOverdue(q.handler)
		r.config.OnProgress(s.object.Key())
	}
}

func (r *Relay) markOverdue(s *stream, q *handlerRequest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	q.overdue = s.request == q
	return q.overdue
}
