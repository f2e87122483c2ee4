package application

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// markBlocked does nothing for an application but say why, or, where it is deleted, let it go.
func (r *Reconciler) markBlocked(ctx context.Context, app dialect.Application, reason, message string) error {
	if app.GetDeletionTimestamp() != nil {
		return r.releaseUndecodable(ctx, app)
	}
	return r.reportBlocked(ctx, app, reason, message)
}

// releaseUndecodable deletes the drivers of an application without a record, which nothing else would do where its dependents are
// orphaned.
func (r *Reconciler) releaseUndecodable(ctx context.Context, app dialect.Application) error {
	drivers, err := r.listDrivers(ctx, app)
	if err != nil {
		return err
	}
	var errs []error
	for _, driver := range drivers {
		_, err := r.deleteDriver(ctx, driver.Namespace, driver.Name, driver.UID, nil)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// skipUnknownRecord does nothing for an application whose record this version of Firesteel does not understand, and does not write it:
// a newer version may run beside this one. A Kubernetes Event says so. If the user deletes the application its drivers are
// deleted. The version that wrote the record is given time to conclude it.
func (r *Reconciler) skipUnknownRecord(ctx context.Context, app dialect.Application) error {
	r.relay.Forget(app.GetUID())
	if app.GetDeletionTimestamp() == nil {
		if message := delivery.NotUnderstood(app.GetRecord()); r.recordGuard.reports.First(app) {
			logging.FromContext(ctx).Warnw("Application is left alone", "message", message)
			controller.GetEventRecorder(ctx).Event(app, corev1.EventTypeWarning, "RecordNotUnderstood", message)
		}
		return nil
	}
	if err := r.releaseUndecodable(ctx, app); err != nil {
		return err
	}
	if wait := delivery.LeftToNewer(ctx, app, r.clock.Now()); wait > 0 {
		return controller.NewRequeueAfter(wait)
	}
	logging.FromContext(ctx).Errorw("A deleted application goes whose record is not understood",
		"message", delivery.NotUnderstood(app.GetRecord()), "record", app.GetRecord())
	return nil
}

// reportBlocked says on an application why it is set aside, once per generation. What else the status holds is left alone.
func (r *Reconciler) reportBlocked(ctx context.Context, app dialect.Application, reason, message string) error {
	if !r.recordGuard.reports.First(app) {
		return nil
	}
	message = r.redactors.For(app).Text(message)
	logging.FromContext(ctx).Warnw("Application is set aside", "reason", reason, "message", message)
	controller.GetEventRecorder(ctx).Event(app, corev1.EventTypeWarning, reason, message)
	patch, err := dialect.BlockedPatch(app, metav1.Condition{
		Type: dialect.ConditionSucceeded, Status: metav1.ConditionUnknown, Reason: reason, Message: message,
	}, r.clock.Now())
	if err != nil {
		return err
	}
	if err := r.api.PatchStatus(ctx, app, patch); err != nil {
		r.recordGuard.reports.Forget(app.GetUID())
		return fmt.Errorf("report that the application is set aside: %w", err)
	}
	return nil
}
