package schedule

import (
	"context"

	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

// logDecision writes one debug line for a decision: the due run, the next run, whether the handler is asked, and the
// requeue time.
func logDecision(ctx context.Context, decision schedule.Decision, asks bool) {
	var keys []any
	if !decision.Due.IsZero() {
		keys = append(keys, "due", decision.Due)
	}
	if !decision.Next.IsZero() {
		keys = append(keys, "next", decision.Next)
	}
	if held := decision.Record.Held; held != nil {
		keys = append(keys, "held", held.Policy)
	}
	if asks {
		keys = append(keys, "awaits", schedule.Handler)
	}
	base.LogDecision(ctx, keys, decision.RequeueAt)
}

// logRun writes one info line for the run of an instant: started or, if its application was refused, not.
func logRun(ctx context.Context, run *v1alpha1.ScheduledRun) {
	keys := []any{"due", run.ScheduledTime.Time, "application", run.Name}
	if run.UID == "" {
		logging.FromContext(ctx).Infow("run refused", append(keys, "reason", run.Reason, "detail", run.Message)...)
		return
	}
	logging.FromContext(ctx).Infow("run started", append(keys, "uid", run.UID)...)
}
