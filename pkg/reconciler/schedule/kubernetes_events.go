package schedule

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// emitEvents writes log lines, metrics and Kubernetes Events about changes of a schedule's status, whichever replica
// or handler wrote it.
func (r *Reconciler) emitEvents(ctx context.Context, before, after variant.Schedule) {
	from, to := before.GetScheduleStatus(), after.GetScheduleStatus()
	if from.Firesteel == nil || to.Firesteel == nil {
		return
	}
	ctx = logging.WithLogger(ctx, logging.FromContext(ctx).With("namespace", after.GetNamespace(), "name", after.GetName()))
	recorder := controller.GetEventRecorder(ctx)
	event := func(why diagnosis.Explanation) {
		recorder.Event(after, corev1.EventTypeWarning, why.Reason, why.Message())
	}
	missed := to.Firesteel.Missed - from.Firesteel.Missed
	last := to.Firesteel.Last
	if fresh := last != nil && (from.Firesteel.Last == nil || *from.Firesteel.Last != *last); fresh {
		logRun(ctx, last)
		r.metrics.RecordRun(r.kind.GroupVersion.Group, last)
		if last.UID == "" {
			missed--
			event(diagnosis.RunNotStarted(last))
		}
	}
	if missed > 0 {
		logging.FromContext(ctx).Infow("runs missed", "count", missed)
		event(diagnosis.RunsMissed(missed))
	}
	r.metrics.CountMissed(r.kind.GroupVersion.Group, to.Firesteel.Missed-from.Firesteel.Missed)
	if refused := v1alpha1.ScheduleStateFailedValidation; to.ScheduleState == refused && from.Reason != to.Reason {
		recorder.Event(after, corev1.EventTypeWarning, string(refused), to.Reason)
	}
}
