package diagnosis

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Delivery is what is known of the sink beside the cursor in the record.
type Delivery struct {
	// Undelivered is why the sink takes no events, after that has lasted for a while; empty if it takes them, or was not tried.
	Undelivered string
	// Delivering reports whether the sink took events since the record was last written.
	Delivering bool
}

// ReasonSinkUnavailable is the reason of EventsDelivered if the sink takes no events.
const ReasonSinkUnavailable = "SinkUnavailable"

// EventsDelivered explains how far the sink has taken the events of a record.
func EventsDelivered(record *v1alpha1.Record, delivery Delivery) Explanation {
	switch {
	case delivery.Undelivered != "":
		return conditionFalse(ReasonSinkUnavailable, "Events wait for the sink: "+delivery.Undelivered)
	case record.Rejected > 0:
		return conditionFalse("Rejected", fmt.Sprintf("The sink refused %d event(s) for good; the controller's log holds them.", record.Rejected))
	case record.Acknowledged < record.Sequence:
		return Explanation{Status: metav1.ConditionUnknown, Reason: "Pending",
			Summary: "The record does not show yet that the sink took all events; it is updated when nothing else happens for a while."}
	default:
		return conditionTrue("Delivered", "No event waits to be delivered.")
	}
}

// DeletionWaitsForSink explains why a deleted object is still there: the sink has not taken all of its events. lastError is why.
func DeletionWaitsForSink(pending int, limit time.Duration, lastError string) Explanation {
	return conditionFalse("EventsUndelivered",
		fmt.Sprintf("The deletion waits for the sink to take %d event(s), at most %s: %s", pending, limit, lastError))
}

// SilentHandlerOfNamespace explains that a handler was asked for what drivers need in a namespace, and has not acted for too long.
func SilentHandlerOfNamespace(name, lastError string) Explanation {
	return Explanation{
		Status: metav1.ConditionFalse, Reason: "HandlerOverdue",
		Summary: fmt.Sprintf("The handler %s has not acted for 2 minutes: make sure that it runs, or change where it runs in the ConfigMap "+
			"config-handlers. Last error: %s", name, lastError),
		See: name,
	}
}

// SilentHandler explains that a handler was asked and has not acted for too long.
func SilentHandler(name string) Explanation {
	explanation := conditionFalse("NoAnswer", fmt.Sprintf("The handler %q was asked and has not acted", name))
	explanation.Remedy = "make sure that it runs, or change where it runs in the ConfigMap config-handlers."
	explanation.See = name
	return explanation
}
