package events_test

import (
	"slices"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestTypesHaveOneForEveryLifecycleState(t *testing.T) {
	expectEvents(t, "SparkApplication", lifecycle.States)
	expectEvents(t, events.KindCluster, cluster.States)
	for _, eventType := range events.Types {
		if eventType.Clock() {
			continue
		}
		known := slices.Contains(lifecycle.States, lifecycle.State(eventType.State))
		if eventType.Cluster {
			known = slices.Contains(cluster.States, cluster.State(eventType.State))
		}
		if !known {
			t.Errorf("%s has state %s, which the lifecycle does not have", eventType.Name, eventType.State)
		}
	}
}

func expectEvents[S interface {
	~string
	AttemptEnded() bool
}](t *testing.T, of string, states []S) {
	t.Helper()
	for _, state := range states {
		eventType, has := events.TypeForState(of, string(state))
		if !has {
			t.Errorf("there is no event for state %s of a %s", state, of)
			continue
		}
		if eventType.EndsAttempt != state.AttemptEnded() {
			t.Errorf("%s ends an attempt: %t, but its event has EndsAttempt %t", state, state.AttemptEnded(), eventType.EndsAttempt)
		}
	}
}
