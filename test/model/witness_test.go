package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/test/invariants/clientview"
)

// witness knows which transitions were persisted, as the events that they are to be told with.
type witness struct {
	t  *testing.T
	mu sync.Mutex
	// persisted are the events' bytes by id.
	persisted map[string]string
	// last is the last sequence of each application.
	last map[types.UID]int64
	// shown is each application of the Kubeflow kind as it was last written.
	shown map[types.UID]*v1beta2.SparkApplication
}

func newWitness(t *testing.T) *witness {
	return &witness{t: t, persisted: map[string]string{}, last: map[types.UID]int64{}, shown: map[types.UID]*v1beta2.SparkApplication{}}
}

func (w *witness) sawApplication(app dialect.Application) {
	record := app.GetRecord()
	if record == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[app.GetUID()] = max(w.last[app.GetUID()], record.Sequence)
	if app, is := app.(*v1beta2.SparkApplication); is {
		for _, wrong := range clientview.Wrong(w.shown[app.UID], app) {
			w.t.Errorf("%s (%s): %s", app.Name, app.UID, wrong)
		}
		w.shown[app.UID] = app.DeepCopy()
	}
	api := apiOf(app)
	for _, transition := range record.Transitions {
		event, err := events.NewTransitionEvent(events.Object{
			Group: api.Group, Resource: api.Resource, Kind: api.Kind,
			Namespace: app.GetNamespace(), Name: app.GetName(), UID: app.GetUID(),
		}, transition)
		if err != nil {
			w.t.Errorf("transition %d of %s has no event: %v", transition.Sequence, app.GetName(), err)
			continue
		}
		text := textOf(w.t, event)
		if before, known := w.persisted[event.ID()]; known && before != text {
			w.t.Errorf("transition %s was persisted as %s and as %s", event.ID(), before, text)
		}
		w.persisted[event.ID()] = text
	}
}

func textOf(t *testing.T, event cloudevents.Event) string {
	text, err := event.MarshalJSON()
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

var errSink = errors.New("the sink is down")

// sink takes events, or not, and remembers which it took.
type sink struct {
	t    *testing.T
	calm func() bool

	mu     sync.Mutex
	random *rand.Rand
	taken  []cloudevents.Event
}

func (s *sink) Send(_ context.Context, event cloudevents.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	trouble := s.random.IntN(6)
	if s.calm() {
		trouble = -1
	}
	if trouble == 0 {
		return errSink
	}
	s.taken = append(s.taken, event)
	if trouble == 1 {
		return errSink // it took the event all the same
	}
	return nil
}

// sentBy is the sink as one process reaches it, until that dies.
type sentBy struct {
	sink       events.Sink
	connection *connection
}

func (s sentBy) Send(ctx context.Context, event cloudevents.Event) error {
	s.connection.latency()
	if s.connection.isDead() {
		return errRefused
	}
	err := s.sink.Send(ctx, event)
	if !s.connection.calm() && s.connection.intn(80) == 0 {
		s.connection.kill() // before it learns that the sink took the event
		return errRefused
	}
	return err
}

// check compares what was taken with what was persisted.
func (s *sink) check(w *witness) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := map[string]string{}
	told := map[string]int64{}
	for _, event := range s.taken {
		if event.Extensions()["sequence"] == nil {
			continue // a clock event
		}
		text := textOf(s.t, event)
		if before, known := first[event.ID()]; known {
			if before != text {
				s.t.Errorf("event %s was sent as %s and as %s", event.ID(), before, text)
			}
			continue
		}
		first[event.ID()] = text
		if persisted := w.persisted[event.ID()]; persisted != text {
			s.t.Errorf("event %s was sent as %s and persisted as %q", event.ID(), text, persisted)
		}
		sequence, _ := strconv.ParseInt(fmt.Sprint(event.Extensions()["sequence"]), 10, 64)
		if want := told[event.Source()] + 1; sequence != want {
			s.t.Errorf("of %s, sequence %d came first where %d was to come", event.Source(), sequence, want)
		}
		told[event.Source()] = max(told[event.Source()], sequence)
	}
	for uid, last := range w.last {
		source := s.sourceOf(told, uid)
		if told[source] != last {
			s.t.Errorf("of %s the sink knows %d transitions, %d were persisted", uid, told[source], last)
		}
	}
}

func (s *sink) sourceOf(told map[string]int64, uid types.UID) string {
	for source := range told {
		if strings.HasSuffix(source, string(uid)) {
			return source
		}
	}
	return ""
}

// pause is how long something of a model takes.
func pause(random *rand.Rand, upTo time.Duration) {
	time.Sleep(time.Duration(1 + random.Int64N(int64(upTo))))
}
