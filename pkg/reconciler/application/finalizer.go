package application

import (
	"context"
	"slices"

	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
)

// reconcileWithoutFinalizer reconciles an application that needs no finalizer: nothing of it has to be stopped or delivered. The
// generated reconciler would add one, even when the time to live is over. It returns false if the application needs a finalizer.
func (r *Reconciler) reconcileWithoutFinalizer(ctx context.Context, app dialect.Application) (bool, error) {
	if !r.restsWithoutFinalizer(ctx, app) && !r.hasUnknownRecord(ctx, app) {
		return false, nil
	}
	return true, r.Reconcile(ctx, dialect.Copy(app))
}

// hasUnknownRecord reports whether not even a finalizer is added, since the record is not understood.
func (r *Reconciler) hasUnknownRecord(ctx context.Context, app dialect.Application) bool {
	record := app.GetRecord()
	return record != nil && app.GetDeletionTimestamp() == nil && !r.hasFinalizer(app) &&
		!lifecycle.Understands(record, r.viewOf(ctx, app).Policy)
}

func (r *Reconciler) restsWithoutFinalizer(ctx context.Context, app dialect.Application) bool {
	if !r.api.ReleasesFinished || r.hasFinalizer(app) || app.GetDeletionTimestamp() != nil {
		return false
	}
	v, record := r.viewOf(ctx, app), app.GetRecord()
	if record == nil {
		return app.GetUndecodable() == "" && v.Dialect.FinishedElsewhere(app)
	}
	return lifecycle.Finished(record, v.Policy)
}

// removeFinalizer removes the finalizer from an application that is finished and whose events are delivered, if its API wants that.
// Keep the finalizer while the TTL handler is about to delete: removing it changes the resourceVersion, and the delete would
// conflict.
func (r *Reconciler) removeFinalizer(ctx context.Context, v *view.Application) error {
	app := v.App
	if !r.api.ReleasesFinished || !r.hasFinalizer(app) || app.GetDeletionTimestamp() != nil {
		return nil
	}
	record := v.Record()
	if !lifecycle.AtRest(record, v.Policy, r.clock.Now()) || record.Acknowledged < record.Sequence || len(r.orphanDrivers(app, record)) > 0 {
		return nil
	}
	if r.keepFinalizer(app) {
		return nil // its schedule's record is watched
	}
	released, err := r.api.DropFinalizer(ctx, app)
	if err != nil {
		return err
	}
	logging.FromContext(ctx).Debugw("removed finalizer", v.LogKeys()...)
	r.recordGuard.written(released)
	return nil
}

// hasFinalizer reports whether the application has Firesteel's finalizer.
func (r *Reconciler) hasFinalizer(app dialect.Application) bool {
	return slices.Contains(app.GetFinalizers(), r.api.Finalizer)
}
