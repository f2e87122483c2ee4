package diagnosis

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// driverIsReady reports whether the attempt's driver became ready and has not ended.
func driverIsReady(state lifecycle.State) bool {
	return state == lifecycle.DriverReady || state == lifecycle.InitializedBelowThresholdExecutors || state.Running()
}

// DriverReady explains whether the attempt's driver is ready.
func DriverReady(record *v1alpha1.Record) Explanation {
	state := lifecycle.CurrentState(record)
	switch {
	case driverIsReady(state):
		return conditionTrue("DriverReady", "The driver is ready.")
	case state.Initializing():
		return conditionFalse(string(state), "No driver is requested yet.")
	case state.Starting():
		return conditionFalse(string(state), "The driver is not ready yet.")
	case state == lifecycle.Unknown:
		return Explanation{Status: metav1.ConditionUnknown, Reason: string(state),
			Summary: "The driver's node does not report the driver's state."}
	case state == lifecycle.Suspending, state == lifecycle.Invalidating:
		return conditionFalse(string(state), "The driver, if there is one, is being stopped.")
	default:
		return conditionFalse(string(state), "No driver runs any more.")
	}
}

// ExecutorsReady explains whether the driver has as many executors as are asked for.
func ExecutorsReady(record *v1alpha1.Record, policy lifecycle.Policy) Explanation {
	state, asked := lifecycle.CurrentState(record), policy.Executors
	switch {
	case !driverIsReady(state):
		return conditionFalse(string(state), "There is no driver that is ready for executors.")
	case !asked.Requested():
		return conditionTrue("NoMinimum", "No number of executors is asked for.")
	case state == lifecycle.RunningHealthy:
		return conditionTrue("Sufficient", "As many executors are ready as are asked for.")
	case state == lifecycle.RunningWithPartialCapacity:
		return conditionTrue("PartialCapacity", fmt.Sprintf("Executors are ready, and fewer than the %d of maxExecutors.", asked.Max))
	case state == lifecycle.RunningWithBelowThresholdExecutors:
		return conditionFalse("BelowMinimum", fmt.Sprintf("Fewer executors are ready than the %d of minExecutors.", asked.Min))
	default:
		return conditionFalse("BelowInitial", fmt.Sprintf("Fewer executors are ready than the %d that are waited for.", asked.Init))
	}
}

// ResourcesReleased explains whether a driver Pod of an application is left.
func ResourcesReleased(record *v1alpha1.Record, words Wording) Explanation {
	current := outbox.Current(record)
	switch state := lifecycle.State(current.State); {
	case state == lifecycle.ResourceReleased && driverIsLeft(record):
		return conditionFalse("LeftTerminating", fmt.Sprintf("Driver Pod %s was deleted and is not gone.", current.DriverPod))
	case state == lifecycle.ResourceReleased:
		return conditionTrue("Released", "No driver is left.")
	case state == lifecycle.TerminatedWithoutReleaseResources && !driverIsLeft(record):
		return conditionTrue("NothingRetained", "There is no driver Pod to keep: none was created, or it is gone.")
	case state == lifecycle.TerminatedWithoutReleaseResources:
		return conditionFalse("Retained", fmt.Sprintf("Driver Pod %s %s", current.DriverPod, words.Retained))
	case state.AttemptEnded():
		return conditionFalse("AttemptEnded", "The attempt has ended, and the application is not over yet.")
	default:
		return conditionFalse("InUse", "The application is not over.")
	}
}

// driverIsLeft reports whether the attempt has a driver Pod that is not known to be gone.
func driverIsLeft(record *v1alpha1.Record) bool {
	return record.Launch != nil && record.Launch.DriverUID != "" && !record.Launch.Released
}
