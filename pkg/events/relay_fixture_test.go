package events

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// The tests of the relay run in synctest bubbles, where time is simulated. A bubble fails if a goroutine is left when its test
// ends. So a test that does not shut its relay down proves that the relay's goroutines ended by themselves.

// fakeSink records the events that it gets, and answers as its script says.
type fakeSink struct {
	// script answers the try-th send of an event, from 0. Without a script, every event is acknowledged.
	script func(ctx context.Context, event cloudevents.Event, try int) error

	mu    sync.Mutex
	begin time.Time
	tries map[string]int
	sends []sent
}

// sent is one send: its event, the time since the sink was created, and the answer.
type sent struct {
	id    string
	bytes string
	at    time.Duration
	err   error
}

var (
	errDown   = errors.New("sink is down")
	errPoison = fmt.Errorf("%w: poison", ErrRejected)
)

func newSink(script func(ctx context.Context, event cloudevents.Event, try int) error) *fakeSink {
	return &fakeSink{script: script, begin: time.Now(), tries: map[string]int{}}
}

func (f *fakeSink) Send(ctx context.Context, event cloudevents.Event) error {
	f.mu.Lock()
	text, err := event.MarshalJSON()
	if err != nil {
		panic(err)
	}
	try, number := f.tries[event.ID()], len(f.sends)
	f.tries[event.ID()]++
	f.sends = append(f.sends, sent{id: event.ID(), bytes: string(text), at: time.Since(f.begin)})
	f.mu.Unlock()
	if f.script != nil {
		err = f.script(ctx, event, try)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sends[number].err = err
	return err
}

// got returns the sends. Each has the id without the prefix of the uid, and the time if that is not 0.
func (f *fakeSink) got() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var lines []string
	for _, s := range f.sends {
		lines = append(lines, short(s.id, s.at))
	}
	return strings.Join(lines, " ")
}

func short(id string, at time.Duration) string {
	name, number, _ := strings.Cut(strings.TrimPrefix(id, "uid-of-"), ".")
	line := name + strings.TrimLeft(number, "0")
	if strings.Contains(number, ":") {
		line = name + "-clock"
	}
	if at > 0 {
		line += "@" + at.String()
	}
	return line
}

// fakeHandler records its calls.
type fakeHandler struct {
	begin time.Time
	act   func(ctx context.Context, event cloudevents.Event) error

	mu    sync.Mutex
	calls []string
}

func newHandler(act func(ctx context.Context, event cloudevents.Event) error) *fakeHandler {
	return &fakeHandler{begin: time.Now(), act: act}
}

func (f *fakeHandler) handle(ctx context.Context, event cloudevents.Event) error {
	f.mu.Lock()
	f.calls = append(f.calls, short(event.ID(), time.Since(f.begin)))
	f.mu.Unlock()
	if f.act == nil {
		return nil
	}
	return f.act(ctx, event)
}

func (f *fakeHandler) got() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.calls, " ")
}

// testRelay is a relay under test.
type testRelay struct {
	*Relay
	t        *testing.T
	mu       sync.Mutex
	progress []string
}

func newTestRelay(t *testing.T, config RelayConfig) *testRelay {
	t.Helper()
	r := &testRelay{t: t}
	config.Jitter = func(d time.Duration) time.Duration { return d }
	config.OnProgress = func(key types.NamespacedName) {
		r.Progress("a reader, to show that no lock is held")
		r.mu.Lock()
		defer r.mu.Unlock()
		r.progress = append(r.progress, key.Name)
	}
	relay, err := NewRelay(config)
	must(t, err)
	r.Relay = relay
	return r
}

// takeProgress returns the objects for which OnProgress was called since the last call of takeProgress.
func (r *testRelay) takeProgress() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := strings.Join(r.progress, " ")
	r.progress = nil
	return names
}

// advance lets simulated time pass, and waits until all goroutines are blocked.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (r *testRelay) expect(what, got, want string) {
	r.t.Helper()
	if got != want {
		r.t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func (r *testRelay) expectProgress(o Object, want Progress) {
	r.t.Helper()
	if got := r.Progress(o.UID); got != want {
		r.t.Errorf("progress of %s:\n got %+v\nwant %+v", o.Name, got, want)
	}
}

// recordOf returns a record with a number of transitions, one a second.
func recordOf(transitions, acknowledged int64) *v1alpha1.Record {
	record := &v1alpha1.Record{Sequence: transitions, Acknowledged: acknowledged}
	for sequence := int64(1); sequence <= transitions; sequence++ {
		record.Transitions = append(record.Transitions, v1alpha1.Transition{
			Sequence: sequence,
			Time:     metav1.NewMicroTime(time.Date(2026, 3, 1, 8, 0, int(sequence), 0, time.UTC)),
			State:    states[sequence%int64(len(states))],
			Message:  fmt.Sprintf("transition %d", sequence),
		})
	}
	return record
}

// restartRequest returns the request for the restart handler with the record's last transition.
func restartRequest(t *testing.T, o Object, record *v1alpha1.Record) *PendingRequest {
	t.Helper()
	event, err := NewTransitionEvent(o, record.Transitions[len(record.Transitions)-1])
	must(t, err)
	return &PendingRequest{Handler: "restart", Event: event}
}

func ttlRequest(t *testing.T, o Object) *PendingRequest {
	t.Helper()
	return &PendingRequest{Handler: "ttl", Event: clockEvent(t, o)}
}

// inProcessBroker returns a broker that runs the handler in process, under all names.
func inProcessBroker(t *testing.T, handler *fakeHandler) *Broker {
	t.Helper()
	return brokerFor(t, handler, nil)
}

func brokerFor(t *testing.T, handler *fakeHandler, inProcess func(string) bool) *Broker {
	t.Helper()
	broker, err := NewBroker(map[string]Handler{"restart": handler.handle, "ttl": handler.handle}, inProcess)
	must(t, err)
	return broker
}
