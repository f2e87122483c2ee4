package lifecycle

import "slices"

// State is the state of an application. The first eighteen are the Apache operator's, in its order.
type State string

// The states that every API has.
const (
	Submitted                          State = "Submitted"
	ScheduledToRestart                 State = "ScheduledToRestart"
	DriverRequested                    State = "DriverRequested"
	DriverStarted                      State = "DriverStarted"
	DriverReady                        State = "DriverReady"
	InitializedBelowThresholdExecutors State = "InitializedBelowThresholdExecutors"
	RunningHealthy                     State = "RunningHealthy"
	RunningWithPartialCapacity         State = "RunningWithPartialCapacity"
	RunningWithBelowThresholdExecutors State = "RunningWithBelowThresholdExecutors"
	DriverStartTimedOut                State = "DriverStartTimedOut"
	ExecutorsStartTimedOut             State = "ExecutorsStartTimedOut"
	DriverReadyTimedOut                State = "DriverReadyTimedOut"
	Succeeded                          State = "Succeeded"
	Failed                             State = "Failed"
	SchedulingFailure                  State = "SchedulingFailure"
	DriverEvicted                      State = "DriverEvicted"
	ResourceReleased                   State = "ResourceReleased"
	TerminatedWithoutReleaseResources  State = "TerminatedWithoutReleaseResources"
)

// The states that only applications of sparkoperator.k8s.io enter.
const (
	Suspending   State = "Suspending"
	Suspended    State = "Suspended"
	Resuming     State = "Resuming"
	Invalidating State = "Invalidating"
	Unknown      State = "Unknown"
)

// States are all states, in the Apache operator's order.
var States = []State{
	Submitted, ScheduledToRestart,
	DriverRequested, DriverStarted, DriverReady, InitializedBelowThresholdExecutors,
	RunningHealthy, RunningWithPartialCapacity, RunningWithBelowThresholdExecutors,
	DriverStartTimedOut, ExecutorsStartTimedOut, DriverReadyTimedOut,
	Succeeded, Failed, SchedulingFailure, DriverEvicted,
	ResourceReleased, TerminatedWithoutReleaseResources,
	Suspending, Suspended, Resuming, Invalidating, Unknown,
}

// Initializing reports whether the attempt waits for its launch.
func (s State) Initializing() bool {
	return s == Submitted || s == ScheduledToRestart || s == Resuming
}

// Starting reports whether the driver is requested and its executors are not there yet.
func (s State) Starting() bool {
	return slices.Contains([]State{DriverRequested, DriverStarted, DriverReady, InitializedBelowThresholdExecutors}, s)
}

// Running reports whether the application does its work.
func (s State) Running() bool {
	return slices.Contains([]State{RunningHealthy, RunningWithPartialCapacity, RunningWithBelowThresholdExecutors}, s)
}

// DriverRuns reports whether the driver has started and not ended.
func (s State) DriverRuns() bool { return s.Starting() && s != DriverRequested || s.Running() }

// AttemptEnded reports whether the attempt has ended, and the application has not.
func (s State) AttemptEnded() bool { return s == Succeeded || s.Failure() }

// transient reports whether another state may follow at once.
func (s State) transient() bool { return s.AttemptEnded() || s == Suspending || s == Invalidating }

// Terminated reports whether the application has ended.
func (s State) Terminated() bool {
	return s == ResourceReleased || s == TerminatedWithoutReleaseResources
}

// Failure reports whether the attempt ended with a failure.
func (s State) Failure() bool {
	return slices.Contains([]State{
		DriverStartTimedOut, ExecutorsStartTimedOut, DriverReadyTimedOut, Failed, SchedulingFailure, DriverEvicted,
	}, s)
}

// InfrastructureFailure reports whether the cluster, rather than the application, is the likely cause. The list is
// the Apache operator's.
func (s State) InfrastructureFailure() bool {
	return slices.Contains([]State{DriverStartTimedOut, ExecutorsStartTimedOut, SchedulingFailure}, s)
}
