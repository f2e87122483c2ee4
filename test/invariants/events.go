package invariants

import (
	"fmt"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/events/eventstest"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

// Contract checks an event against the published schema: "The event contract is public and stable" (section 4).
func Contract(entry eventlog.Entry) error {
	event, err := entry.Event()
	if err == nil {
		err = eventstest.Check(*event)
	}
	if err != nil {
		return fmt.Errorf("an event breaks the contract: %w\n%s", err, entry.Bytes())
	}
	return nil
}

// SameBytes checks two deliveries with the same id: "A re-sent event is byte-identical" (section 4, 2).
func SameBytes(same bool, again eventlog.Entry) error {
	if !same {
		return fmt.Errorf("event %s was delivered with different bytes, the second time as\n%s", again.ID(), again.Bytes())
	}
	return nil
}

// EventOfTransition checks the bytes of an event against its transition: an event is "made from the record" (section 4, 2).
func EventOfTransition(delivered string, object events.Object, transition v1alpha1.Transition) error {
	want, err := eventOf(object, transition)
	if err != nil {
		return fmt.Errorf("transition %d makes no event: %w", transition.Sequence, err)
	}
	if delivered != want {
		return fmt.Errorf("the event of transition %d is\n%s\nwant\n%s", transition.Sequence, delivered, want)
	}
	return nil
}

// InOrder checks that the sink takes a transition for the first time only right after the one before it: "delivery is at least
// once and in order per object" (section 4).
func InOrder(taken, next int64) error {
	if next > taken+1 {
		return fmt.Errorf("the sink took transition %d after %d", next, taken)
	}
	return nil
}

// Delivered checks that the sink has taken a transition: "delivery is at least once [...], no matter what crashes" (section 4).
func Delivered(taken int64, transition v1alpha1.Transition) error {
	if transition.Sequence > taken {
		return fmt.Errorf("the sink did not take transition %d, %s of attempt %d", transition.Sequence, transition.State, transition.Attempt)
	}
	return nil
}

// EventPersisted checks that the transition of an event was persisted: "A transition is first persisted [...]. Then it is
// emitted" (section 4, 1 and 2).
func EventPersisted(sequence int64, persisted bool, delivered string) error {
	if !persisted {
		return fmt.Errorf("the sink received transition %d, which was never persisted:\n%s", sequence, delivered)
	}
	return nil
}

// eventOf is the event of a transition as the sink receives it.
func eventOf(object events.Object, transition v1alpha1.Transition) (string, error) {
	event, err := events.NewTransitionEvent(object, transition)
	if err != nil {
		return "", err
	}
	entry, err := eventlog.New(event)
	return entry.Bytes(), err
}
