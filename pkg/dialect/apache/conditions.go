package apache

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// The condition types.
const (
	// ConditionSucceeded is Unknown while the application lasts, then True or False for good.
	ConditionSucceeded = "Succeeded"
	// ConditionWarning is True where the application runs, but not all that its spec asks for is done.
	ConditionWarning = "Warning"
	// ConditionEventsDelivered is False where the sink refused an event for good.
	ConditionEventsDelivered = "EventsDelivered"
	// ConditionHandlerAnswered is False where a handler was asked for too long.
	ConditionHandlerAnswered = "HandlerAnswered"
)

// Facts are what conditions say beyond the record.
type Facts struct {
	// Now is when they are said.
	Now time.Time
	// Waiting says why the driver does not start; nil where nothing is known to hold it.
	Waiting *lifecycle.Cause
	// Held says what the application waits for.
	Held lifecycle.Held
	// Warnings are sentences about what is not done as the spec asks.
	Warnings []string
	// SilentHandler names a handler that was asked for too long; empty where none was.
	SilentHandler string
}

// Conclude sets the conditions of an application. Those that have nothing to say are absent.
func Conclude(app *sparkv1.SparkApplication, record *v1alpha1.Record, facts Facts) {
	status := &app.Status
	if app.DeletionTimestamp == nil { // a deletion raises the generation, and changes no spec
		status.ObservedGeneration = app.Generation
	}
	set := func(condition metav1.Condition) {
		condition.ObservedGeneration = status.ObservedGeneration
		condition.LastTransitionTime = metav1.NewTime(facts.Now)
		condition.Message = clipped(condition.Message)
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	unless := func(holds bool, condition metav1.Condition) {
		if holds {
			meta.RemoveStatusCondition(&status.Conditions, condition.Type)
			return
		}
		set(condition)
	}
	set(succeeded(record, facts))
	warnings := facts.Warnings
	if record.Launch != nil {
		warnings = slices.Concat(record.Launch.Warnings, warnings)
	}
	unless(len(warnings) == 0, metav1.Condition{
		Type: ConditionWarning, Status: metav1.ConditionTrue, Reason: "SpecNotHonored",
		Message: strings.Join(warnings, " "),
	})
	unless(record.Rejected == 0, metav1.Condition{
		Type: ConditionEventsDelivered, Status: metav1.ConditionFalse, Reason: "Rejected",
		Message: fmt.Sprintf("The sink refused %d event(s) for good; the controller's log holds them.", record.Rejected),
	})
	unless(facts.SilentHandler == "", metav1.Condition{
		Type: ConditionHandlerAnswered, Status: metav1.ConditionFalse, Reason: "NoAnswer",
		Message: fmt.Sprintf("The handler %q was asked and has not acted; see that it runs, or change where it runs in the ConfigMap config-handlers.",
			facts.SilentHandler),
	})
}

// waitsFor says what an application waits for.
var waitsFor = map[lifecycle.Held]string{
	lifecycle.HeldDriverTerminating: "The driver Pod's deletion was accepted and it is not gone yet.",
	lifecycle.HeldEventsUndelivered: "The restart waits until the sink takes the events that it has not taken.",
}

func succeeded(record *v1alpha1.Record, facts Facts) metav1.Condition {
	condition := metav1.Condition{Type: ConditionSucceeded, Status: metav1.ConditionUnknown}
	current := lifecycle.Current(record)
	condition.Reason, condition.Message = current.State, current.Message
	ended, terminated := lifecycle.LastEnd(record), lifecycle.State(current.State).Terminated()
	switch {
	case ended != nil && (terminated || !awaitsRestart(record, ended)):
		conclude(&condition, ended)
	case terminated:
		condition.Status = metav1.ConditionFalse // deleted before its end
	case facts.Waiting != nil && (lifecycle.State(current.State).Initializing() || current.State == string(lifecycle.DriverRequested)):
		condition.Reason, condition.Message = reason(facts.Waiting.Reason, current.State), facts.Waiting.Message
	case facts.Held == lifecycle.HeldSuspended:
		condition.Reason, condition.Message = string(facts.Held), "The launch is held by spec.suspend."
	}
	if condition.Message == "" && current.State == string(lifecycle.ScheduledToRestart) {
		condition.Message = nextStart(record)
	}
	if sentence := waitsFor[facts.Held]; sentence != "" {
		condition.Message = strings.TrimSpace(condition.Message + " " + sentence)
	}
	return condition
}

func nextStart(record *v1alpha1.Record) string {
	if verdict := record.Verdict; verdict != nil && verdict.NotBefore != nil {
		return fmt.Sprintf("Attempt %d starts at %s.", record.Attempt.ID, verdict.NotBefore.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("Attempt %d waits for its start.", record.Attempt.ID)
}

func conclude(condition *metav1.Condition, ended *v1alpha1.Transition) {
	condition.Status = metav1.ConditionFalse
	if ended.End.Outcome == v1alpha1.OutcomeSucceeded {
		condition.Status = metav1.ConditionTrue
	}
	condition.Reason, condition.Message = ended.State, ended.End.Message
	if ended.State == string(lifecycle.SchedulingFailure) {
		condition.Reason = reason(ended.End.Reason, ended.State)
	}
}

// What the API server lets a condition say: one that says anything else has the whole status refused, for good.
var reasonPattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// maxMessage is far below what the API server allows: people read messages.
const maxMessage = 4096

// reason is a reason of somebody else's, a webhook's or a scheduler's, where a condition may have it.
func reason(given, fallback string) string {
	if reasonPattern.MatchString(given) {
		return given
	}
	return fallback
}

func clipped(message string) string {
	const ellipsis = "..."
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage-len(ellipsis)], "") + ellipsis
}

// awaitsRestart says that another attempt may follow this end.
func awaitsRestart(record *v1alpha1.Record, ended *v1alpha1.Transition) bool {
	verdict := record.Verdict
	denied := verdict != nil && verdict.Attempt == record.Attempt.ID && !verdict.Restart
	return ended.End.RestartAllowed && !denied
}

// SetAsidePatch is a merge patch for the status of an application for which nothing is done. It says why in the
// condition Succeeded, which takes the place of all conditions, and leaves alone what else the status holds.
func SetAsidePatch(app *sparkv1.SparkApplication, reason, message string, now time.Time) ([]byte, error) {
	condition := metav1.Condition{
		Type: ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: reason, Message: clipped(message),
		ObservedGeneration: app.Generation, LastTransitionTime: metav1.NewTime(now),
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": app.ResourceVersion},
		"status":   map[string]any{"conditions": []metav1.Condition{condition}},
	})
}
