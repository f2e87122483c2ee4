package cluster

import "slices"

// steps are the states that may follow each state, within an attempt or with the next one.
var steps = map[State][]State{
	"":                {Submitted},
	Submitted:         {RunningHealthy, Failed, SchedulingFailure, ResourceReleased},
	RunningHealthy:    {Degraded, ResourceReleased},
	Degraded:          {RunningHealthy, ResourceReleased},
	Failed:            {ResourceReleased},
	SchedulingFailure: {ResourceReleased},
	ResourceReleased:  {Submitted},
}

// Follows reports whether a state may follow another. The first state follows the empty one.
func Follows(from, to State) bool { return slices.Contains(steps[from], to) }
