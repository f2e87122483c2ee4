package lifecycle

import (
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// reasonStopped is the reason of an attempt that a user stopped.
const reasonStopped = "Stopped"

// neverAfterStop is why no attempt follows a stop.
const neverAfterStop = "No attempt follows: the application was stopped."

// StoppedCause returns the cause of the end of an attempt that a user stopped. given is the user's reason; empty if there is none.
func StoppedCause(given string) *Cause {
	message := "The application was stopped."
	if given = strings.TrimRight(given, " ."); given != "" {
		message = "The application was stopped: " + given + "."
	}
	return &Cause{Class: ClassStopped, Reason: reasonStopped, Message: message}
}

// mustStop reports whether the attempt is to be stopped. It does not stop a driver that the user started: Firesteel deletes such a driver only with
// its application.
func (m *machine) mustStop() bool { return m.policy.Stop != nil && !m.followsUser() }

// wasStopped reports whether a user stopped the attempt before its driver ended.
func wasStopped(ended *v1alpha1.Transition) bool { return ended.End.Class == ClassStopped }
