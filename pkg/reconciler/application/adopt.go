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

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// otherOperatorQuiet is for how long another operator has to have written nothing before an application is adopted again.
const otherOperatorQuiet = 5 * time.Minute

// ensureRecord sees that an application has its record, or is new and gets it with its first transition. It says no
// where nothing is to be done for the application, or not yet.
func (r *Reconciler) ensureRecord(ctx context.Context, app dialect.Application) (dialect.Application, bool, error) {
	d := r.dialect(ctx)
	record, deleted := app.GetRecord(), app.GetDeletionTimestamp() != nil
	switch {
	case record.Foreign(), record != nil && !deleted && !lifecycle.Understands(record, d.Policy(app)):
		return app, false, r.skipUnknownRecord(ctx, app)
	case record != nil && app.GetUndecodable() == "", record != nil && deleted:
		return app, true, nil // to stop the driver of a deleted one takes its record only
	}
	begun := d.HasForeignStatus(app)
	loss := r.recordGuard.lostRecordOf(app)
	lost := loss.last != nil
	contested := lost && begun && !loss.pruned && !d.SameVisibleStatus(app, loss.last)
	switch {
	case app.GetUndecodable() != "":
		return app, false, r.markBlocked(ctx, app, "Undecodable", "Correct the field and apply the application again: "+app.GetUndecodable())
	case r.recordGuard.lossPending(app):
		return app, false, controller.NewRequeueAfter(retryAfter)
	case deleted && (loss.pruned || contested):
		return app, false, r.releaseUndecodable(ctx, app)
	case r.recordGuard.pruned.Wait(app.GetUID(), r.clock.Now()) > 0:
		return app, false, controller.NewRequeueAfter(r.recordGuard.pruned.Wait(app.GetUID(), r.clock.Now()))
	case contested && r.clock.Since(loss.at) < otherOperatorQuiet:
		return app, false, r.waitForOtherOperator(ctx, app, loss)
	case lost && !contested:
		return r.restoreStatus(ctx, app, loss)
	case !begun && r.expectations.isNew(app.GetUID()):
		return app, !deleted, nil
	case d.FinishedElsewhere(app):
		return app, false, nil
	default:
		return r.adopt(ctx, app)
	}
}

// waitForOtherOperator leaves an application to the operator that writes its status beside Firesteel.
func (r *Reconciler) waitForOtherOperator(ctx context.Context, app dialect.Application, loss lostRecord) error {
	if err := r.reportBlocked(ctx, app, "AnotherOperatorActive", fmt.Sprintf("Another operator runs this application too: it wrote the "+
		"status and dropped status.firesteel. Stop it, or remove Firesteel; Firesteel leaves the application alone until nobody else "+
		"has written its status for %s.", otherOperatorQuiet)); err != nil {
		return err
	}
	return controller.NewRequeueAfter(otherOperatorQuiet - r.clock.Since(loss.at))
}

// restoreStatus gives a status back that somebody removed. Without it a second driver might be launched.
func (r *Reconciler) restoreStatus(ctx context.Context, app dialect.Application, loss lostRecord) (dialect.Application, bool, error) {
	stored, err := r.write(ctx, app, r.dialect(ctx).Restore(app, loss.last))
	if err != nil {
		return app, false, err
	}
	controller.GetEventRecorder(ctx).Event(stored, corev1.EventTypeWarning, "StatusRestored",
		"status.firesteel was removed, which is the record of what runs; it is restored. Delete the application to begin anew.")
	return stored, true, nil
}

// adopt takes an application over from another operator, with the driver that there is.
func (r *Reconciler) adopt(ctx context.Context, app dialect.Application) (dialect.Application, bool, error) {
	d := r.dialect(ctx)
	record, err := d.Inherit(app)
	if err != nil {
		return app, false, r.markBlocked(ctx, app, "NotAdopted", fmt.Sprintf("The status is another operator's and cannot be understood: "+
			"status.%s. What runs is left alone; delete the application and apply it again to have it run by Firesteel.", err))
	}
	drivers, err := r.listDrivers(ctx, app)
	if err != nil {
		return app, false, err
	}
	if drivers, err = r.addRelabelled(ctx, d, app, record, drivers); err != nil {
		return app, false, err
	}
	driver, others := d.PickDriver(app, record, drivers)
	if cleared, err := r.deleteOtherDrivers(ctx, app, others); err != nil || !cleared {
		return app, false, err
	}
	if driver == nil && dialect.JustCreated(record) {
		return app, app.GetDeletionTimestamp() == nil, nil
	}
	if record, err = d.Adopt(app, record, driver); err != nil {
		return app, false, err
	}
	stored, err := r.write(ctx, app, withStatus(d, app, record, r.facts(d, app, record, lifecycle.Decision{}, nil)))
	if err != nil {
		return app, false, err
	}
	if r.onStatusWrite != nil {
		r.onStatusWrite(app, stored)
	}
	controller.GetEventRecorder(ctx).Eventf(stored, corev1.EventTypeNormal, "Adopted",
		"Taken over as it was left: attempt %d, %s.", record.Attempt.ID, outbox.Current(record).State)
	return stored, true, nil
}

// addRelabelled adds the driver Pod that has the name which the status says, or which it would have, if none was found by
// its labels: somebody may have changed those.
func (r *Reconciler) addRelabelled(
	ctx context.Context, d dialect.Dialect, app dialect.Application, record *v1alpha1.Record, found []corev1.Pod,
) ([]corev1.Pod, error) {
	if len(found) > 0 || dialect.JustCreated(record) {
		return found, nil
	}
	without, err := d.Adopt(app, record.DeepCopy(), nil)
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

// listDrivers are the driver Pods of an application, read live: this is about what another operator made, or what
// nobody remembers.
func (r *Reconciler) listDrivers(ctx context.Context, app dialect.Application) ([]corev1.Pod, error) {
	pods, err := r.kube.CoreV1().Pods(app.GetNamespace()).List(ctx, metav1.ListOptions{LabelSelector: r.dialect(ctx).DriverLabels(app)})
	if err != nil {
		return nil, fmt.Errorf("look for drivers of %s/%s: %w", app.GetNamespace(), app.GetName(), err)
	}
	return slices.DeleteFunc(pods.Items, func(pod corev1.Pod) bool { return !dialect.Owns(app, &pod) }), nil
}

// deleteOtherDrivers deletes drivers that are not the current attempt's, and says whether none of them can be alive. The deleted
// application need not wait for that.
func (r *Reconciler) deleteOtherDrivers(ctx context.Context, app dialect.Application, others []corev1.Pod) (bool, error) {
	if len(others) == 0 {
		return true, nil
	}
	if err := r.checkUnchanged(ctx, app); err != nil {
		return false, err // they may be another replica's
	}
	for i := range others {
		pod := &others[i]
		gone, err := r.deleteDueDriver(ctx, app, pod)
		if err != nil {
			return false, err
		}
		if !gone && app.GetDeletionTimestamp() == nil {
			r.enqueueAfter(app, delivery.CursorDelay) // should its end not be seen
			return false, r.reportBlocked(ctx, app, "EarlierDriver", fmt.Sprintf("A driver Pod is not the current attempt's. It is deleted, and "+
				"the application goes on once it is gone: %s.", lifecycle.ObserveDriver(pod, "").Remains()))
		}
	}
	return true, nil
}

// deleteDueDriver deletes a driver, by force where it is late, and says whether it can be alive no more.
func (r *Reconciler) deleteDueDriver(ctx context.Context, app dialect.Application, pod *corev1.Pod) (bool, error) {
	policy := r.dialect(ctx).Policy(app)
	seen := lifecycle.ObserveDriver(pod, policy.MainContainer)
	if !r.dueForDeletion(app, pod, policy) {
		return seen.Stopped, nil
	}
	if !seen.Terminating {
		accepted, err := r.deleteDriver(ctx, pod.Namespace, pod.Name, pod.UID, nil)
		return seen.Stopped || !accepted, err
	}
	accepted, err := r.deleteAgain(ctx, app, pod.Namespace, seen)
	return !accepted, err
}
