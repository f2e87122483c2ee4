package lifecycle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// The order is part of the Apache operator's API, and so are the classes.
func TestStatesInTheirOrderAndClasses(t *testing.T) {
	const (
		initializing          = "initializing"
		starting              = "starting"
		isRunning             = "running"
		stopping              = "stopping"
		terminated            = "terminated"
		failure               = "failure"
		infrastructureFailure = "infrastructure failure"
	)
	want := []struct {
		State   State
		Classes []string
	}{
		{"Submitted", []string{initializing}},
		{"ScheduledToRestart", []string{initializing}},
		{"DriverRequested", []string{starting}},
		{"DriverStarted", []string{starting}},
		{"DriverReady", []string{starting}},
		{"InitializedBelowThresholdExecutors", []string{starting}},
		{"RunningHealthy", []string{isRunning}},
		{"RunningWithPartialCapacity", []string{isRunning}},
		{"RunningWithBelowThresholdExecutors", []string{isRunning}},
		{"DriverStartTimedOut", []string{stopping, failure, infrastructureFailure}},
		{"ExecutorsStartTimedOut", []string{stopping, failure, infrastructureFailure}},
		{"DriverReadyTimedOut", []string{stopping, failure}},
		{"Succeeded", []string{stopping}},
		{"Failed", []string{stopping, failure}},
		{"SchedulingFailure", []string{stopping, failure, infrastructureFailure}},
		{"DriverEvicted", []string{stopping, failure}},
		{"ResourceReleased", []string{terminated}},
		{"TerminatedWithoutReleaseResources", []string{terminated}},
		{"Suspending", nil},
		{"Suspended", nil},
		{"Resuming", []string{initializing}},
		{"Invalidating", nil},
		{"Unknown", nil},
	}
	if len(States) != len(want) {
		t.Fatalf("there are %d states, want %d", len(States), len(want))
	}
	for i, state := range States {
		var classes []string
		for _, class := range []struct {
			name string
			is   bool
		}{
			{initializing, state.Initializing()}, {starting, state.Starting()}, {isRunning, state.Running()},
			{stopping, state.AttemptEnded()}, {terminated, state.Terminated()},
			{failure, state.Failure()}, {infrastructureFailure, state.InfrastructureFailure()},
		} {
			if class.is {
				classes = append(classes, class.name)
			}
		}
		if state != want[i].State {
			t.Errorf("state %d is %s, want %s", i, state, want[i].State)
		}
		if diff := cmp.Diff(want[i].Classes, classes); diff != "" {
			t.Errorf("classes of %s (-want +got):\n%s", state, diff)
		}
	}
}
