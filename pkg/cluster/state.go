package cluster

// State is the state of a cluster. All but Degraded are the Apache operator's.
type State string

// The states.
const (
	// Submitted waits for the master and the needed workers.
	Submitted State = "Submitted"
	// RunningHealthy has, or had, the master and the needed workers.
	RunningHealthy State = "RunningHealthy"
	// Degraded has lost them. The record and its event show Degraded; clients of the Apache operator see
	// RunningHealthy.
	Degraded State = "Degraded"
	// SchedulingFailure has ended: an object was refused, and a retry cannot help.
	SchedulingFailure State = "SchedulingFailure"
	// Failed has ended: the master never answered, or the spec can never run.
	Failed State = "Failed"
	// ResourceReleased has ended, and no object is left. An edit of the spec begins another attempt.
	ResourceReleased State = "ResourceReleased"
)

// States are all states.
var States = []State{Submitted, RunningHealthy, Degraded, SchedulingFailure, Failed, ResourceReleased}

// Running reports whether the cluster has been ready and has not ended.
func (s State) Running() bool { return s == RunningHealthy || s == Degraded }

// AttemptEnded reports whether the attempt has ended: its objects are to be deleted.
func (s State) AttemptEnded() bool { return s == SchedulingFailure || s == Failed }

// Shown returns the state that clients of the Apache operator see.
func (s State) Shown() State {
	if s == Degraded {
		return RunningHealthy
	}
	return s
}
