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

// TestRelayLosesNothing tells random stories through random failures, restarts and changes of the leader, and
// checks what the sink got:
//
//   - each object's events arrive for the first time in sequence and without gaps, but for what is rejected;
//   - the same id always has the same bytes;
//   - in the end everything has arrived.
func TestRelayLosesNothing(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newChaos(t, seed).run() })
		})
	}
}

// chaos plays the controllers: it persists records, tells relays of them, and kills the relays.
type chaos struct {
	t       *testing.T
	random  *rand.Rand
	sink    *fakeSink
	handler *fakeHandler
	objects []Object
	// persisted are the records by object, as the API server has them.
	persisted map[Object]int64
	cursor    map[Object]int64
	relays    []*teller
}

const transitionsOfAStory = 20

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{
		t:         t,
		random:    rand.New(rand.NewPCG(seed, seed)),
		handler:   newHandler(nil),
		persisted: map[Object]int64{},
		cursor:    map[Object]int64{},
	}
	calm := time.Now().Add(5 * time.Minute)
	failures := rand.New(rand.NewPCG(seed, 1))
	c.sink = newSink(func(_ context.Context, event cloudevents.Event, _ int) error {
		c.sink.mu.Lock()
		trouble, delay := failures.IntN(3), failures.IntN(500)
		c.sink.mu.Unlock()
		time.Sleep(time.Duration(delay) * time.Millisecond)
		switch {
		case poison(event.ID()):
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
	c.relays = []*teller{c.newRelay(), c.newRelay()}
	return c
}

// poison is every event with a sequence that ends with 7.
func poison(id string) bool { return id[len(id)-1] == '7' }

func (c *chaos) newRelay() *teller {
	return newTeller(c.t, RelayConfig{Sink: c.sink, Handlers: here(c.t, c.handler), Sends: fairshare.New(32, 3), Requests: fairshare.New(32, 3)})
}

func (c *chaos) run() {
	for c.unfinished() {
		c.step()
		pass(time.Duration(c.random.IntN(2000)) * time.Millisecond)
	}
	for _, object := range c.objects {
		c.tell(c.relays[0], object)
	}
	pass(10 * time.Minute)
	for _, relay := range c.relays {
		relay.Shutdown()
	}
	c.check()
}

func (c *chaos) unfinished() bool {
	return slices.ContainsFunc(c.objects, func(o Object) bool { return c.persisted[o] < transitionsOfAStory })
}

func (c *chaos) step() {
	object := c.objects[c.random.IntN(len(c.objects))]
	which := c.random.IntN(len(c.relays))
	relay := c.relays[which]
	switch c.random.IntN(12) {
	case 0:
		relay.Shutdown()
		c.relays[which] = c.newRelay()
	case 1:
		relay.Forget(object.UID)
	case 2:
		c.persistCursor(relay, object)
	case 3:
		c.tell(relay, object)
	default:
		c.persisted[object] = min(c.persisted[object]+1+c.random.Int64N(3), transitionsOfAStory)
		c.tell(relay, object)
	}
}

func (c *chaos) tell(relay *teller, object Object) {
	record := recordOf(c.persisted[object], c.cursor[object])
	story := Story{Object: object, Record: record}
	if record.Sequence > 0 && c.random.IntN(3) == 0 {
		story.Awaiting = awaiting(c.t, object, record)
	}
	record.Transitions = record.Transitions[c.random.Int64N(c.cursor[object]+1):]
	relay.Tell(story)
}

func (c *chaos) persistCursor(relay *teller, object Object) {
	c.cursor[object] = max(c.cursor[object], relay.Progress(object.UID).Acknowledged)
}

func (c *chaos) check() {
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
		if got := next[object.Name]; got != transitionsOfAStory {
			c.t.Errorf("the sink knows %s up to %d, want %d", object.Name, got, transitionsOfAStory)
		}
	}
	if c.t.Failed() {
		c.t.Logf("sent: %s; ids: %v", c.sink.got(), slices.Sorted(maps.Keys(bytes)))
	}
}

func (c *chaos) checkOrder(last map[string]int64, id string) {
	for _, object := range c.objects {
		want := last[object.Name] + 1
		if poison(eventID(object, sequenceText(want))) {
			want++
		}
		if id[:len(object.UID)] != string(object.UID) {
			continue
		}
		if got := eventID(object, sequenceText(want)); got != id {
			c.t.Errorf("event %s came first, before %s", id, got)
		}
		last[object.Name] = want
	}
}
