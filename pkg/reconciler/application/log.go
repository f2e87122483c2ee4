package application

import (
	"context"

	"go.uber.org/zap"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// The log of a reconcile explains what happened to its application. The logger in the context has the keys namespace and
// name. Each line about an attempt adds attempt and state. A decision adds effect, held, heldBy, reason, awaits and until, as far
// as they are known.

// logDecision writes one debug line for a decision: the effect that follows, what holds it up, and until when.
func logDecision(ctx context.Context, record *v1alpha1.Record, decision lifecycle.Decision) {
	if !logging.FromContext(ctx).Desugar().Core().Enabled(zap.DebugLevel) {
		return
	}
	keys := append(base.LogKeys(record), "effect", decision.Effect)
	if decision.Held != "" {
		keys = append(keys, "held", decision.Held)
	}
	if decision.HeldBy != "" {
		keys = append(keys, "heldBy", decision.HeldBy)
	}
	if decision.Obstacle != nil {
		keys = append(keys, "reason", decision.Obstacle.Reason)
	}
	if decision.Awaits != lifecycle.AwaitsNothing {
		keys = append(keys, "awaits", decision.Awaits)
	}
	base.LogDecision(ctx, keys, decision.RequeueAt)
}
