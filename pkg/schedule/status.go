package schedule

import (
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

// Project writes a decision into the status. overdueHandler names a handler that has not acted for too long.
func Project(object Object, policy Policy, decision Decision, overdueHandler string, now time.Time) {
	status, record := object.GetScheduleStatus(), decision.Record
	status.Firesteel, status.ObservedGeneration = record, object.GetGeneration()
	status.ScheduleState, status.Reason = v1alpha1.ScheduleStateScheduled, ""
	status.NextRun, status.MissedRuns = nil, record.Missed
	if refusal := policy.Refusal(); refusal != nil {
		status.ScheduleState, status.Reason = v1alpha1.ScheduleStateFailedValidation, clipped(refusal.Error())
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
	set := func(kind string, explanation *diagnosis.Explanation) {
		if explanation == nil {
			meta.RemoveStatusCondition(&status.Conditions, kind)
			return
		}
		condition := explanation.Condition(kind)
		condition.ObservedGeneration = status.ObservedGeneration
		condition.LastTransitionTime, condition.Message = metav1.NewTime(now), clipped(condition.Message)
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	scheduled := diagnosis.Scheduled(policy.Refusal(), policy.Suspended)
	set(ConditionScheduled, &scheduled)
	set(ConditionRunStarted, diagnosis.RunStarted(status.Firesteel))
	set(ConditionWarning, warning(status.Firesteel))
	set(ConditionHandlerAnswered, handlerAnswered(overdueHandler))
}

func warning(record *v1alpha1.ScheduleRecord) *diagnosis.Explanation {
	if last := record.Last; last != nil && last.UID != "" && last.Message != "" {
		explanation := diagnosis.TemplateNotHonored(last.Message)
		return &explanation
	}
	return nil
}

func handlerAnswered(overdue string) *diagnosis.Explanation {
	if overdue == "" {
		return nil
	}
	explanation := diagnosis.SilentHandler(overdue)
	return &explanation
}

// maxMessage bounds the message of a refusal, in bytes. A condition's message may have 32 KiB.
const maxMessage = 4 << 10

// clipped redacts and clips a message for a status.
func clipped(message string) string { return text.Clip(redact.Text(message), maxMessage) }
