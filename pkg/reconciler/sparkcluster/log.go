package sparkcluster

import (
	"cmp"
	"context"

	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
)

// logDecision writes one debug line for a decision, with the keys of the decisions about applications.
func logDecision(ctx context.Context, record *v1alpha1.Record, decision cluster.Decision) {
	keys := []any{"state", cluster.Current(record), "effect", decision.Effect}
	if decision.Held != "" {
		keys = append(keys, "held", decision.Held)
	}
	if cause := cmp.Or(decision.Refused, decision.Obstacle); cause != nil {
		keys = append(keys, "reason", cause.Reason)
	}
	if !decision.RequeueAt.IsZero() {
		keys = append(keys, "until", decision.RequeueAt)
	}
	logging.FromContext(ctx).Debugw("decided", keys...)
}
