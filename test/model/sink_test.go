package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

var errSink = errors.New("the sink is down")

// sink takes events or not, and adds them to the history.
type sink struct {
	t       *testing.T
	calm    func() bool
	history *invariants.History

	mu     sync.Mutex
	random *rand.Rand
	taken  int
}

// Send delivers an event.
func (s *sink) Send(_ context.Context, event cloudevents.Event) error {
	entry, err := eventlog.New(event)
	if err != nil {
		s.t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fault := s.random.IntN(6)
	if s.calm() {
		fault = -1
	}
	entry.Taken = fault != 0
	s.history.SawEvent(entry)
	if entry.Taken {
		s.taken++
	}
	if fault == 0 || fault == 1 { // 1: it took the event all the same
		return errSink
	}
	return nil
}

// sentBy is the sink as one process reaches it, until that dies.
type sentBy struct {
	sink       events.Sink
	connection *connection
}

func (s sentBy) Send(ctx context.Context, event cloudevents.Event) error {
	s.connection.awake()
	s.connection.latency()
	if s.connection.isDead() {
		return errRefused
	}
	err := s.sink.Send(ctx, event)
	if !s.connection.calm() && s.connection.intn(80) == 0 {
		s.connection.kill() // before it gets the sink's response
		return errRefused
	}
	return err
}

// pause is how long something of a model takes.
func pause(random *rand.Rand, upTo time.Duration) {
	time.Sleep(time.Duration(1 + random.Int64N(int64(upTo))))
}
