package events

import (
	"regexp"
	"strings"
	"testing"
)

// states are those of the lifecycle, whose own test checks that each has an event.
var states = strings.Fields(`
	Submitted ScheduledToRestart DriverRequested DriverStarted DriverReady InitializedBelowThresholdExecutors
	RunningHealthy RunningWithPartialCapacity RunningWithBelowThresholdExecutors
	DriverStartTimedOut ExecutorsStartTimedOut DriverReadyTimedOut
	Succeeded Failed SchedulingFailure DriverEvicted ResourceReleased TerminatedWithoutReleaseResources
	Suspending Suspended Resuming Invalidating Unknown`)

func TestEveryStateHasOneType(t *testing.T) {
	for _, state := range states {
		kind, known := TypeOf(state)
		if want := "dev.firesteel.application." + kebab(state) + ".v1"; !known || kind.Name != want {
			t.Errorf("TypeOf(%s) = %q, want %q", state, kind.Name, want)
		}
	}
	if got, want := len(Types), len(states)+2; got != want {
		t.Errorf("there are %d types, want one for each of %d states and two clock events", got, len(states))
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
	for _, state := range []string{"", "Running", "succeeded"} {
		if kind, known := TypeOf(state); known {
			t.Errorf("TypeOf(%q) = %s, want none", state, kind.Name)
		}
	}
}
