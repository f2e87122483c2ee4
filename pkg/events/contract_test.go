package events

import (
	"regexp"
	"strings"
	"testing"
)

// states are the states of applications, and clusterStates those of clusters.
var (
	states = strings.Fields(`
	Submitted ScheduledToRestart DriverRequested DriverStarted DriverReady InitializedBelowThresholdExecutors
	RunningHealthy RunningWithPartialCapacity RunningWithBelowThresholdExecutors
	DriverStartTimedOut ExecutorsStartTimedOut DriverReadyTimedOut
	Succeeded Failed SchedulingFailure DriverEvicted ResourceReleased TerminatedWithoutReleaseResources
	Suspending Suspended Resuming Invalidating Unknown`)
	clusterStates = strings.Fields(`Submitted RunningHealthy Degraded SchedulingFailure Failed ResourceReleased`)
)

func TestTypesHaveOneForEveryState(t *testing.T) {
	expect := func(of, thing string, states []string) {
		for _, state := range states {
			eventType, known := TypeForState(of, state)
			if want := "dev.firesteel." + thing + "." + kebab(state) + ".v1"; !known || eventType.Name != want {
				t.Errorf("TypeForState(%s, %s) = %q, want %q", of, state, eventType.Name, want)
			}
		}
	}
	expect("SparkApplication", "application", states)
	expect(KindCluster, "cluster", clusterStates)
	if got, want := len(Types), len(states)+len(clusterStates)+4; got != want {
		t.Errorf("there are %d types, want %d: one for each state and four clock events", got, want)
	}
}

func kebab(state string) string {
	return strings.ToLower(regexp.MustCompile(`(.)([A-Z])`).ReplaceAllString(state, "$1-$2"))
}

func TestTypesHaveDescriptions(t *testing.T) {
	for _, eventType := range Types {
		if !strings.HasSuffix(eventType.Description, ".") || strings.Contains(eventType.Description, "|") {
			t.Errorf("%s: description %q is not a sentence for a table", eventType.Name, eventType.Description)
		}
		if eventType.EndsAttempt != strings.HasPrefix(eventType.Description, "The attempt ended") {
			t.Errorf("%s: description and EndsAttempt disagree", eventType.Name)
		}
	}
}

func TestTypesHaveNoneForAnUnknownState(t *testing.T) {
	for of, none := range map[string][]string{
		"SparkApplication": {"", "Running", "succeeded", "Degraded"},
		KindCluster:        {"", "Succeeded", "degraded"},
	} {
		for _, state := range none {
			if eventType, known := TypeForState(of, state); known {
				t.Errorf("TypeForState(%s, %q) = %s, want none", of, state, eventType.Name)
			}
		}
	}
}
