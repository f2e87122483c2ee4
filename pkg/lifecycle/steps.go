package lifecycle

import "slices"

// ends are the ends of an attempt that are possible in every state with a driver.
var ends = []State{Succeeded, Failed, DriverEvicted}

// afterEnd are the states that may follow the end of an attempt.
var afterEnd = []State{ScheduledToRestart, ResourceReleased, TerminatedWithoutReleaseResources}

// steps are the states that may follow each, in every API that has them.
var steps = map[State][]State{
	"":                 {Submitted},
	Submitted:          {DriverRequested, SchedulingFailure, Failed},
	ScheduledToRestart: {DriverRequested, SchedulingFailure, Failed},
	DriverRequested:    append([]State{DriverStarted, DriverReady, DriverStartTimedOut, ScheduledToRestart}, ends...), // see event_logs.go
	DriverStarted:      append([]State{DriverReady, DriverReadyTimedOut}, ends...),
	DriverReady: append([]State{
		InitializedBelowThresholdExecutors, RunningHealthy, RunningWithPartialCapacity, RunningWithBelowThresholdExecutors,
		ExecutorsStartTimedOut,
	}, ends...),
	InitializedBelowThresholdExecutors: append([]State{
		RunningHealthy, RunningWithPartialCapacity, RunningWithBelowThresholdExecutors, ExecutorsStartTimedOut,
	}, ends...),
	RunningHealthy:                     append([]State{RunningWithPartialCapacity, RunningWithBelowThresholdExecutors}, ends...),
	RunningWithPartialCapacity:         append([]State{RunningHealthy, RunningWithBelowThresholdExecutors}, ends...),
	RunningWithBelowThresholdExecutors: append([]State{RunningHealthy, RunningWithPartialCapacity}, ends...),
	DriverStartTimedOut:                afterEnd,
	DriverReadyTimedOut:                afterEnd,
	ExecutorsStartTimedOut:             afterEnd,
	Succeeded:                          afterEnd,
	Failed:                             afterEnd,
	SchedulingFailure:                  afterEnd,
	DriverEvicted:                      afterEnd,
	TerminatedWithoutReleaseResources:  {ResourceReleased},
	Suspending:                         {Suspended},
	Suspended:                          {Resuming},
	Resuming:                           {DriverRequested, SchedulingFailure, Failed},
	Invalidating:                       {ScheduledToRestart},
	Unknown: append([]State{
		DriverRequested, DriverStarted, DriverReady, InitializedBelowThresholdExecutors,
		RunningHealthy, RunningWithPartialCapacity, RunningWithBelowThresholdExecutors,
	}, ends...),
}

// Follows reports whether a state may follow another in an application that is not deleted. The first state follows
// the empty one. An API that interrupts can suspend, invalidate or lose contact at any time. A deletion leads from
// every state to ResourceReleased.
func Follows(from, to State, interrupts bool) bool {
	active := from.Starting() || from.Running()
	switch {
	case slices.Contains(steps[from], to):
		return true
	case !interrupts:
		return false
	case to == ExecutorsStartTimedOut:
		return from == DriverStarted
	case to == Suspending:
		return from.Initializing() || active || from == Unknown
	case to == Invalidating:
		return from != "" && from != Invalidating
	case to == Unknown:
		return active
	default:
		return false
	}
}
