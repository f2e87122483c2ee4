package sparkcluster

import (
	"cmp"
	"context"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// logDecision writes one debug line for a decision, with the keys of the decisions about applications.
func logDecision(ctx context.Context, record *v1alpha1.Record, decision cluster.Decision) {
	keys := append(base.LogKeys(record), "effect", decision.Effect)
	if decision.Held != "" {
		keys = append(keys, "held", decision.Held)
	}
	if cause := cmp.Or(decision.Refused, decision.Obstacle); cause != nil {
		keys = append(keys, "reason", cause.Reason)
	}
	base.LogDecision(ctx, keys, decision.RequeueAt)
}
