package sparkapplication

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// setAside says why nothing is done for an application; both are empty where there is no reason.
func setAside(app *sparkv1.SparkApplication) (reason, message string) {
	switch {
	case app.Undecodable != "":
		return "Undecodable", "Correct the field and apply the application again: " + app.Undecodable
	case foreign(app) && !lifecycle.State(app.Status.CurrentState.CurrentStateSummary).Terminated():
		return "NotAdopted", "The status is another operator's, or its record status.firesteel was removed. " +
			"What runs is left alone; delete the application and apply it again to have it run by Firesteel."
	default:
		return "", ""
	}
}

// foreign says that another operator began with the application. Submitted is no beginning yet: Firesteel itself
// leaves it behind where its record is dropped.
func foreign(app *sparkv1.SparkApplication) bool {
	state := app.Status.CurrentState
	return app.Status.Firesteel == nil && state != nil && state.CurrentStateSummary != string(lifecycle.Submitted)
}

// report says on an application why it is set aside, once per generation. What else the status holds is left alone.
func (r *Reconciler) report(ctx context.Context, app *sparkv1.SparkApplication, reason, message string) error {
	if app.DeletionTimestamp != nil || !r.written.firstReport(app) {
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
