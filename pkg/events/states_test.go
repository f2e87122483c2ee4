package events_test

import (
	"slices"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestEveryLifecycleStateHasAnEvent(t *testing.T) {
	expectEvents(t, "SparkApplication", lifecycle.States)
	expectEvents(t, events.KindCluster, cluster.States)
	for _, kind := range events.Types {
		if kind.Clock() {
			continue
		}
		known := slices.Contains(lifecycle.States, lifecycle.State(kind.State))
		if kind.Cluster {
			known = slices.Contains(cluster.States, cluster.State(kind.State))
		}
		if !known {
			t.Errorf("%s tells a state that the lifecycle has not: %s", kind.Name, kind.State)
		}
	}
}

func expectEvents[S interface {
	~string
	Stopping() bool
}](t *testing.T, of string, states []S) {
	t.Helper()
	for _, state := range states {
		kind, has := events.TypeForState(of, string(state))
		if !has {
			t.Errorf("no event tells the beginning of %s of a %s", state, of)
			continue
		}
		if kind.EndsAttempt != state.Stopping() {
			t.Errorf("%s ends an attempt: %t, and its event says %t", state, state.Stopping(), kind.EndsAttempt)
		}
	}
}
