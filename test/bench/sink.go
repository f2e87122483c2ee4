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
}

// arrival is the event of a state of an application.
type arrival struct{ application, state string }

func newSink() *sink {
	s := &sink{awaits: map[arrival]chan time.Time{}}
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

// ServeHTTP takes an event.
func (s *sink) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	at := time.Now()
	_, _ = io.Copy(io.Discard, request.Body)
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
