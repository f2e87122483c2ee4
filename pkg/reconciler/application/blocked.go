package application

import (
	"context"
	"errors"

	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/adoption"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
)

// markBlocked reports why Firesteel does nothing for an application. If the application is deleted, its drivers are deleted
// and its finalizer is removed.
func (r *Reconciler) markBlocked(ctx context.Context, v *view.Application, why diagnosis.Explanation) error {
	if v.Deleted() {
		return r.releaseUndecodable(ctx, v)
	}
	return r.reportBlocked(ctx, v, why)
}

// releaseUndecodable deletes the drivers of an application without a usable record. The garbage collector does not delete
// them if the deletion orphans dependents.
func (r *Reconciler) releaseUndecodable(ctx context.Context, v *view.Application) error {
	pods, err := adoption.ListDrivers(ctx, r.kube, v)
	if err != nil {
		return err
	}
	var errs []error
	for _, pod := range pods {
		_, err := r.deleter.Delete(ctx, v.App, drivers.RefOf(&pod), drivers.ApplicationBlocked, false)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// skipUnknownRecord does nothing for an application whose record this version of Firesteel does not understand. It does not
// write the record: a newer version may run beside this one. A Kubernetes Event reports this. If the user deletes the
// application, its drivers are deleted. The version that wrote the record gets time to conclude it.
func (r *Reconciler) skipUnknownRecord(ctx context.Context, v *view.Application) error {
	app := v.App
	r.relay.Forget(app.GetUID())
	if !v.Deleted() {
		r.recordGuard.reports.NotUnderstood(ctx, app, diagnosis.NotUnderstood(app.GetRecord()))
		return nil
	}
	if err := r.releaseUndecodable(ctx, v); err != nil {
		return err
	}
	return blocked.AwaitNewerVersion(ctx, app, app.GetRecord(), r.clock.Now())
}

// reportBlocked reports why Firesteel does nothing for an application. Other fields of the status do not change.
func (r *Reconciler) reportBlocked(ctx context.Context, v *view.Application, why diagnosis.Explanation) error {
	app, condition := v.App, why.Condition(dialect.ConditionSucceeded)
	condition.Message = r.redactors.For(app).Text(condition.Message)
	return r.recordGuard.reports.Report(ctx, app, condition.Reason, condition.Message, func() error {
		patch, err := dialect.BlockedPatch(app, condition, r.clock.Now())
		if err != nil {
			return err
		}
		return r.api.PatchStatus(ctx, app, patch)
	})
}
