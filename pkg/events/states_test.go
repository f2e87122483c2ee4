package events_test

import (
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestEveryLifecycleStateHasAnEvent(t *testing.T) {
	known := map[string]bool{}
	for _, state := range lifecycle.States {
		known[string(state)] = true
		kind, has := events.TypeOf(string(state))
		if !has {
			t.Errorf("no event tells the beginning of %s", state)
			continue
		}
		if kind.EndsAttempt != state.Stopping() {
			t.Errorf("%s ends an attempt: %t, and its event says %t", state, state.Stopping(), kind.EndsAttempt)
		}
	}
	for _, kind := range events.Types {
		if !kind.Clock() && !known[kind.State] {
			t.Errorf("%s tells a state that the lifecycle has not: %s", kind.Name, kind.State)
		}
	}
}
