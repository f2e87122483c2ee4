package application

import (
	"context"
	"slices"

	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// reconcileWithoutFinalizer takes an application further that needs no finalizer, since nothing of it is to be stopped or told. The
// generated reconciler would give it one, even as its time to live ends. It says no where there is something to hold the
// application for.
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
		!lifecycle.Understands(record, r.viewOf(ctx, app).policy)
}

func (r *Reconciler) restsWithoutFinalizer(ctx context.Context, app dialect.Application) bool {
	if !r.api.ReleasesFinished || r.hasFinalizer(app) || app.GetDeletionTimestamp() != nil {
		return false
	}
	v, record := r.viewOf(ctx, app), app.GetRecord()
	if record == nil {
		return app.GetUndecodable() == "" && v.dialect.FinishedElsewhere(app)
	}
	return lifecycle.Over(record, v.policy)
}

// removeFinalizer takes the finalizer from an application that is over and told of, where its API has it so. One that is about to
// be deleted keeps it: the deletion holds for the application as it was read, and would fail.
func (r *Reconciler) removeFinalizer(ctx context.Context, v *view) error {
	app := v.app
	if !r.api.ReleasesFinished || !r.hasFinalizer(app) || app.GetDeletionTimestamp() != nil {
		return nil
	}
	record := v.record()
	if !lifecycle.AtRest(record, v.policy, r.clock.Now()) || record.Acknowledged < record.Sequence || len(r.orphanDrivers(app, record)) > 0 {
		return nil
	}
	if r.keepFinalizer(app) {
		return nil // its schedule's record is watched
	}
	released, err := r.api.DropFinalizer(ctx, app)
	if err != nil {
		return err
	}
	logging.FromContext(ctx).Debugw("removed finalizer", v.logKeys()...)
	r.recordGuard.written(released)
	return nil
}

// hasFinalizer says that the application has the finalizer.
func (r *Reconciler) hasFinalizer(app dialect.Application) bool {
	return slices.Contains(app.GetFinalizers(), r.api.Finalizer)
}
