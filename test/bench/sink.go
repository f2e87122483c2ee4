package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"
)

// sink takes all events, and counts them.
type sink struct {
	server *httptest.Server
	taken  atomic.Int64
	mutex  sync.Mutex
	awaits map[arrival]chan time.Time
	// waits holds the namespaces whose events are kept waiting.
	waits map[string]waiting
}

// waiting is how long the events of a namespace are kept waiting, until released is closed.
type waiting struct {
	answer   time.Duration
	released chan struct{}
}

// arrival is the event of a state of an application.
type arrival struct{ application, state string }

func newSink() *sink {
	s := &sink{awaits: map[arrival]chan time.Time{}, waits: map[string]waiting{}}
	s.server = httptest.NewServer(s)
	return s
}

func (s *sink) close() {
	s.server.CloseClientConnections()
	s.server.Close()
}

func (s *sink) url() string { return s.server.URL }

// await returns a channel to which the instant is sent at which an event arrives, once.
func (s *sink) await(application, state string) <-chan time.Time {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	news := make(chan time.Time, 1)
	s.awaits[arrival{application, state}] = news
	return news
}

// hold keeps each event of a namespace waiting for so long, as a slow Trigger does behind a Broker, until release is called.
func (s *sink) hold(namespace string, answer time.Duration) (release func()) {
	w := waiting{answer: answer, released: make(chan struct{})}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.waits[namespace] = w
	return sync.OnceFunc(func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		delete(s.waits, namespace)
		close(w.released)
	})
}

// wait keeps an event waiting if its namespace is held.
func (s *sink) wait(request *http.Request) {
	s.mutex.Lock()
	w, waits := s.waits[request.Header.Get("Ce-Sparknamespace")]
	s.mutex.Unlock()
	if !waits {
		return
	}
	timer := time.NewTimer(w.answer)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.released:
	case <-request.Context().Done():
	}
}

// ServeHTTP takes an event.
func (s *sink) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	at := time.Now()
	_, _ = io.Copy(io.Discard, request.Body)
	s.wait(request)
	w.WriteHeader(http.StatusAccepted)
	s.taken.Add(1)
	what := arrival{request.Header.Get("Ce-Sparkname"), request.Header.Get("Ce-Sparkstate")}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if news, awaited := s.awaits[what]; awaited {
		delete(s.awaits, what)
		news <- at
	}
}
