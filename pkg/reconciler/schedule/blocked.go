package schedule

import (
	"context"
	"encoding/json"

	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/schedules"
)

// isBlocked reports whether nothing is done for a schedule now, and reports why if so.
func (r *Reconciler) isBlocked(ctx context.Context, s variant.Schedule) (bool, error) {
	record := s.GetScheduleStatus().Firesteel
	switch {
	case record.HasNewerFormat():
		r.withdraw(s)
		r.reports.NotUnderstood(ctx, s, diagnosis.NewerFormat(record.Format))
		return true, nil
	case s.GetUndecodable() != "":
		r.withdraw(s)
		return true, r.reportUndecodable(ctx, s)
	case record == nil:
		if wait := r.pruned.Wait(s.GetUID(), r.clock.Now()); wait > 0 {
			return true, controller.NewRequeueAfter(wait)
		}
	}
	return false, nil
}

// withdraw withdraws the request to the handler of a schedule.
func (r *Reconciler) withdraw(s variant.Schedule) {
	r.relay.Forget(s.GetUID())
	r.published.forget(s.GetUID())
	r.dueRuns.Set(s.GetUID(), false)
}

// reportUndecodable reports why nothing is done for a schedule that cannot be decoded. Other fields of the status stay as they are.
func (r *Reconciler) reportUndecodable(ctx context.Context, s variant.Schedule) error {
	why := diagnosis.Undecodable("schedule", r.redactors.For(s).Text(s.GetUndecodable()))
	message := why.Message()
	return r.reports.Report(ctx, s, why.Reason, message, func() error {
		patch, err := json.Marshal(map[string]any{"status": map[string]any{
			"scheduleState": v1alpha1.ScheduleStateFailedValidation, "reason": message,
		}})
		if err != nil {
			return err
		}
		_, err = schedules.Client(r.kind, r.client, s.GetNamespace()).Patch(ctx, s.GetName(), patch, "status")
		return err
	})
}
