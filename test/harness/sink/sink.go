// Package sink runs sinks for events. A [Sink] runs in the test's own process and answers as the test decides. The program
// in failing is a process of its own that fails as brokers do.
package sink

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

// Answer returns the HTTP status for an event. It may block until the sender's timeout, which ends the request's context.
type Answer func(request *http.Request, entry eventlog.Entry) int

// Accept takes each event.
func Accept(*http.Request, eventlog.Entry) int { return http.StatusAccepted }

// Sink stores the events of each namespace and answers them.
type Sink struct {
	server *httptest.Server

	mutex   sync.Mutex
	events  map[string][]eventlog.Entry
	answers map[string]Answer
	// changed is closed when a namespace has another event.
	changed map[string]chan struct{}
}

// New starts a sink that accepts all events.
func New() *Sink {
	s := &Sink{events: map[string][]eventlog.Entry{}, answers: map[string]Answer{}, changed: map[string]chan struct{}{}}
	s.server = httptest.NewServer(s)
	return s
}

// Close stops the sink.
func (s *Sink) Close() {
	s.server.CloseClientConnections()
	s.server.Close()
}

// URL is the address of the sink.
func (s *Sink) URL() string { return s.server.URL }

// SetAnswer sets how the events of a namespace are answered from now on.
func (s *Sink) SetAnswer(namespace string, answer Answer) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.answers[namespace] = answer
}

// ServeHTTP receives an event.
func (s *Sink) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	entry := eventlog.Entry{At: time.Now(), Attributes: eventlog.Attributes(request.Header), Body: string(body)}
	namespace := entry.Attributes["sparknamespace"]
	entry.Answer = s.answer(namespace)(request, entry)
	entry.Taken = entry.Answer >= 200 && entry.Answer < 300
	s.store(namespace, entry)
	w.WriteHeader(entry.Answer)
}

func (s *Sink) answer(namespace string) Answer {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if answer, ok := s.answers[namespace]; ok {
		return answer
	}
	return Accept
}

func (s *Sink) store(namespace string, entry eventlog.Entry) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.events[namespace] = append(s.events[namespace], entry)
	if changed, ok := s.changed[namespace]; ok {
		close(changed)
		delete(s.changed, namespace)
	}
}

// Events returns the events of a namespace until now, in the order in which they were answered, and a channel that is closed
// when there is another.
func (s *Sink) Events(namespace string) ([]eventlog.Entry, <-chan struct{}) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.changed[namespace] == nil {
		s.changed[namespace] = make(chan struct{})
	}
	return slices.Clone(s.events[namespace]), s.changed[namespace]
}
