package applications

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// phase is a group of states, so that a namespace has few series.
type phase string

const (
	phaseWaiting   phase = "Waiting"   // it does not run yet, and is not suspended
	phaseRunning   phase = "Running"   // it does its work, or its node is lost
	phaseSuspended phase = "Suspended" // the user suspended it
	phaseEnded     phase = "Ended"     // its last attempt has ended
)

// phaseOf returns the phase of an application, and how it waits if it does. visible is the state that it shows.
func phaseOf(app dialect.Application, visible string) (phase, wait) {
	record := app.GetRecord()
	if record == nil || len(record.Transitions) == 0 {
		if visible == stateNew {
			return phaseWaiting, wait{stateNew, app.GetCreationTimestamp().Time}
		}
		return phaseEnded, wait{} // under another operator
	}
	last := record.Transitions[len(record.Transitions)-1]
	switch state := lifecycle.State(last.State); {
	case waiting(state):
		held := meta.FindStatusCondition(app.GetConditions(), dialect.ConditionSucceeded)
		if held != nil && held.Reason == string(lifecycle.HeldSuspended) {
			return phaseSuspended, wait{}
		}
		return phaseWaiting, wait{last.State, last.Time.Time}
	case state.Running() || state == lifecycle.Unknown:
		return phaseRunning, wait{}
	case state == lifecycle.Suspending || state == lifecycle.Suspended:
		return phaseSuspended, wait{}
	default:
		return phaseEnded, wait{}
	}
}

// waiting reports whether an application waits in a state until it runs.
func waiting(state lifecycle.State) bool {
	return state.Initializing() || state.Starting() || state == lifecycle.Invalidating
}
