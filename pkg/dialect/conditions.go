package dialect

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// The condition types.
const (
	// ConditionSucceeded is Unknown until the application ends, then True or False for good.
	ConditionSucceeded = "Succeeded"
	// ConditionDriverReady is True from the time that the attempt's driver became ready until its end. It stays True while a
	// driver is not ready for a while in between: that driver runs.
	ConditionDriverReady = "DriverReady"
	// ConditionExecutorsReady is True while the driver is ready and has as many executors as instanceConfig asks for:
	// initExecutors at first, minExecutors from then on. If it asks for none, none are needed.
	ConditionExecutorsReady = "ExecutorsReady"
	// ConditionResourcesReleased is True once the application has ended and its driver is released: the driver Pod is gone,
	// or it has ended and its deletion was accepted. The garbage collector deletes all other objects with the driver. It is
	// False while the driver is retained.
	ConditionResourcesReleased = "ResourcesReleased"
	// ConditionEventsDelivered is True if the sink has acknowledged all events of the record, and Unknown if that is not
	// recorded yet. It is False if the sink has taken no event for minutes, or refused one for good.
	ConditionEventsDelivered = "EventsDelivered"
	// ConditionWarning is True if the application runs, but not all that its spec asks for is done.
	ConditionWarning = "Warning"
	// ConditionDriverLabelsChanged is True while another writer's changes keep the driver Pod from being found by its labels,
	// or by its owner.
	ConditionDriverLabelsChanged = "DriverLabelsChanged"
	// ConditionHandlerAnswered is False if the answer of a handler is overdue.
	ConditionHandlerAnswered = "HandlerAnswered"
	// ConditionArchived reports whether an attempt that ended is in the archive, if there is one.
	ConditionArchived = "Archived"
)

// SetConditions sets the conditions that the applications of all APIs have. A warning condition without a warning is absent.
// Apart from warnings, and from what holds the application up, conditions change with the record alone: they cost no extra
// write. observed is the generation of the spec that they are about.
func SetConditions(conditions *[]metav1.Condition, observed int64, record *v1alpha1.Record, facts Facts, words diagnosis.Wording) {
	set := func(condition metav1.Condition) {
		condition.ObservedGeneration = observed
		condition.LastTransitionTime = metav1.NewTime(facts.Now)
		condition.Message = Clipped(condition.Message)
		meta.SetStatusCondition(conditions, condition)
	}
	unless := func(holds bool, condition metav1.Condition) {
		if holds {
			// meta.RemoveStatusCondition would copy all conditions even if there is nothing to remove.
			*conditions = slices.DeleteFunc(*conditions, func(c metav1.Condition) bool { return c.Type == condition.Type })
			return
		}
		set(condition)
	}
	set(succeeded(record, facts, words, meta.FindStatusCondition(*conditions, ConditionSucceeded)))
	set(diagnosis.DriverReady(record).Condition(ConditionDriverReady))
	set(diagnosis.ExecutorsReady(record, facts.Policy).Condition(ConditionExecutorsReady))
	set(diagnosis.ResourcesReleased(record, words).Condition(ConditionResourcesReleased))
	set(EventsDelivered(record, facts.Delivery, meta.FindStatusCondition(*conditions, ConditionEventsDelivered)))
	warnings := facts.Warnings
	if record.Launch != nil {
		warnings = slices.Concat(record.Launch.Warnings, warnings)
	}
	unless(len(warnings) == 0, diagnosis.SpecNotHonored(warnings).Condition(ConditionWarning))
	unless(facts.ChangedLabels == nil, ptr.Deref(facts.ChangedLabels, diagnosis.Explanation{}).Condition(ConditionDriverLabelsChanged))
	unless(record.Launch == nil || record.Launch.Archived == "", diagnosis.Archived(record).Condition(ConditionArchived))
	unless(facts.SilentHandler == "", diagnosis.SilentHandler(facts.SilentHandler).Condition(ConditionHandlerAnswered))
}

func succeeded(record *v1alpha1.Record, facts Facts, words diagnosis.Wording, before *metav1.Condition) metav1.Condition {
	condition := diagnosis.Application(record, diagnosis.Facts{
		Now: facts.Now, Policy: facts.Policy, Obstacle: facts.Obstacle, Held: facts.Held, HeldBy: facts.HeldBy,
	}, words).Condition(ConditionSucceeded)
	if sameObstacle(condition, before, facts) {
		condition.Message = before.Message
	}
	return condition
}

// sameObstacle reports whether the reason is shown already. The scheduler changes its message with each node that is added
// or removed, and each change would be a write. The text about a place in a queue changes no more than once a minute.
func sameObstacle(condition metav1.Condition, before *metav1.Condition, facts Facts) bool {
	return facts.Obstacle != nil && facts.Obstacle.Reason != diagnosis.ReasonWaitingForQuota && facts.Held == "" && before != nil &&
		before.Status == condition.Status && before.Reason == condition.Reason && condition.Reason == facts.Obstacle.Reason
}

// EventsDelivered returns the condition about the events of a record. If the sink takes none, the message does not change
// until it takes one. before is the condition that the status has; nil if it has none.
func EventsDelivered(record *v1alpha1.Record, delivery diagnosis.Delivery, before *metav1.Condition) metav1.Condition {
	unavailable := before != nil && before.Reason == diagnosis.ReasonSinkUnavailable
	if unavailable && !delivery.Delivering && record.Acknowledged < record.Sequence {
		return *before
	}
	return diagnosis.EventsDelivered(record, delivery).Condition(ConditionEventsDelivered)
}

// maxMessage is far below the limit of the API server: people read messages.
const maxMessage = 4096

// Clipped returns a message as a condition may have it: redacted and short enough.
func Clipped(message string) string {
	return text.Clip(redact.Text(message), maxMessage)
}
