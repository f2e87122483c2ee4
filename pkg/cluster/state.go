package cluster

// State is what a cluster is going through. All but Degraded are the Apache operator's.
type State string

// The states.
const (
	// Submitted waits for the master and for the workers that are needed.
	Submitted State = "Submitted"
	// RunningHealthy has had them.
	RunningHealthy State = "RunningHealthy"
	// Degraded has lost them. The record and its event tell so; to the Apache operator's clients it is RunningHealthy.
	Degraded State = "Degraded"
	// SchedulingFailure has ended: an object was refused for good.
	SchedulingFailure State = "SchedulingFailure"
	// Failed has ended: the master never answered, or the spec can never run.
	Failed State = "Failed"
	// ResourceReleased has ended, and nothing is left of it. An edit of the spec begins anew.
	ResourceReleased State = "ResourceReleased"
)

// States are all states.
var States = []State{Submitted, RunningHealthy, Degraded, SchedulingFailure, Failed, ResourceReleased}

// Running says that the cluster came to run, and has not ended.
func (s State) Running() bool { return s == RunningHealthy || s == Degraded }

// AttemptEnded reports whether the attempt has ended: its objects are to be deleted.
func (s State) AttemptEnded() bool { return s == SchedulingFailure || s == Failed }

// Shown is the state as the Apache operator's clients know it.
func (s State) Shown() State {
	if s == Degraded {
		return RunningHealthy
	}
	return s
}
