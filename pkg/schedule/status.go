package schedule

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// The condition types.
const (
	// ConditionScheduled is True while runs are to come; False says why none are.
	ConditionScheduled = "Scheduled"
	// ConditionRunStarted is True where the last run that was due was started; False says why it was not, or not yet.
	ConditionRunStarted = "RunStarted"
	// ConditionWarning is True where not all of the template was taken.
	ConditionWarning = "Warning"
	// ConditionHandlerAnswered is False where a handler was asked for too long.
	ConditionHandlerAnswered = "HandlerAnswered"
)

// ReasonSuspended is why no runs are to come while the spec says so.
const ReasonSuspended = "Suspended"

// Project makes the status of what was decided. silentHandler names a handler that was asked for too long.
func Project(object Object, policy Policy, decision Decision, silentHandler string, now time.Time) {
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
	conclude(status, policy, silentHandler, now)
}

// conclude sets the conditions. One that has nothing to say is absent.
func conclude(status *v1alpha1.ScheduleStatus, policy Policy, silentHandler string, now time.Time) {
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
	set(ConditionHandlerAnswered, handlerAnswered(silentHandler))
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

// heldBy says what a run waits for.
var heldBy = map[v1alpha1.ConcurrencyPolicy]metav1.Condition{
	v1alpha1.ConcurrencyForbid: {
		Reason:  "WaitsForRunningRun",
		Message: "The run due at %s waits for the end of %s; it is missed where the next one is due before that.",
	},
	v1alpha1.ConcurrencyReplace: {
		Reason:  "ReplacesRunningRun",
		Message: "The run due at %s starts when %s is gone, whose deletion was accepted.",
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

func handlerAnswered(silent string) *metav1.Condition {
	if silent == "" {
		return nil
	}
	return &metav1.Condition{
		Status: metav1.ConditionFalse, Reason: "NoAnswer",
		Message: fmt.Sprintf("The handler %q was asked and has not acted; see that it runs, or change where it runs in the "+
			"ConfigMap config-handlers.", silent),
	}
}

func inUTC(at metav1.Time) string { return at.UTC().Format(time.RFC3339) }

// maxNamed is how many runs a message names.
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

// maxMessage bounds what is said of a refusal, in bytes. A condition's message can have 32 KiB.
const maxMessage = 4 << 10

// clipped is a message as a status may have it: redacted, and short enough.
func clipped(message string) string { return text.Clip(redact.Text(message), maxMessage) }
