package events

import (
	"regexp"
	"strings"
	"testing"
)

// states are those of applications, and clusterStates those of clusters. The lifecycles' own test checks that each has an
// event.
var (
	states = strings.Fields(`
	Submitted ScheduledToRestart DriverRequested DriverStarted DriverReady InitializedBelowThresholdExecutors
	RunningHealthy RunningWithPartialCapacity RunningWithBelowThresholdExecutors
	DriverStartTimedOut ExecutorsStartTimedOut DriverReadyTimedOut
	Succeeded Failed SchedulingFailure DriverEvicted ResourceReleased TerminatedWithoutReleaseResources
	Suspending Suspended Resuming Invalidating Unknown`)
	clusterStates = strings.Fields(`Submitted RunningHealthy Degraded SchedulingFailure Failed ResourceReleased`)
)

func TestEveryStateHasOneType(t *testing.T) {
	expect := func(of, thing string, states []string) {
		for _, state := range states {
			kind, known := TypeForState(of, state)
			if want := "dev.firesteel." + thing + "." + kebab(state) + ".v1"; !known || kind.Name != want {
				t.Errorf("TypeOf(%s, %s) = %q, want %q", of, state, kind.Name, want)
			}
		}
	}
	expect("SparkApplication", "application", states)
	expect(KindCluster, "cluster", clusterStates)
	if got, want := len(Types), len(states)+len(clusterStates)+2; got != want {
		t.Errorf("there are %d types, want %d: one for each state and two clock events", got, want)
	}
}

func kebab(state string) string {
	return strings.ToLower(regexp.MustCompile(`(.)([A-Z])`).ReplaceAllString(state, "$1-$2"))
}

func TestTypesDescribeThemselves(t *testing.T) {
	for _, kind := range Types {
		if !strings.HasSuffix(kind.Description, ".") || strings.Contains(kind.Description, "|") {
			t.Errorf("%s: description %q is no sentence for a table", kind.Name, kind.Description)
		}
		if kind.EndsAttempt != strings.HasPrefix(kind.Description, "The attempt ended") {
			t.Errorf("%s: description and EndsAttempt disagree", kind.Name)
		}
	}
}

func TestStateWithoutEvent(t *testing.T) {
	for of, none := range map[string][]string{
		"SparkApplication": {"", "Running", "succeeded", "Degraded"},
		KindCluster:        {"", "Succeeded", "degraded"},
	} {
		for _, state := range none {
			if kind, known := TypeForState(of, state); known {
				t.Errorf("TypeOf(%s, %q) = %s, want none", of, state, kind.Name)
			}
		}
	}
}
