package diagnosis

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// Facts are what else is needed to explain an application, beside its record.
type Facts struct {
	// Now is the present time.
	Now time.Time
	// Policy is the application's.
	Policy lifecycle.Policy
	// Obstacle is what keeps the driver, or its executors, from starting; nil if nothing is known.
	Obstacle *lifecycle.Cause
	// Held is what the application waits for.
	Held lifecycle.Held
	// HeldBy names the driver Pod that has to disappear, and what keeps it; empty if that is unknown.
	HeldBy string
}

// Wording holds the texts in which each API has its own terms. None is empty.
type Wording struct {
	// ReadLog is the remedy for a driver that failed and left only its log.
	ReadLog string
	// NeverForced is the remedy for a driver Pod that stays terminating, if the policy does not delete it by force.
	NeverForced string
	// Retained explains why a driver Pod is kept after its end. It follows the name of the Pod.
	Retained string
}

// waitsFor holds the text of what an application waits for.
var waitsFor = map[lifecycle.Held]string{
	lifecycle.HeldDriverTerminating: "The driver Pod's deletion was accepted and it is not gone yet.",
	lifecycle.HeldEventsUndelivered: "The restart waits until the sink takes the events that it has not taken.",
}

// Application explains the state of an application: how its attempt ended, what it waits for, or what keeps its Pods from starting.
func Application(record *v1alpha1.Record, facts Facts, words Wording) Explanation {
	current := outbox.Current(record)
	explanation := Explanation{Status: metav1.ConditionUnknown, Reason: current.State, Summary: current.Message}
	ended, terminated := outbox.LastEnd(record), lifecycle.State(current.State).Terminated()
	switch {
	case ended != nil && (terminated || !awaitsRestart(record, ended)) && !isRestart(current):
		explanation = attemptEnd(ended, words)
	case terminated:
		explanation.Status = metav1.ConditionFalse // deleted before its end
	case facts.Obstacle != nil:
		explanation.Reason, explanation.Summary = Reason(facts.Obstacle.Reason, current.State), facts.Obstacle.Message
	case facts.Held == lifecycle.HeldSuspended:
		explanation.Reason, explanation.Summary = string(facts.Held), "The launch is held by spec.suspend."
	}
	if explanation.Message() == "" && current.State == string(lifecycle.ScheduledToRestart) {
		explanation.Summary, explanation.Until = nextStart(record, facts)
	}
	if sentence := waitsFor[facts.Held]; sentence != "" {
		if facts.HeldBy != "" {
			sentence = strings.TrimSuffix(sentence, ".") + ": " + facts.HeldBy + "."
		}
		explanation.Summary, explanation.Remedy = strings.TrimSpace(explanation.Message()+" "+sentence), ""
	}
	if facts.Held == lifecycle.HeldDriverTerminating {
		explanation.See = facts.HeldBy
		switch {
		case record.Launch != nil && record.Launch.ByUser:
			explanation.Remedy = userDriverNeverForced
		case facts.Policy.Timeouts.ForceTermination <= 0:
			explanation.Remedy = words.NeverForced
		}
	}
	return explanation
}

// nextStart returns when the next attempt starts. It does not name a time in the past: then something else holds the attempt.
func nextStart(record *v1alpha1.Record, facts Facts) (summary string, at time.Time) {
	if verdict := record.Verdict; verdict != nil && verdict.NotBefore != nil && facts.Now.Before(verdict.NotBefore.Time) {
		at = verdict.NotBefore.Time
		return fmt.Sprintf("Attempt %d starts at %s.", record.Attempt.ID, at.UTC().Format(time.RFC3339)), at
	}
	return fmt.Sprintf("Attempt %d waits for its start.", record.Attempt.ID), time.Time{}
}

func attemptEnd(ended *v1alpha1.Transition, words Wording) Explanation {
	explanation := conditionFalse(ended.State, ended.End.Message)
	if ended.End.Outcome == v1alpha1.OutcomeSucceeded {
		explanation.Status = metav1.ConditionTrue
	}
	if ended.End.Reason != containerError {
		explanation.Reason = Reason(ended.End.Reason, ended.State)
	}
	if strings.HasSuffix(ended.End.Message, "("+containerError+").") { // an exit code, and no more than that
		explanation.Remedy, explanation.See = words.ReadLog, ended.DriverPod
	}
	return explanation
}

// containerError is Kubernetes' reason for each container that exits with another code than 0. The state is more precise.
const containerError = "Error"

// isRestart reports whether an application that has ended runs again, since its spec was edited.
func isRestart(current v1alpha1.Transition) bool {
	return current.State == string(lifecycle.Invalidating)
}

// awaitsRestart reports whether another attempt may follow this end.
func awaitsRestart(record *v1alpha1.Record, ended *v1alpha1.Transition) bool {
	verdict := record.Verdict
	denied := verdict != nil && verdict.Attempt == record.Attempt.ID && !verdict.Restart
	return ended.End.RestartAllowed && !denied
}
