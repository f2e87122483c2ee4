package dialect

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
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

// SetConditions sets the conditions that the applications of all APIs have. Warnings that have nothing to say are absent. But
// for those, and for what holds the application up, conditions change with the record alone, so that they cost no write
// of their own. observed is the generation of the spec that they speak of.
func SetConditions(conditions *[]metav1.Condition, observed int64, record *v1alpha1.Record, facts Facts, words diagnosis.Wording) {
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
	set(conditionOf(ConditionDriverReady, diagnosis.DriverReady(record)))
	set(conditionOf(ConditionExecutorsReady, diagnosis.ExecutorsReady(record, facts.Policy)))
	set(conditionOf(ConditionResourcesReleased, diagnosis.ResourcesReleased(record, words)))
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
	unless(facts.SilentHandler == "", conditionOf(ConditionHandlerAnswered, diagnosis.SilentHandler(facts.SilentHandler)))
}

// conditionOf returns the condition of a type that says what an explanation does.
func conditionOf(kind string, is diagnosis.Explanation) metav1.Condition {
	return metav1.Condition{Type: kind, Status: is.Status, Reason: is.Reason, Message: is.Message()}
}

func succeeded(record *v1alpha1.Record, facts Facts, words diagnosis.Wording, before *metav1.Condition) metav1.Condition {
	condition := conditionOf(ConditionSucceeded, diagnosis.Application(record, diagnosis.Facts{
		Now: facts.Now, Policy: facts.Policy, Obstacle: facts.Obstacle, Held: facts.Held, HeldBy: facts.HeldBy,
	}, words))
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

// EventsDelivered returns the condition about the events of a record. If the sink takes none, the message stays as it is until it
// takes one. before is the condition that the status has; nil if it has none.
func EventsDelivered(record *v1alpha1.Record, delivery diagnosis.Delivery, before *metav1.Condition) metav1.Condition {
	unavailable := before != nil && before.Reason == diagnosis.ReasonSinkUnavailable
	if unavailable && !delivery.Delivering && record.Acknowledged < record.Sequence {
		return *before
	}
	return conditionOf(ConditionEventsDelivered, diagnosis.EventsDelivered(record, delivery))
}

// maxMessage is far below what the API server allows: people read messages.
const maxMessage = 4096

// Clipped is a message as a condition may have it: redacted, and short enough.
func Clipped(message string) string {
	return text.Clip(redact.Text(message), maxMessage)
}
