package sparkapplication

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

// setAside does nothing for an application but say why, or, where it is deleted, let it go.
func (r *Reconciler) setAside(ctx context.Context, app *sparkv1.SparkApplication, reason, message string) error {
	if app.DeletionTimestamp != nil {
		return r.letGo(ctx, app)
	}
	return r.report(ctx, app, reason, message)
}

// letGo deletes the drivers of an application without a record, which nothing else would do where its dependents are
// orphaned.
func (r *Reconciler) letGo(ctx context.Context, app *sparkv1.SparkApplication) error {
	drivers, err := r.driversOf(ctx, app)
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

// report says on an application why it is set aside, once per generation. What else the status holds is left alone.
func (r *Reconciler) report(ctx context.Context, app *sparkv1.SparkApplication, reason, message string) error {
	if !r.written.firstReport(app) {
		return nil
	}
	logging.FromContext(ctx).Warnw("Application is set aside", "reason", reason, "message", message)
	controller.GetEventRecorder(ctx).Event(app, corev1.EventTypeWarning, reason, message)
	patch, err := apache.SetAsidePatch(app, reason, message, r.clock.Now())
	if err != nil {
		return err
	}
	_, err = r.spark.SparkV1().SparkApplications(app.Namespace).
		Patch(ctx, app.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		r.written.unreport(app)
		return fmt.Errorf("report that the application is set aside: %w", err)
	}
	return nil
}
