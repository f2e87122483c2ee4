package invariants

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// RecordNotLost checks that no write removes the record: "It alone is the truth for lifecycle and events" (section 2).
func RecordNotLost(before, after *v1alpha1.Record) error {
	if before != nil && after == nil {
		return errors.New("the record was lost")
	}
	return nil
}

// RecordMovesForward checks that sequence and cursor never decrease: "Status has one way of being written: with the
// resourceVersion that was read" (section 4).
func RecordMovesForward(before, after *v1alpha1.Record) error {
	if before != nil && (after.Sequence < before.Sequence || after.Acknowledged < before.Acknowledged) {
		return fmt.Errorf("the record went back from %d/%d to %d/%d",
			before.Acknowledged, before.Sequence, after.Acknowledged, after.Sequence)
	}
	return nil
}

// TransitionPersisted checks that a record's sequence has no gap: "A transition is first persisted in status.firesteel, with a
// sequence number, in the same write as the state itself" (section 4, 1).
func TransitionPersisted(sequence, last int64, persisted bool) error {
	if !persisted {
		return fmt.Errorf("transition %d was never persisted, but %d was", sequence, last)
	}
	return nil
}

// TransitionUnchanged checks that a persisted transition is not rewritten: "the data is made from the record and not from the
// object of today" (section 4, 2).
func TransitionUnchanged(before, after v1alpha1.Transition) error {
	if !equality.Semantic.DeepEqual(before, after) {
		return fmt.Errorf("transition %d was rewritten from\n%+v to\n%+v", after.Sequence, before, after)
	}
	return nil
}

// LegalTransition checks that a state may follow another: "random observation sequences never reach an illegal history"
// (section 2). An attempt passes its states forward, and the next attempt starts only after the end of the one before.
func LegalTransition(last, next v1alpha1.Transition) error {
	if !follows(last, next) {
		return fmt.Errorf("%s of attempt %d follows %s of attempt %d", next.State, next.Attempt, last.State, last.Attempt)
	}
	return nil
}

// OneOutcome checks that an application has one true end: sparkfinal is "on the application's last transition" (section 4).
func OneOutcome(outcome string, next v1alpha1.Transition) error {
	if next.Final() && outcome != "" {
		return fmt.Errorf("it came to its end twice: %s, and %s by transition %d", outcome, next.Outcome, next.Sequence)
	}
	return nil
}

// rank orders the states of an attempt. States of the rank comeAndGo alternate.
func rank(state string) int {
	s := lifecycle.State(state)
	switch {
	case s.Initializing():
		return 0
	case s == lifecycle.DriverRequested:
		return 1
	case s == lifecycle.DriverStarted:
		return 2
	case s == lifecycle.DriverReady:
		return 3
	case s.Running(), s.Starting(), s == lifecycle.Unknown:
		return comeAndGo
	case s == lifecycle.Suspending:
		return 5
	case s == lifecycle.Suspended:
		return 6
	case s.AttemptEnded():
		return 7
	case s == lifecycle.TerminatedWithoutReleaseResources:
		return 8
	case s == lifecycle.Invalidating:
		return 9
	default:
		return 10
	}
}

const comeAndGo = 4

// follows reports whether a transition may come after another.
func follows(last, next v1alpha1.Transition) bool {
	if last.State == string(lifecycle.Unknown) && next.Attempt == last.Attempt && lifecycle.Follows(lifecycle.Unknown, lifecycle.State(next.State), true) {
		return true // the driver is as it was before its node was lost
	}
	switch {
	case next.Attempt == last.Attempt+1:
		ended := last.End != nil && last.End.Class != lifecycle.ClassStopped || last.State == string(lifecycle.Invalidating)
		return ended && next.State == string(lifecycle.ScheduledToRestart) ||
			last.State == string(lifecycle.Suspended) && next.State == string(lifecycle.Resuming)
	case next.Attempt != last.Attempt:
		return false
	case next.State == string(lifecycle.ScheduledToRestart) && last.State == string(lifecycle.DriverRequested):
		return true // its sidecar for event logs held up the driver: it is launched once more within the attempt
	case next.State == string(lifecycle.Invalidating):
		return last.State != next.State // an edit matters in each state, also after the end
	case rank(next.State) == rank(last.State):
		return rank(next.State) == comeAndGo && next.State != last.State
	default:
		return rank(next.State) > rank(last.State)
	}
}
