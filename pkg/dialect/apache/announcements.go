package apache

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Announcements are the Kubernetes Events of the transitions that people look for, of those that a record has and the
// one before it, which may be nil, has not.
func Announcements(before, after *v1alpha1.Record) []dialect.Announcement {
	var told int64
	if before != nil {
		told = before.Sequence
	}
	var made []dialect.Announcement
	for _, transition := range after.Transitions {
		if message, worth := announced(transition); transition.Sequence > told && worth {
			kind := corev1.EventTypeNormal
			if lifecycle.State(transition.State).Failure() {
				kind = corev1.EventTypeWarning
			}
			made = append(made, dialect.Announcement{Type: kind, Reason: transition.State, Message: message})
		}
	}
	return made
}

// announced is what is said of a transition, and whether anything is.
func announced(transition v1alpha1.Transition) (message string, worth bool) {
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
