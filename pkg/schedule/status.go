package schedule

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// The condition types.
const (
	// ConditionScheduled is True if runs will follow. If it is False, it says why none will.
	ConditionScheduled = "Scheduled"
	// ConditionRunStarted is True if the last due run was started. If it is False, it says why it was not, or not
	// yet.
	ConditionRunStarted = "RunStarted"
	// ConditionWarning is True if a part of the template was ignored.
	ConditionWarning = "Warning"
	// ConditionHandlerAnswered is False if a handler has not acted for too long.
	ConditionHandlerAnswered = "HandlerAnswered"
)

// ReasonSuspended is why no runs follow while the spec says so.
const ReasonSuspended = "Suspended"

// Project writes a decision into the status. overdueHandler names a handler that has not acted for too long.
func Project(object Object, policy Policy, decision Decision, overdueHandler string, now time.Time) {
	status, record := object.GetScheduleStatus(), decision.Record
	status.Firesteel, status.ObservedGeneration = record, object.GetGeneration()
	status.ScheduleState, status.Reason = v1alpha1.ScheduleStateScheduled, ""
	status.NextRun, status.MissedRuns = nil, record.Missed
	if policy.Refusal != nil {
		status.ScheduleState, status.Reason = v1alpha1.ScheduleStateFailedValidation, clipped(policy.Refusal.Error())
	}
	if !decision.Next.IsZero() {
		next := seconds(decision.Next)
		status.NextRun = &next
	}
	if last := record.Last; last != nil && last.UID != "" {
		started := seconds(last.StartedAt.Time)
		status.LastRun, status.LastRunName = &started, last.Name
	}
	conclude(status, policy, overdueHandler, now)
}

// conclude sets the conditions, and removes those that do not apply.
func conclude(status *v1alpha1.ScheduleStatus, policy Policy, overdueHandler string, now time.Time) {
	set := func(kind string, condition *metav1.Condition) {
		if condition == nil {
			meta.RemoveStatusCondition(&status.Conditions, kind)
			return
		}
		condition.Type, condition.ObservedGeneration = kind, status.ObservedGeneration
		condition.LastTransitionTime, condition.Message = metav1.NewTime(now), clipped(condition.Message)
		meta.SetStatusCondition(&status.Conditions, *condition)
	}
	set(ConditionScheduled, scheduled(policy))
	set(ConditionRunStarted, runStarted(status.Firesteel))
	set(ConditionWarning, warning(status.Firesteel))
	set(ConditionHandlerAnswered, handlerAnswered(overdueHandler))
}

func scheduled(policy Policy) *metav1.Condition {
	switch {
	case policy.Refusal != nil:
		return &metav1.Condition{Status: metav1.ConditionFalse, Reason: policy.Refusal.Reason, Message: policy.Refusal.Error()}
	case policy.Suspended:
		return &metav1.Condition{
			Status: metav1.ConditionFalse, Reason: ReasonSuspended,
			Message: "No run starts while spec.suspend is true.",
		}
	default:
		return &metav1.Condition{Status: metav1.ConditionTrue, Reason: string(v1alpha1.ScheduleStateScheduled)}
	}
}

// heldBy holds the condition for what a run waits for.
var heldBy = map[v1alpha1.ConcurrencyPolicy]metav1.Condition{
	v1alpha1.ConcurrencyForbid: {
		Reason:  "WaitsForRunningRun",
		Message: "The run due at %s waits for the end of %s; it is missed if the next run is due before that.",
	},
	v1alpha1.ConcurrencyReplace: {
		Reason:  "ReplacesRunningRun",
		Message: "The run due at %s starts when %s is gone; its deletion was accepted.",
	},
}

func runStarted(record *v1alpha1.ScheduleRecord) *metav1.Condition {
	last := record.Last
	switch {
	case record.Held != nil:
		condition := heldBy[record.Held.Policy]
		condition.Status = metav1.ConditionFalse
		condition.Message = fmt.Sprintf(condition.Message, inUTC(record.Held.ScheduledTime), named(record.Active))
		return &condition
	case last == nil:
		return nil
	case last.UID == "":
		return &metav1.Condition{
			Status: metav1.ConditionFalse, Reason: last.Reason,
			Message: fmt.Sprintf("The run due at %s was not started: %s", inUTC(last.ScheduledTime), last.Message),
		}
	default:
		return &metav1.Condition{
			Status: metav1.ConditionTrue, Reason: "Started",
			Message: fmt.Sprintf("%s was started for %s.", last.Name, inUTC(last.ScheduledTime)),
		}
	}
}

func warning(record *v1alpha1.ScheduleRecord) *metav1.Condition {
	if last := record.Last; last != nil && last.UID != "" && last.Message != "" {
		return &metav1.Condition{Status: metav1.ConditionTrue, Reason: "TemplateNotHonored", Message: last.Message}
	}
	return nil
}

func handlerAnswered(overdue string) *metav1.Condition {
	if overdue == "" {
		return nil
	}
	explanation := diagnosis.SilentHandler(overdue)
	return &metav1.Condition{Status: explanation.Status, Reason: explanation.Reason, Message: explanation.Message()}
}

func inUTC(at metav1.Time) string { return at.UTC().Format(time.RFC3339) }

// maxNamed bounds the runs that a message names.
const maxNamed = 3

func named(runs []v1alpha1.RunReference) string {
	var names []string
	for _, run := range runs[:min(len(runs), maxNamed)] {
		names = append(names, run.Name)
	}
	if more := len(runs) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(names) == 0 {
		return "the running run"
	}
	return strings.Join(names, ", ")
}

// maxMessage bounds the message of a refusal, in bytes. A condition's message may have 32 KiB.
const maxMessage = 4 << 10

// clipped redacts and clips a message for a status.
func clipped(message string) string { return text.Clip(redact.Text(message), maxMessage) }
