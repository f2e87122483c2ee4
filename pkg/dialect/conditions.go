package dialect

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// The condition types.
const (
	// ConditionSucceeded is Unknown while the application lasts, then True or False for good.
	ConditionSucceeded = "Succeeded"
	// ConditionDriverReady is True from the time that the attempt's driver became ready to its end. A driver that is
	// not ready for a while in between runs all the same.
	ConditionDriverReady = "DriverReady"
	// ConditionExecutorsReady is True while the driver is ready and has as many executors as instanceConfig asks for:
	// initExecutors to begin with, minExecutors from then on. Where it asks for none, none are needed.
	ConditionExecutorsReady = "ExecutorsReady"
	// ConditionResourcesReleased is True once the application is over and its driver is gone, or has ended with its
	// deletion accepted; all else goes with the driver. It is False while the driver is retained.
	ConditionResourcesReleased = "ResourcesReleased"
	// ConditionEventsDelivered is True where the record says that the sink has taken all events, Unknown where it does
	// not say so yet, and False where the sink takes none for minutes, or refused one for good.
	ConditionEventsDelivered = "EventsDelivered"
	// ConditionWarning is True where the application runs, but not all that its spec asks for is done.
	ConditionWarning = "Warning"
	// ConditionDriverLabelsChanged is True while somebody's changes keep the driver Pod from being found by its labels, or by
	// its owner.
	ConditionDriverLabelsChanged = "DriverLabelsChanged"
	// ConditionHandlerAnswered is False where a handler was asked for too long.
	ConditionHandlerAnswered = "HandlerAnswered"
)

// Wording are what an API says in its own terms. None is empty.
type Wording struct {
	// ReadLog says how to learn why a driver failed that left nothing but its log.
	ReadLog string
	// NeverForced says what to do about a driver Pod that does not go, where the policy has nobody force it.
	NeverForced string
	// Retained says why a driver Pod is kept after its end, following its name.
	Retained string
}

// SetConditions sets the conditions that the applications of all APIs have. Warnings that have nothing to say are absent. But
// for those, and for what holds the application up, conditions change with the record alone, so that they cost no write
// of their own. observed is the generation of the spec that they speak of.
func SetConditions(conditions *[]metav1.Condition, observed int64, record *v1alpha1.Record, facts Facts, words Wording) {
	set := func(condition metav1.Condition) {
		condition.ObservedGeneration = observed
		condition.LastTransitionTime = metav1.NewTime(facts.Now)
		condition.Message = Clipped(condition.Message)
		meta.SetStatusCondition(conditions, condition)
	}
	unless := func(holds bool, condition metav1.Condition) {
		if holds {
			meta.RemoveStatusCondition(conditions, condition.Type)
			return
		}
		set(condition)
	}
	set(succeeded(record, facts, words, meta.FindStatusCondition(*conditions, ConditionSucceeded)))
	set(driverReady(record))
	set(executorsReady(record, facts.Policy))
	set(resourcesReleased(record, words))
	set(EventsDelivered(record, facts.Delivery, meta.FindStatusCondition(*conditions, ConditionEventsDelivered)))
	warnings := facts.Warnings
	if record.Launch != nil {
		warnings = slices.Concat(record.Launch.Warnings, warnings)
	}
	unless(len(warnings) == 0, metav1.Condition{
		Type: ConditionWarning, Status: metav1.ConditionTrue, Reason: "SpecNotHonored",
		Message: strings.Join(warnings, " "),
	})
	unless(facts.ChangedLabels == "", metav1.Condition{
		Type: ConditionDriverLabelsChanged, Status: metav1.ConditionTrue, Reason: "LabelsChanged", Message: facts.ChangedLabels,
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

func succeeded(record *v1alpha1.Record, facts Facts, words Wording, before *metav1.Condition) metav1.Condition {
	condition := metav1.Condition{Type: ConditionSucceeded, Status: metav1.ConditionUnknown}
	current := outbox.Current(record)
	condition.Reason, condition.Message = current.State, current.Message
	ended, terminated := outbox.LastEnd(record), lifecycle.State(current.State).Terminated()
	switch {
	case ended != nil && (terminated || !awaitsRestart(record, ended)) && !isRestart(current):
		describeEnd(&condition, ended, words)
	case terminated:
		condition.Status = metav1.ConditionFalse // deleted before its end
	case facts.Obstacle != nil:
		condition.Reason, condition.Message = Reason(facts.Obstacle.Reason, current.State), facts.Obstacle.Message
	case facts.Held == lifecycle.HeldSuspended:
		condition.Reason, condition.Message = string(facts.Held), "The launch is held by spec.suspend."
	}
	if condition.Message == "" && current.State == string(lifecycle.ScheduledToRestart) {
		condition.Message = nextStart(record, facts)
	}
	if sentence := waitsFor[facts.Held]; sentence != "" {
		if facts.HeldBy != "" {
			sentence = strings.TrimSuffix(sentence, ".") + ": " + facts.HeldBy + "."
		}
		condition.Message = strings.TrimSpace(condition.Message + " " + sentence)
	}
	if facts.Held == lifecycle.HeldDriverTerminating && facts.Policy.Timeouts.ForceTermination <= 0 {
		condition.Message += " " + words.NeverForced
	}
	if sameObstacle(condition, before, facts) {
		condition.Message = before.Message
	}
	return condition
}

// sameObstacle says that the reason is told already. A scheduler has other words for it with each node that comes and
// goes, and each would be a write.
func sameObstacle(condition metav1.Condition, before *metav1.Condition, facts Facts) bool {
	return facts.Obstacle != nil && facts.Held == "" && before != nil &&
		before.Status == condition.Status && before.Reason == condition.Reason && condition.Reason == facts.Obstacle.Reason
}

// nextStart says when the next attempt starts. An instant that is past is not said: something else holds the attempt.
func nextStart(record *v1alpha1.Record, facts Facts) string {
	if verdict := record.Verdict; verdict != nil && verdict.NotBefore != nil && facts.Now.Before(verdict.NotBefore.Time) {
		return fmt.Sprintf("Attempt %d starts at %s.", record.Attempt.ID, verdict.NotBefore.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("Attempt %d waits for its start.", record.Attempt.ID)
}

func describeEnd(condition *metav1.Condition, ended *v1alpha1.Transition, words Wording) {
	condition.Status = metav1.ConditionFalse
	if ended.End.Outcome == v1alpha1.OutcomeSucceeded {
		condition.Status = metav1.ConditionTrue
	}
	condition.Reason, condition.Message = ended.State, ended.End.Message
	if ended.End.Reason != containerError {
		condition.Reason = Reason(ended.End.Reason, ended.State)
	}
	if strings.HasSuffix(ended.End.Message, "("+containerError+").") { // an exit code, and no more than that
		condition.Message += " " + words.ReadLog
	}
}

// containerError is Kubernetes' reason for any container that exits with another code than 0: the state says more.
const containerError = "Error"

// What the API server lets a condition say: one that says anything else has the whole status refused, for good.
var reasonPattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// maxMessage is far below what the API server allows: people read messages.
const maxMessage = 4096

// Reason is a reason of somebody else's, a webhook's or a scheduler's, where a condition may have it.
func Reason(given, fallback string) string {
	if reasonPattern.MatchString(given) {
		return given
	}
	return fallback
}

// Clipped is a message as a condition may have it: redacted, and short enough.
func Clipped(message string) string {
	return text.Clip(redact.Text(message), maxMessage)
}

// isRestart says that what has ended is to run again, since its spec was edited.
func isRestart(current v1alpha1.Transition) bool {
	return current.State == string(lifecycle.Invalidating)
}

// awaitsRestart says that another attempt may follow this end.
func awaitsRestart(record *v1alpha1.Record, ended *v1alpha1.Transition) bool {
	verdict := record.Verdict
	denied := verdict != nil && verdict.Attempt == record.Attempt.ID && !verdict.Restart
	return ended.End.RestartAllowed && !denied
}
