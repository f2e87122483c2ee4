package apache

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// KubernetesEvents returns the Kubernetes Events for the transitions that users look for: those that the record after has and
// the record before has not. before may be nil.
func KubernetesEvents(before, after *v1alpha1.Record) []dialect.KubernetesEvent {
	var emittedUntil int64
	if before != nil {
		emittedUntil = before.Sequence
	}
	var made []dialect.KubernetesEvent
	for _, transition := range after.Transitions {
		if message, worth := eventMessage(transition); transition.Sequence > emittedUntil && worth {
			kind := corev1.EventTypeNormal
			if lifecycle.State(transition.State).Failure() {
				kind = corev1.EventTypeWarning
			}
			made = append(made, dialect.KubernetesEvent{Type: kind, Reason: transition.State, Message: message})
		}
	}
	return made
}

// eventMessage returns the message of a transition, and whether the transition is worth a Kubernetes Event.
func eventMessage(transition v1alpha1.Transition) (message string, worth bool) {
	switch state := lifecycle.State(transition.State); {
	case state.Failure():
		return transition.Message, true
	case state == lifecycle.DriverRequested:
		return fmt.Sprintf("Created driver Pod %s.", transition.DriverPod), true
	case state == lifecycle.Succeeded:
		return fmt.Sprintf("Attempt %d: %s", transition.Attempt, transition.Message), true
	case state == lifecycle.ScheduledToRestart:
		return fmt.Sprintf("Attempt %d follows.", transition.Attempt), true
	default:
		return "", false
	}
}
