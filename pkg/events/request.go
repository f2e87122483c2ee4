package events

import (
	"context"
	"errors"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.opentelemetry.io/otel/trace"
	"knative.dev/pkg/logging"
)

// handlerRequest is an event that a handler has not acted on yet. The relay repeats it until the object shows the result.
type handlerRequest struct {
	handler string
	event   cloudevents.Event
	span    trace.SpanContext
	cancel  context.CancelFunc
	// firstSent is closed when the event has left the object's queue. It is nil without a sink.
	firstSent <-chan struct{}
	// queued reports whether the event was still in the queue when the request started.
	queued bool

	// Relay.mu guards the fields below.
	overdue   bool
	lastError string
}

func (q *handlerRequest) matches(p *PendingRequest) bool {
	return q.handler == p.Handler && q.event.ID() == p.Event.ID() && q.event.Type() == p.Event.Type()
}

// updateRequest starts or cancels the request to a handler, as the snapshot requires.
func (r *Relay) updateRequest(s *stream, snapshot Snapshot) {
	pending := snapshot.Request
	if pending != nil && s.request != nil && s.request.matches(pending) {
		return
	}
	r.cancelRequest(s)
	if pending == nil {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	q := &handlerRequest{
		handler: pending.Handler, event: pending.Event.Clone(), span: snapshot.Span, cancel: cancel,
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

// firstSend returns a channel that is closed when the event has left the object's queue. If it left the queue before, the
// channel is closed already. A clock event is in no record, so firstSend enqueues it. Without a sink firstSend returns nil.
func (r *Relay) firstSend(s *stream, q *handlerRequest) <-chan struct{} {
	if !r.HasSink() {
		return nil
	}
	for _, e := range s.queue {
		if e.id(s.object) == q.event.ID() {
			return e.done
		}
	}
	if _, isTransition := q.event.Extensions()[ExtensionSequence]; !isTransition {
		return r.enqueueClockEvent(s, q)
	}
	sent := make(chan struct{})
	close(sent)
	return sent
}

// maxQueuedClockEvents bounds the clock events of one object that wait for a failing sink.
const maxQueuedClockEvents = 64

var errTooManyClockEvents = errors.New("too many clock events wait for the sink")

func (r *Relay) enqueueClockEvent(s *stream, q *handlerRequest) <-chan struct{} {
	queued := s.clockEvents()
	if len(queued) == maxQueuedClockEvents {
		oldest := queued[0]
		r.reportRejection(s, oldest, *oldest.clock, errTooManyClockEvents)
		r.dequeue(s, func(e *queuedEvent) bool { return e == oldest })
	}
	e := &queuedEvent{clock: &q.event, span: q.span, done: make(chan struct{})}
	r.enqueue(s, e)
	return e.done
}

var errUnreachable = errors.New("the handler does not run in process, and there is no sink")

// repeat requests the handler at once, and then with back-off. Before each attempt it reads the setting that says where the
// handler runs, since that setting can change.
func (r *Relay) repeat(ctx context.Context, s *stream, q *handlerRequest) {
	backoff := r.config.RequestBackoff
	first := true
	for ctx.Err() == nil {
		changed := r.settingsChange()
		switch {
		case r.runsInProcess(q.handler):
			r.recordAttempt(ctx, s, q, r.callHandler(s, q))
		case !r.HasSink():
			r.recordAttempt(ctx, s, q, errUnreachable)
		case first && q.queued:
			// The event's first send, when its turn in the queue comes, is the first request.
			r.sleep(ctx, r.config.RequestBackoff.Cap, q.firstSent, changed)
			if !isClosed(q.firstSent) {
				continue
			}
		case isClosed(q.firstSent):
			r.recordAttempt(ctx, s, q, r.sendOnce(s, r.config.Requests, q.event, q.span))
		}
		r.sleep(ctx, backoff.Step(), nil, changed)
		first = false
	}
}

// callHandler calls a handler in this process. The call continues if the request is cancelled meanwhile. That happens when the
// object shows the first result of several, or when it is deleted.
func (r *Relay) callHandler(s *stream, q *handlerRequest) error {
	logger := r.config.Logger.With(s.object.LogKeys()...).With("handler", q.handler, "event", q.event.ID())
	ctx, span := r.startSpan(logging.WithLogger(r.ctx, logger), "handle", trace.SpanKindConsumer, q.event, q.span)
	err := r.config.Handlers.Deliver(ctx, q.handler, q.event)
	endSpan(span, err)
	return err
}

func (r *Relay) runsInProcess(handler string) bool {
	return r.config.Handlers != nil && r.config.Handlers.InProcess(handler)
}

// recordAttempt records the error of a request. It logs an error only if it differs from the last one.
func (r *Relay) recordAttempt(ctx context.Context, s *stream, q *handlerRequest, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	r.mu.Lock()
	changed := text != q.lastError
	q.lastError = text
	r.mu.Unlock()
	if changed && err != nil && ctx.Err() == nil {
		r.config.Logger.With(s.object.LogKeys()...).Warnw("handler request failed and is repeated",
			"handler", q.handler, "event", q.event.ID(), "error", err)
	}
}

// reportOverdue reports a handler that has not acted for ReportAfter.
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
