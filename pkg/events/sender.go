package events

import (
	"encoding/json"
	"errors"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.opentelemetry.io/otel/trace"

	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

// startSender starts the goroutine that sends a stream's queue, if the queue has events and no such goroutine runs.
func (r *Relay) startSender(s *stream) {
	if s.sending || len(s.queue) == 0 {
		return
	}
	s.sending = true
	r.start(func() {
		for e := r.next(s); e != nil; e = r.next(s) {
			r.send(s, e)
		}
		if s.ctx.Err() == nil {
			r.config.OnProgress(s.object.Key())
		}
	})
}

// next returns the first event of the queue. If the queue is empty it returns nil, and the sender must end.
func (r *Relay) next(s *stream) *queuedEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(s.queue) == 0 {
		s.sending = false
		return nil
	}
	return s.queue[0]
}

// send sends one event until the sink acknowledges it, until it is rejected MaxRejections times, or until it left the queue.
func (r *Relay) send(s *stream, e *queuedEvent) {
	event, err := e.event(s.object)
	if err != nil {
		r.skip(s, e, event, err)
		return
	}
	backoff := r.config.SendBackoff
	for rejections := 0; !isClosed(e.done) && s.ctx.Err() == nil; {
		err := r.sendOnce(s, r.config.Sends, event, e.span)
		if IsRejected(err) {
			rejections++
		}
		switch {
		case err == nil:
			r.acknowledge(s, e)
			return
		case rejections == r.config.MaxRejections:
			r.skip(s, e, event, err)
			return
		}
		r.reportFailure(s, event, err)
		r.sleep(s.ctx, backoff.Step(), e.done, nil)
	}
}

// sendOnce sends an event once. It holds a slot only during the send, so an object in back-off holds none.
func (r *Relay) sendOnce(s *stream, slots *fairshare.Limiter, event cloudevents.Event, parent trace.SpanContext) error {
	ctx := s.ctx
	release, err := slots.Acquire(ctx, s.object.Namespace)
	if err != nil {
		return err
	}
	defer release()
	traced, span := r.startSpan(ctx, "send", trace.SpanKindProducer, event, parent)
	err = r.config.Sink.Send(traced, event)
	endSpan(span, err)
	if ctx.Err() == nil {
		r.instruments.recordSend(event.Type(), err)
	}
	return err
}

// acknowledge completes an event that the sink has acknowledged.
func (r *Relay) acknowledge(s *stream, e *queuedEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.recordAnswer("")
	if e.transition != nil {
		r.instruments.recordDelivery(r.config.Clock.Since(e.transition.Time.Time))
	}
	r.complete(s, e)
}

// complete removes an event from the queue and advances the cursor.
func (r *Relay) complete(s *stream, completed *queuedEvent) {
	s.acknowledged = max(s.acknowledged, completed.sequence())
	r.dequeue(s, func(e *queuedEvent) bool { return e == completed })
	s.advanceCursor()
}

// skip completes an event that the sink will never accept, and logs the whole event.
func (r *Relay) skip(s *stream, e *queuedEvent, event cloudevents.Event, err error) {
	r.reportRejection(s, e, event, err)
	r.mu.Lock()
	s.recordAnswer(err.Error())
	if e.transition != nil && !isClosed(e.done) {
		s.rejected++
	}
	r.complete(s, e)
	r.mu.Unlock()
	r.config.OnProgress(s.object.Key())
}

// reportRejection counts a skipped event and logs it. If no event could be made, it logs the transition's data.
func (r *Relay) reportRejection(s *stream, e *queuedEvent, event cloudevents.Event, err error) {
	r.instruments.recordRejection(event.Type())
	var skipped any = event
	if event.Context == nil {
		skipped = transitionData(s.object, *e.transition)
	}
	text, _ := json.Marshal(skipped)
	r.config.Logger.With(s.object.LogKeys()...).Errorw("event rejected by the sink and skipped", "error", err, "event", json.RawMessage(text))
}

// recordAnswer records that the sink answered. An acknowledgement has no error.
func (s *stream) recordAnswer(lastError string) {
	s.lastError, s.failingSince, s.sinkFailure = lastError, time.Time{}, ""
}

func (r *Relay) reportFailure(s *stream, event cloudevents.Event, err error) {
	if s.ctx.Err() != nil {
		return
	}
	warn, report := r.recordFailure(s, err)
	logger := r.config.Logger.With(s.object.LogKeys()...)
	log := logger.Debugw
	if warn {
		log = logger.Warnw
	}
	log("sending an event failed and is retried", "id", event.ID(), "error", err)
	if report {
		r.config.OnProgress(s.object.Key())
	}
}

// recordFailure records a failed send. warn reports whether a warning is due, and report whether the sink has failed for
// ReportAfter now.
func (r *Relay) recordFailure(s *stream, err error) (warn, report bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.config.Clock.Now()
	if s.failingSince.IsZero() {
		s.failingSince = now
	}
	s.lastError = err.Error()
	if s.sinkFailure == "" && (errors.Is(err, errInvalidSink) || now.Sub(s.failingSince) >= r.config.ReportAfter) {
		s.sinkFailure, report = s.lastError, true
	}
	if warn = now.Sub(r.lastWarning) >= warningInterval; warn {
		r.lastWarning = now
	}
	return warn, report
}

// warningInterval is the least time between two warnings about failed sends. Other failures are logged at debug.
const warningInterval = time.Minute

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
