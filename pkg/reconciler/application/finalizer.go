package application

import (
	"context"
	"slices"

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
	return record != nil && app.GetDeletionTimestamp() == nil && !lifecycle.Understands(record, r.dialect(ctx).Policy(app))
}

func (r *Reconciler) restsWithoutFinalizer(ctx context.Context, app dialect.Application) bool {
	if !r.api.ReleasesFinished || r.hasFinalizer(app) || app.GetDeletionTimestamp() != nil {
		return false
	}
	d, record := r.dialect(ctx), app.GetRecord()
	if record == nil {
		return app.GetUndecodable() == "" && d.FinishedElsewhere(app)
	}
	return lifecycle.Over(record, r.policy(d, app))
}

// removeFinalizer takes the finalizer from an application that is over and told of, where its API has it so. One that is about to
// be deleted keeps it: the deletion holds for the application as it was read, and would fail.
func (r *Reconciler) removeFinalizer(ctx context.Context, app dialect.Application, policy lifecycle.Policy) error {
	if !r.api.ReleasesFinished || !r.hasFinalizer(app) || app.GetDeletionTimestamp() != nil {
		return nil
	}
	record := r.recordWithProgress(app)
	if !lifecycle.AtRest(record, policy, r.clock.Now()) || record.Acknowledged < record.Sequence || len(r.orphanDrivers(app, record)) > 0 {
		return nil
	}
	if r.keepFinalizer(app) {
		return nil // its schedule's record is watched
	}
	released, err := r.api.DropFinalizer(ctx, app)
	if err != nil {
		return err
	}
	r.recordGuard.written(released)
	return nil
}

// hasFinalizer says that the application has the finalizer.
func (r *Reconciler) hasFinalizer(app dialect.Application) bool {
	return slices.Contains(app.GetFinalizers(), r.api.Finalizer)
}
