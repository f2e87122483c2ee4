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
	r.spawn(func() {
		for i := r.head(s); i != nil; i = r.head(s) {
			r.tell(s, i)
		}
		if s.ctx.Err() == nil {
			r.config.OnProgress(s.object.Key())
		}
	})
}

// head is what is to be sent next. When there is nothing, the sender is about to end.
func (r *Relay) head(s *stream) *item {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(s.queue) == 0 {
		s.sending = false
		return nil
	}
	return s.queue[0]
}

// tell sends one event until the sink has taken it, or refused it for good, or until that is needless.
func (r *Relay) tell(s *stream, i *item) {
	event, err := i.event(s.object)
	if err != nil {
		r.passOver(s, i, event, err)
		return
	}
	rejections := 0
	for try := 0; !closed(i.done) && s.ctx.Err() == nil; try++ {
		err := r.post(s, r.config.Sends, event, i.cause)
		if IsRejected(err) {
			rejections++
		}
		switch {
		case err == nil:
			r.taken(s, i)
			return
		case rejections == r.config.Tries:
			r.passOver(s, i, event, err)
			return
		}
		r.noteFailure(s, event, err)
		r.pause(s.ctx, r.config.Retry.delay(try), i.done, nil)
	}
}

// post sends an event once. A slot is held for the time of the send only, so that an object in back-off holds none.
func (r *Relay) post(s *stream, slots *fairshare.Limiter, event cloudevents.Event, cause trace.SpanContext) error {
	ctx := s.ctx
	release, err := slots.Acquire(ctx, s.object.Namespace)
	if err != nil {
		return err
	}
	defer release()
	traced, span := r.span(ctx, "send", trace.SpanKindProducer, event, cause)
	err = r.config.Sink.Send(traced, event)
	endSpan(span, err)
	if ctx.Err() == nil {
		r.instruments.posted(event.Type(), err)
	}
	return err
}

func (r *Relay) taken(s *stream, i *item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.answered("")
	if i.transition != nil {
		r.instruments.took(r.config.Clock.Since(i.transition.Time.Time))
	}
	r.finish(s, i)
}

// finish takes an item out of the queue and moves the cursor.
func (r *Relay) finish(s *stream, done *item) {
	s.acknowledged = max(s.acknowledged, done.sequence())
	r.drop(s, func(i *item) bool { return i == done })
	s.settle()
}

// passOver gives up on an event that the sink will never take. The log keeps the whole of it.
func (r *Relay) passOver(s *stream, i *item, event cloudevents.Event, err error) {
	r.noteRejection(s, i, event, err)
	r.mu.Lock()
	s.answered(err.Error())
	if i.transition != nil && !closed(i.done) {
		s.rejected++
	}
	r.finish(s, i)
	r.mu.Unlock()
	r.config.OnProgress(s.object.Key())
}

func (r *Relay) noteRejection(s *stream, i *item, event cloudevents.Event, err error) {
	r.instruments.rejected(event.Type())
	var whole any = event
	if event.Context == nil {
		whole = transitionData(s.object, *i.transition)
	}
	text, _ := json.Marshal(whole)
	r.config.Logger.Errorw("event was rejected and is passed over",
		"object", s.object.Key(), "error", err, "event", json.RawMessage(text))
}

// answered notes that the sink is there.
func (s *stream) answered(with string) {
	s.lastError, s.failingSince, s.undelivered = with, time.Time{}, ""
}

func (r *Relay) noteFailure(s *stream, event cloudevents.Event, err error) {
	if s.ctx.Err() != nil {
		return
	}
	warn, impatient := r.markFailure(s, err)
	log := r.config.Logger.Debugw
	if warn {
		log = r.config.Logger.Warnw
	}
	log("event is not taken by the sink and is sent again", "object", s.object.Key(), "id", event.ID(), "error", err)
	if impatient {
		r.config.OnProgress(s.object.Key())
	}
}

// markFailure says whether a failure is worth a line to everybody, and whether Patience with the sink has just ended.
func (r *Relay) markFailure(s *stream, err error) (warn, impatient bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.config.Clock.Now()
	if s.failingSince.IsZero() {
		s.failingSince = now
	}
	s.lastError = err.Error()
	if s.undelivered == "" && (errors.Is(err, errUnusable) || now.Sub(s.failingSince) >= r.config.Patience) {
		s.undelivered, impatient = s.lastError, true
	}
	if warn = now.Sub(r.warned) >= warnEvery; warn {
		r.warned = now
	}
	return warn, impatient
}

// warnEvery is how often a sink that fails is worth a line to everybody; it fails for each object and try.
const warnEvery = time.Minute

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
