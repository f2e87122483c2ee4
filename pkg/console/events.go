package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/access"
)

const (
	// keepAlive is how often something is sent on a stream, so that no proxy ends it.
	keepAlive = 15 * time.Second
	// sessionPeriod is how often it is checked whether the token of a stream is still good.
	sessionPeriod = 15 * time.Second
)

// EventStream sends server-sent events.
type EventStream struct {
	ctx   context.Context
	end   context.CancelCauseFunc
	mutex sync.Mutex
	to    *patientWriter
	// reader is who reads, as of the last check.
	reader Reader
}

// Events begins a stream of server-sent events. It ends with the request, or when its reader is no longer authenticated. The caller ends it by End.
func (q *Request) Events() (*EventStream, error) {
	q.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	q.w.Header().Set("X-Accel-Buffering", "no") // nginx gathers what it passes on, otherwise
	to, err := q.patientWriter()
	if err != nil {
		return nil, err
	}
	s := &EventStream{to: to, reader: q.Reader}
	s.ctx, s.end = context.WithCancelCause(q.Context())
	go s.followSession(q)
	go s.keepAlive()
	return s, nil
}

// Context ends with the stream.
func (s *EventStream) Context() context.Context { return s.ctx }

// End ends the stream.
func (s *EventStream) End() {
	s.mutex.Lock() // nothing is written after the answer
	defer s.mutex.Unlock()
	s.end(nil)
}

// Reader returns who reads, as of the last check.
func (s *EventStream) Reader() Reader {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.reader
}

// followSession ends the stream when its reader is no longer authenticated.
func (s *EventStream) followSession(q *Request) {
	ticker := time.NewTicker(q.sessionPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		}
		reader, err := q.guard.Reader(q.Request)
		switch {
		case errors.Is(err, access.ErrUnauthenticated):
			s.end(err)
			return
		case err == nil:
			s.mutex.Lock()
			s.reader = reader
			s.mutex.Unlock()
		}
	}
}

// keepAlive sends comments, until the client leaves.
func (s *EventStream) keepAlive() {
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		}
		if err := s.write(":\n\n"); err != nil {
			s.end(err)
			return
		}
	}
}

// Send sends an event. Its id is where a client goes on that comes again.
func (s *EventStream) Send(name string, id uint64, data any) error {
	encoded, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	return s.write(fmt.Sprintf("event: %s\nid: %d\ndata: %s\n\n", name, id, encoded))
}

func (s *EventStream) write(text string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if _, err := s.to.Write([]byte(text)); err != nil {
		return err
	}
	return s.to.control.Flush()
}
