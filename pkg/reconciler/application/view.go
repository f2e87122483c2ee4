package application

import (
	"context"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// view is what one reconcile works from. It is computed once, and each step is given it.
type view struct {
	// App is the application as it was read or, after a status write, as the API server stored it.
	app     dialect.Application
	dialect dialect.Dialect
	// policy is what the spec asks for. Its texts are redacted.
	policy lifecycle.Policy
	// progress is how far the sink and the handlers were when the reconcile began. A change of it enqueues the application.
	progress events.Progress
}

// viewOf computes the view of a reconcile.
func (r *Reconciler) viewOf(ctx context.Context, app dialect.Application) *view {
	settings := config.FromContext(ctx)
	translator := r.api.Dialect(settings)
	policy := translator.Policy(app)
	policy.Spec.SameSince = r.edits.SameSince(app.GetUID(), app.GetGeneration())
	policy.Refused = r.redactCause(app, policy.Refused)
	policy.Timeouts.Deletion = max(settings.Events.DeletionGrace, 1) // 0 means no limit
	return &view{app: app, dialect: translator, policy: policy, progress: r.relay.Progress(app.GetUID())}
}

// record returns a copy of the stored record with the progress of the delivery; nil if there is no record.
func (v *view) record() *v1alpha1.Record {
	if v.app.GetRecord() == nil {
		return nil
	}
	return delivery.CatchUp(v.app.GetRecord(), v.progress)
}

// Deleted reports whether the deletion of the application was requested.
func (v *view) deleted() bool { return v.app.GetDeletionTimestamp() != nil }
