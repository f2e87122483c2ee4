package schedule

import (
	"context"

	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

// logDecision writes one debug line for a decision, with the keys of the decisions about applications: the state, what the handler is asked
// for, what holds a run, and the requeue time. It adds the due run and the next one.
func logDecision(ctx context.Context, state v1alpha1.ScheduleState, decision schedule.Decision, asks bool) {
	keys := []any{"state", state, "effect", effectOf(decision, asks)}
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

// effectOf returns what the handler is asked for; empty if nothing.
func effectOf(decision schedule.Decision, asks bool) string {
	switch {
	case !asks:
		return ""
	case decision.Due.IsZero():
		return "DeleteRuns"
	default:
		return "StartRun"
	}
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
