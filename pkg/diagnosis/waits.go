package diagnosis

import "github.com/firesteel-dev/firesteel/pkg/lifecycle"

// waits are what an application waits for in a state.
var waits = map[lifecycle.State]string{
	lifecycle.Submitted:                          "the launch",
	lifecycle.ScheduledToRestart:                 "the start of the next attempt",
	lifecycle.DriverRequested:                    "a node and the start of the driver's container",
	lifecycle.DriverStarted:                      "the driver to be ready",
	lifecycle.DriverReady:                        "the first executors",
	lifecycle.InitializedBelowThresholdExecutors: "more executors",
	lifecycle.RunningWithBelowThresholdExecutors: "executors in place of lost ones",
	lifecycle.Suspending:                         "the end of the driver",
	lifecycle.Suspended:                          "spec.suspend to become false",
	lifecycle.Resuming:                           "the launch",
	lifecycle.Invalidating:                       "the end of the driver of the earlier spec",
	lifecycle.Unknown:                            "news of the driver's node",
}

// WaitsFor says what an application waits for in a state, after "waits for"; empty if it does not wait.
func WaitsFor(state string) string { return waits[lifecycle.State(state)] }
