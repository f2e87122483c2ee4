package application

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// otherOperatorQuiet is how long another operator must not have written the status before Firesteel adopts the application again.
const otherOperatorQuiet = 5 * time.Minute

// ensureRecord returns true if the application has a usable record, or is new: a new one gets its record with its first transition.
// It returns false if nothing can be done for the application now.
func (r *Reconciler) ensureRecord(ctx context.Context, v *view) (bool, error) {
	app, d := v.app, v.dialect
	record, deleted := app.GetRecord(), app.GetDeletionTimestamp() != nil
	switch {
	case record.Foreign(), record != nil && !deleted && !lifecycle.Understands(record, v.policy):
		return false, r.skipUnknownRecord(ctx, v)
	case record != nil && app.GetUndecodable() == "", record != nil && deleted:
		return true, nil // to stop the driver of a deleted one takes its record only
	}
	begun := d.HasForeignStatus(app)
	loss := r.recordGuard.lostRecordOf(app)
	lost := loss.last != nil
	contested := lost && begun && !loss.pruned && !d.SameVisibleStatus(app, loss.last)
	switch {
	case app.GetUndecodable() != "":
		return false, r.markBlocked(ctx, v, "Undecodable", "Correct the field and apply the application again: "+app.GetUndecodable())
	case r.recordGuard.lossPending(app):
		return false, controller.NewRequeueAfter(retryAfter)
	case deleted && (loss.pruned || contested):
		return false, r.releaseUndecodable(ctx, v)
	case r.recordGuard.pruned.Wait(app.GetUID(), r.clock.Now()) > 0:
		return false, controller.NewRequeueAfter(r.recordGuard.pruned.Wait(app.GetUID(), r.clock.Now()))
	case contested && r.clock.Since(loss.at) < otherOperatorQuiet:
		return false, r.waitForOtherOperator(ctx, v, loss)
	case lost && !contested:
		return r.restoreStatus(ctx, v, loss)
	case !begun && r.newApplications.has(app.GetUID()):
		return !deleted, nil
	case d.FinishedElsewhere(app):
		return false, nil
	default:
		return r.adopt(ctx, v)
	}
}

// waitForOtherOperator leaves an application to the operator that writes its status beside Firesteel.
func (r *Reconciler) waitForOtherOperator(ctx context.Context, v *view, loss lostRecord) error {
	if err := r.reportBlocked(ctx, v, "AnotherOperatorActive", fmt.Sprintf("Another operator runs this application too: it wrote the "+
		"status and dropped status.firesteel. Stop it, or remove Firesteel; Firesteel leaves the application alone until nobody else "+
		"has written its status for %s.", otherOperatorQuiet)); err != nil {
		return err
	}
	return controller.NewRequeueAfter(otherOperatorQuiet - r.clock.Since(loss.at))
}

// restoreStatus restores a status that another writer removed. Without the record a second driver could be launched.
func (r *Reconciler) restoreStatus(ctx context.Context, v *view, loss lostRecord) (bool, error) {
	if err := r.write(ctx, v, v.dialect.Restore(v.app, loss.last)); err != nil {
		return false, err
	}
	controller.GetEventRecorder(ctx).Event(v.app, corev1.EventTypeWarning, "StatusRestored",
		"status.firesteel was removed, which is the record of what runs; it is restored. Delete the application to begin anew.")
	return true, nil
}

// adopt takes over an application of another operator, with its driver if there is one.
func (r *Reconciler) adopt(ctx context.Context, v *view) (bool, error) {
	app, d := v.app, v.dialect
	record, err := d.Inherit(app)
	if err != nil {
		return false, r.markBlocked(ctx, v, "NotAdopted", fmt.Sprintf("The status is another operator's and cannot be understood: "+
			"status.%s. What runs is left alone; delete the application and apply it again to have it run by Firesteel.", err))
	}
	pods, err := r.listDrivers(ctx, v)
	if err != nil {
		return false, err
	}
	if pods, err = r.addRelabelled(ctx, v, record, pods); err != nil {
		return false, err
	}
	driver, others := d.PickDriver(app, record, pods)
	if cleared, err := r.deleteOtherDrivers(ctx, v, others); err != nil || !cleared {
		return false, err
	}
	if driver == nil && dialect.JustCreated(record) {
		return !v.deleted(), nil
	}
	if record, err = d.Adopt(app, record, driver); err != nil {
		return false, err
	}
	if err := r.write(ctx, v, v.withStatus(record, r.facts(v, record, lifecycle.Decision{}, nil))); err != nil {
		return false, err
	}
	if r.onStatusWrite != nil {
		r.onStatusWrite(app, v.app)
	}
	logging.FromContext(ctx).Infow("adopted application", v.logKeys()...)
	controller.GetEventRecorder(ctx).Eventf(v.app, corev1.EventTypeNormal, "Adopted",
		"Taken over as it was left: attempt %d, %s.", record.Attempt.ID, outbox.Current(record).State)
	return true, nil
}

// addRelabelled looks for the driver Pod by its name if none was found by its labels: another writer may have changed the labels.
func (r *Reconciler) addRelabelled(
	ctx context.Context, v *view, record *v1alpha1.Record, found []corev1.Pod,
) ([]corev1.Pod, error) {
	app := v.app
	if len(found) > 0 || dialect.JustCreated(record) {
		return found, nil
	}
	without, err := v.dialect.Adopt(app, record.DeepCopy(), nil)
	if err != nil || without.Launch == nil || lifecycle.CurrentState(without).Terminated() {
		return nil, err
	}
	pod, err := r.kube.CoreV1().Pods(app.GetNamespace()).Get(ctx, without.Launch.DriverPod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for driver %s/%s: %w", app.GetNamespace(), without.Launch.DriverPod, err)
	case !dialect.Owns(app, pod):
		return nil, nil
	}
	return []corev1.Pod{*pod}, nil
}

// listDrivers lists the driver Pods of an application live: the cache proves nothing about Pods that another operator created.
func (r *Reconciler) listDrivers(ctx context.Context, v *view) ([]corev1.Pod, error) {
	app := v.app
	pods, err := r.kube.CoreV1().Pods(app.GetNamespace()).List(ctx, metav1.ListOptions{LabelSelector: v.dialect.DriverLabels(app)})
	if err != nil {
		return nil, fmt.Errorf("look for drivers of %s/%s: %w", app.GetNamespace(), app.GetName(), err)
	}
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !dialect.Owns(app, &pod) }), nil
}

// deleteOtherDrivers deletes drivers that are not the current attempt's. It reports whether none of them can be running. A deleted
// application does not wait for that.
func (r *Reconciler) deleteOtherDrivers(ctx context.Context, v *view, others []corev1.Pod) (bool, error) {
	app := v.app
	if len(others) == 0 {
		return true, nil
	}
	if err := r.api.CheckUnchanged(ctx, app); err != nil {
		return false, err // they may be another replica's
	}
	for i := range others {
		pod := &others[i]
		gone, err := r.deleteDueDriver(ctx, v, pod, drivers.OfEarlierAttempt)
		if err != nil {
			return false, err
		}
		if !gone && app.GetDeletionTimestamp() == nil {
			r.enqueueAfter(app, delivery.CursorDelay) // should its end not be seen
			return false, r.reportBlocked(ctx, v, "EarlierDriver", fmt.Sprintf("A driver Pod is not the current attempt's. It is deleted, and "+
				"the application goes on once it is gone: %s.", lifecycle.ObserveDriver(pod, "").DescribeTerminating()))
		}
	}
	return true, nil
}
