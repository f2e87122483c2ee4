package events

import (
	"encoding/json"
	"errors"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.opentelemetry.io/otel/trace"

	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

// startSender gives a stream its sender, where it has something to send and no sender yet.
func (r *Relay) startSender(s *stream) {
	if s.sending || len(s.queue) == 0 {
		return
	}
	s.sending = true
	r.start(func() {
		for i := r.next(s); i != nil; i = r.next(s) {
			r.send(s, i)
		}
		if s.ctx.Err() == nil {
			r.config.OnProgress(s.object.Key())
		}
	})
}

// next is what is to be sent next. When there is nothing, the sender is about to end.
func (r *Relay) next(s *stream) *queuedEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(s.queue) == 0 {
		s.sending = false
		return nil
	}
	return s.queue[0]
}

// send sends one event until the sink has taken it, or refused it for good, or until that is needless.
func (r *Relay) send(s *stream, i *queuedEvent) {
	event, err := i.event(s.object)
	if err != nil {
		r.skip(s, i, event, err)
		return
	}
	rejections := 0
	for try := 0; !isClosed(i.done) && s.ctx.Err() == nil; try++ {
		err := r.sendOnce(s, r.config.Sends, event, i.span)
		if IsRejected(err) {
			rejections++
		}
		switch {
		case err == nil:
			r.acknowledged(s, i)
			return
		case rejections == r.config.MaxRejections:
			r.skip(s, i, event, err)
			return
		}
		r.reportFailure(s, event, err)
		r.wait(s.ctx, r.config.SendBackoff.delay(try), i.done, nil)
	}
}

// sendOnce sends an event once. A slot is held for the time of the send only, so that an object in back-off holds none.
func (r *Relay) sendOnce(s *stream, slots *fairshare.Limiter, event cloudevents.Event, cause trace.SpanContext) error {
	ctx := s.ctx
	release, err := slots.Acquire(ctx, s.object.Namespace)
	if err != nil {
		return err
	}
	defer release()
	traced, span := r.startSpan(ctx, "send", trace.SpanKindProducer, event, cause)
	err = r.config.Sink.Send(traced, event)
	endSpan(span, err)
	if ctx.Err() == nil {
		r.instruments.recordSend(event.Type(), err)
	}
	return err
}

func (r *Relay) acknowledged(s *stream, i *queuedEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.setLastError("")
	if i.transition != nil {
		r.instruments.recordDelivery(r.config.Clock.Since(i.transition.Time.Time))
	}
	r.complete(s, i)
}

// complete takes an item out of the queue and moves the cursor.
func (r *Relay) complete(s *stream, done *queuedEvent) {
	s.acknowledged = max(s.acknowledged, done.sequence())
	r.removeQueued(s, func(i *queuedEvent) bool { return i == done })
	s.advanceCursor()
}

// skip gives up on an event that the sink will never take. The log keeps the whole of it.
func (r *Relay) skip(s *stream, i *queuedEvent, event cloudevents.Event, err error) {
	r.reportRejection(s, i, event, err)
	r.mu.Lock()
	s.setLastError(err.Error())
	if i.transition != nil && !isClosed(i.done) {
		s.rejected++
	}
	r.complete(s, i)
	r.mu.Unlock()
	r.config.OnProgress(s.object.Key())
}

func (r *Relay) reportRejection(s *stream, i *queuedEvent, event cloudevents.Event, err error) {
	r.instruments.recordRejection(event.Type())
	var whole any = event
	if event.Context == nil {
		whole = transitionData(s.object, *i.transition)
	}
	text, _ := json.Marshal(whole)
	r.config.Logger.Errorw("event was rejected and is passed over",
		"object", s.object.Key(), "error", err, "event", json.RawMessage(text))
}

// setLastError notes that the sink is there.
func (s *stream) setLastError(with string) {
	s.lastError, s.failingSince, s.sinkFailure = with, time.Time{}, ""
}

func (r *Relay) reportFailure(s *stream, event cloudevents.Event, err error) {
	if s.ctx.Err() != nil {
		return
	}
	warn, overdue := r.recordFailure(s, err)
	log := r.config.Logger.Debugw
	if warn {
		log = r.config.Logger.Warnw
	}
	log("event is not taken by the sink and is sent again", "object", s.object.Key(), "id", event.ID(), "error", err)
	if overdue {
		r.config.OnProgress(s.object.Key())
	}
}

// recordFailure says whether a failure is worth a line to everybody, and whether ReportAfter with the sink has just ended.
func (r *Relay) recordFailure(s *stream, err error) (warn, overdue bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.config.Clock.Now()
	if s.failingSince.IsZero() {
		s.failingSince = now
	}
	s.lastError = err.Error()
	if s.sinkFailure == "" && (errors.Is(err, errInvalidSink) || now.Sub(s.failingSince) >= r.config.ReportAfter) {
		s.sinkFailure, overdue = s.lastError, true
	}
	if warn = now.Sub(r.lastWarning) >= warningInterval; warn {
		r.lastWarning = now
	}
	return warn, overdue
}

// warningInterval is how often a sink that fails is worth a line to everybody; it fails for each object and try.
const warningInterval = time.Minute

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
