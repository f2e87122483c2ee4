package events

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"

	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

// TestRelayLosesNoEvent publishes random snapshots during random failures, restarts and changes of the leader. Then it checks what
// the sink got:
//
//   - Each object's events first arrive in sequence and without gaps, except for rejected ones.
//   - The same id always has the same bytes.
//   - In the end all events have arrived.
func TestRelayLosesNoEvent(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newRelayChaos(t, seed).run() })
		})
	}
}

// relayChaos simulates controllers: it persists records, publishes them to relays, and kills the relays.
type relayChaos struct {
	t       *testing.T
	rng     *rand.Rand
	sink    *fakeSink
	handler *fakeHandler
	objects []Object
	// persisted holds the last sequence of each object's record, as the API server has it.
	persisted map[Object]int64
	cursors   map[Object]int64
	relays    []*testRelay
}

const transitionsPerObject = 20

func newRelayChaos(t *testing.T, seed uint64) *relayChaos {
	c := &relayChaos{
		t:         t,
		rng:       rand.New(rand.NewPCG(seed, seed)),
		handler:   newHandler(nil),
		persisted: map[Object]int64{},
		cursors:   map[Object]int64{},
	}
	calm := time.Now().Add(5 * time.Minute)
	failures := rand.New(rand.NewPCG(seed, 1))
	c.sink = newSink(func(_ context.Context, event cloudevents.Event, _ int) error {
		c.sink.mu.Lock()
		trouble, delay := failures.IntN(3), failures.IntN(500)
		c.sink.mu.Unlock()
		time.Sleep(time.Duration(delay) * time.Millisecond)
		switch {
		case isPoison(event.ID()):
			return errPoison
		case trouble == 0 && time.Now().Before(calm):
			return errDown
		default:
			return nil
		}
	})
	for n := range 4 {
		c.objects = append(c.objects, application(fmt.Sprintf("app-%d", n)))
	}
	c.relays = []*testRelay{c.newRelay(), c.newRelay()}
	return c
}

// isPoison reports whether the sink rejects the event: its sequence ends with 7.
func isPoison(id string) bool { return id[len(id)-1] == '7' }

func (c *relayChaos) newRelay() *testRelay {
	return newTestRelay(c.t, RelayConfig{Sink: c.sink, Handlers: inProcessBroker(c.t, c.handler), Sends: fairshare.New(32, 3), Requests: fairshare.New(32, 3)})
}

func (c *relayChaos) run() {
	for c.unfinished() {
		c.step()
		advance(time.Duration(c.rng.IntN(2000)) * time.Millisecond)
	}
	for _, object := range c.objects {
		c.publish(c.relays[0], object)
	}
	advance(10 * time.Minute)
	for _, relay := range c.relays {
		relay.Shutdown()
	}
	c.check()
}

func (c *relayChaos) unfinished() bool {
	return slices.ContainsFunc(c.objects, func(o Object) bool { return c.persisted[o] < transitionsPerObject })
}

func (c *relayChaos) step() {
	object := c.objects[c.rng.IntN(len(c.objects))]
	which := c.rng.IntN(len(c.relays))
	relay := c.relays[which]
	switch c.rng.IntN(12) {
	case 0:
		relay.Shutdown()
		c.relays[which] = c.newRelay()
	case 1:
		relay.Forget(object.UID)
	case 2:
		c.persistCursor(relay, object)
	case 3:
		c.publish(relay, object)
	default:
		c.persisted[object] = min(c.persisted[object]+1+c.rng.Int64N(3), transitionsPerObject)
		c.publish(relay, object)
	}
}

func (c *relayChaos) publish(relay *testRelay, object Object) {
	record := recordOf(c.persisted[object], c.cursors[object])
	story := Snapshot{Object: object, Record: record}
	if record.Sequence > 0 && c.rng.IntN(3) == 0 {
		story.Request = restartRequest(c.t, object, record)
	}
	record.Transitions = record.Transitions[c.rng.Int64N(c.cursors[object]+1):]
	relay.Publish(story)
}

func (c *relayChaos) persistCursor(relay *testRelay, object Object) {
	c.cursors[object] = max(c.cursors[object], relay.Progress(object.UID).Acknowledged)
}

func (c *relayChaos) check() {
	bytes := map[string]string{}
	taken := map[string]bool{}
	next := map[string]int64{}
	for _, send := range c.sink.sends {
		if first, known := bytes[send.id]; known && first != send.bytes {
			c.t.Errorf("event %s was sent as %s and as %s", send.id, first, send.bytes)
		}
		bytes[send.id] = send.bytes
	}
	for _, send := range c.sink.sends {
		if send.err != nil || taken[send.id] {
			continue
		}
		taken[send.id] = true
		c.checkOrder(next, send.id)
	}
	for _, object := range c.objects {
		if got := next[object.Name]; got != transitionsPerObject {
			c.t.Errorf("the sink has the events of %s up to %d, want %d", object.Name, got, transitionsPerObject)
		}
	}
	if c.t.Failed() {
		c.t.Logf("sent: %s; ids: %v", c.sink.got(), slices.Sorted(maps.Keys(bytes)))
	}
}

func (c *relayChaos) checkOrder(last map[string]int64, id string) {
	for _, object := range c.objects {
		want := last[object.Name] + 1
		if isPoison(eventID(object, sequenceText(want))) {
			want++
		}
		if id[:len(object.UID)] != string(object.UID) {
			continue
		}
		if got := eventID(object, sequenceText(want)); got != id {
			c.t.Errorf("event %s arrived before %s", id, got)
		}
		last[object.Name] = want
	}
}
