package schedule

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// report says on a schedule that cannot be decoded what is wrong, once a generation. What else the status holds is left
// alone.
func (r *Reconciler) report(ctx context.Context, s variant.Schedule) error {
	r.relay.Forget(s.GetUID())
	if !r.reported.First(s) {
		return nil
	}
	message := redact.Text("Correct the field and apply the schedule again: " + s.GetUndecodable())
	logging.FromContext(ctx).Warnw("Schedule is set aside", "reason", "Undecodable", "message", message)
	controller.GetEventRecorder(ctx).Event(s, corev1.EventTypeWarning, "Undecodable", message)
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"scheduleState": v1alpha1.ScheduleStateFailedValidation, "reason": message,
	}})
	if err != nil {
		return err
	}
	if _, err := r.kind.Schedules(r.client, s.GetNamespace()).Patch(ctx, s.GetName(), patch, "status"); err != nil {
		r.reported.Forget(s.GetUID())
		return fmt.Errorf("report that the schedule is set aside: %w", err)
	}
	return nil
}

// note makes metrics and Kubernetes Events of what became of a schedule's instants, whoever wrote it.
func (r *Reconciler) note(ctx context.Context, before, after variant.Schedule) {
	was, is := before.GetScheduleStatus(), after.GetScheduleStatus()
	if was.Firesteel == nil || is.Firesteel == nil {
		return
	}
	recorder := controller.GetEventRecorder(ctx)
	event := func(reason, format string, arguments ...any) {
		recorder.Eventf(after, corev1.EventTypeWarning, reason, format, arguments...)
	}
	missed := is.Firesteel.Missed - was.Firesteel.Missed
	last := is.Firesteel.Last
	if fresh := last != nil && (was.Firesteel.Last == nil || *was.Firesteel.Last != *last); fresh {
		r.instruments.came(r.kind.GroupVersion.Group, last)
		if last.UID == "" {
			missed--
			event(last.Reason, "The run due at %s was not started: %s", last.ScheduledTime.UTC().Format(instantLayout), last.Message)
		}
	}
	if missed > 0 {
		event("RunsMissed", "%d run(s) were not started in time.", missed)
	}
	r.instruments.missed(r.kind.GroupVersion.Group, is.Firesteel.Missed-was.Firesteel.Missed)
	if refused := v1alpha1.ScheduleStateFailedValidation; is.ScheduleState == refused && was.Reason != is.Reason {
		event(string(refused), "%s", is.Reason)
	}
}
