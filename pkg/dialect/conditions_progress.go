package dialect

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// driverIsReady says that the attempt's driver became ready and has not ended.
func driverIsReady(state lifecycle.State) bool {
	return state == lifecycle.DriverReady || state == lifecycle.InitializedBelowThresholdExecutors || state.Running()
}

func driverReady(record *v1alpha1.Record) metav1.Condition {
	state := lifecycle.CurrentState(record)
	switch {
	case driverIsReady(state):
		return conditionTrue(ConditionDriverReady, "DriverReady", "The driver is ready.")
	case state.Initializing():
		return conditionFalse(ConditionDriverReady, string(state), "No driver is requested yet.")
	case state.Starting():
		return conditionFalse(ConditionDriverReady, string(state), "The driver is not ready yet.")
	case state == lifecycle.Unknown:
		return metav1.Condition{Type: ConditionDriverReady, Status: metav1.ConditionUnknown, Reason: string(state),
			Message: "The driver's node does not tell what the driver does."}
	case state == lifecycle.Suspending, state == lifecycle.Invalidating:
		return conditionFalse(ConditionDriverReady, string(state), "The driver, if there is one, is being stopped.")
	default:
		return conditionFalse(ConditionDriverReady, string(state), "No driver runs any more.")
	}
}

func executorsReady(record *v1alpha1.Record, policy lifecycle.Policy) metav1.Condition {
	const kind = ConditionExecutorsReady
	state, asked := lifecycle.CurrentState(record), policy.Executors
	switch {
	case !driverIsReady(state):
		return conditionFalse(kind, string(state), "There is no driver that is ready for executors.")
	case !asked.Requested():
		return conditionTrue(kind, "NoMinimum", "No number of executors is asked for.")
	case state == lifecycle.RunningHealthy:
		return conditionTrue(kind, "Sufficient", "As many executors are ready as are asked for.")
	case state == lifecycle.RunningWithPartialCapacity:
		return conditionTrue(kind, "PartialCapacity", fmt.Sprintf("Executors are ready, and fewer than the %d of maxExecutors.", asked.Max))
	case state == lifecycle.RunningWithBelowThresholdExecutors:
		return conditionFalse(kind, "BelowMinimum", fmt.Sprintf("Fewer executors are ready than the %d of minExecutors.", asked.Min))
	default:
		return conditionFalse(kind, "BelowInitial", fmt.Sprintf("Fewer executors are ready than the %d that are waited for.", asked.Init))
	}
}

func resourcesReleased(record *v1alpha1.Record, words Wording) metav1.Condition {
	const kind = ConditionResourcesReleased
	current := outbox.Current(record)
	switch state := lifecycle.State(current.State); {
	case state == lifecycle.ResourceReleased && driverIsLeft(record):
		return conditionFalse(kind, "LeftTerminating", fmt.Sprintf("Driver Pod %s was deleted and is not gone.", current.DriverPod))
	case state == lifecycle.ResourceReleased:
		return conditionTrue(kind, "Released", "No driver is left.")
	case state == lifecycle.TerminatedWithoutReleaseResources && !driverIsLeft(record):
		return conditionTrue(kind, "NothingRetained", "There is no driver Pod to keep: none was created, or it is gone.")
	case state == lifecycle.TerminatedWithoutReleaseResources:
		return conditionFalse(kind, "Retained", fmt.Sprintf("Driver Pod %s %s", current.DriverPod, words.Retained))
	case state.AttemptEnded():
		return conditionFalse(kind, "AttemptEnded", "The attempt has ended, and the application is not over yet.")
	default:
		return conditionFalse(kind, "InUse", "The application is not over.")
	}
}

// driverIsLeft reports whether the attempt has a driver Pod that is not known to be gone.
func driverIsLeft(record *v1alpha1.Record) bool {
	return record.Launch != nil && record.Launch.DriverUID != "" && !record.Launch.Released
}

// Delivery is how the sink does, beside what a record says of it.
type Delivery struct {
	// Undelivered is why the sink takes no events, once that is worth telling; empty where it takes them, or was not tried.
	Undelivered string
	// Delivering says that the sink took events since the record was last written.
	Delivering bool
}

// reasonSinkUnavailable is that of EventsDelivered where the sink takes none.
const reasonSinkUnavailable = "SinkUnavailable"

// EventsDelivered says how far the sink has taken the events of a record. That it takes none is told once, in words that stay
// until it takes one. before is the condition as it is told; nil where it is not.
func EventsDelivered(record *v1alpha1.Record, delivery Delivery, before *metav1.Condition) metav1.Condition {
	const kind = ConditionEventsDelivered
	unavailable := before != nil && before.Reason == reasonSinkUnavailable
	switch {
	case unavailable && !delivery.Delivering && record.Acknowledged < record.Sequence:
		return *before
	case delivery.Undelivered != "":
		return conditionFalse(kind, reasonSinkUnavailable, "Events wait for the sink: "+delivery.Undelivered)
	case record.Rejected > 0:
		return conditionFalse(kind, "Rejected", fmt.Sprintf(
			"The sink refused %d event(s) for good; the controller's log holds them.", record.Rejected))
	case record.Acknowledged < record.Sequence:
		return metav1.Condition{Type: kind, Status: metav1.ConditionUnknown, Reason: "Pending",
			Message: "The sink is not known to have taken all events; it is recorded once nothing else happens for a while."}
	default:
		return conditionTrue(kind, "Delivered", "No event waits to be delivered.")
	}
}

func conditionTrue(kind, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

func conditionFalse(kind, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message}
}
