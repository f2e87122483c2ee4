package application

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
)

// orphanDrivers returns the driver Pods of an application that may run and that its record does not name. The cause is a late
// create: its controller crashed, or another replica launched the attempt, saw the Pod deleted, and went on. A driver that is known
// to be released is not an orphan, even if the cache is stale.
func (r *Reconciler) orphanDrivers(app dialect.Application, record *v1alpha1.Record) []*corev1.Pod {
	if record == nil {
		return nil
	}
	return slices.DeleteFunc(r.drivers.OwnedBy(app.GetUID()), func(pod *corev1.Pod) bool {
		return !isOrphan(pod, record.Launch) || r.expectations.Released(pod.UID)
	})
}

func isOrphan(pod *corev1.Pod, launch *v1alpha1.Launch) bool {
	id := pod.Labels[labelLaunch]
	switch {
	case id == "", lifecycle.PodEnded(pod) && pod.DeletionTimestamp != nil:
		return false // made by somebody else, or of an attempt that is released
	case launch == nil:
		return true
	case launch.DriverUID == "" && !launch.Released:
		return id != launch.ID // that which bears the id is the launch's own: it is not recorded yet
	default:
		return pod.UID != launch.DriverUID
	}
}

// deleteOrphans deletes orphan drivers and adds them to the observation. The record may be stale, and the Pods may belong to a
// later launch: therefore the application is read live before a Pod is deleted.
func (r *Reconciler) deleteOrphans(
	ctx context.Context, v *view, record *v1alpha1.Record, seen *lifecycle.Observation,
) error {
	app := v.app
	orphans := r.orphanDrivers(app, record)
	if len(orphans) == 0 {
		return nil
	}
	seen.HasOrphan, seen.OrphanDriver = true, lifecycle.ObserveDriver(orphans[0], v.policy.MainContainer)
	orphans = slices.DeleteFunc(orphans, func(pod *corev1.Pod) bool { return !r.dueForDeletion(app, pod, v.policy) })
	if len(orphans) == 0 {
		return nil // their ends are watched
	}
	if err := r.api.CheckUnchanged(ctx, app); err != nil {
		return ignoreNotFound(err) // with the application they go by themselves
	}
	for _, pod := range orphans {
		if err := r.deleteOrphan(ctx, v, pod); err != nil {
			return err
		}
	}
	return nil
}

// dueForDeletion reports whether to delete a driver now: it is not terminating, or it terminates for too long. If it becomes due
// later, the application is requeued for that time.
func (r *Reconciler) dueForDeletion(app dialect.Application, pod *corev1.Pod, policy lifecycle.Policy) bool {
	driver, limit := lifecycle.ObserveDriver(pod, policy.MainContainer), policy.Timeouts.ForceTermination
	if !driver.Terminating {
		return true
	}
	due, again := driver.DeleteAgainAt(limit)
	if !again || driver.Stopped && !driver.NoGraceLeft {
		return false
	}
	wait := due.Sub(r.clock.Now())
	if wait > 0 {
		r.enqueueAfter(app, wait)
	}
	return wait <= 0
}

// deleteDueDriver deletes a driver Pod that no attempt may have any more, if its deletion is due. It reports whether the driver
// cannot be running any more.
func (r *Reconciler) deleteDueDriver(ctx context.Context, v *view, pod *corev1.Pod, reason drivers.Reason) (stopped bool, err error) {
	driver := lifecycle.ObserveDriver(pod, v.policy.MainContainer)
	if !r.dueForDeletion(v.app, pod, v.policy) {
		return driver.Stopped, nil
	}
	// A terminating Pod is deleted again by force. If it was deleted by force before, only an interrupted deletion is repeated.
	force := driver.Terminating && !driver.NoGraceLeft
	accepted, err := r.deleter.Delete(ctx, v.app, drivers.RefOf(pod), reason, force)
	return !driver.Terminating && driver.Stopped || !accepted, err
}

// deleteOrphan deletes a driver that belongs to no attempt, by force if it does not terminate in time. The informer reports its
// deletion.
func (r *Reconciler) deleteOrphan(ctx context.Context, v *view, pod *corev1.Pod) error {
	logging.FromContext(ctx).Warnw("deleting an orphan driver Pod", append(v.logKeys(), "pod", pod.Name, "uid", pod.UID)...)
	_, err := r.deleteDueDriver(ctx, v, pod, drivers.Orphan)
	return err
}

// deleteLateOrphan deletes the driver of a refused launch if it exists though the cache does not have it: a late create. It reads
// the Pod live, once, before the finalizer is removed: after that no controller would delete it. The error requeues the application
// if the driver existed.
func (r *Reconciler) deleteLateOrphan(ctx context.Context, v *view) error {
	app := v.app
	record := app.GetRecord()
	if record == nil || record.Launch == nil || record.Launch.ID == "" || record.Launch.DriverUID != "" {
		return nil
	}
	late, err := r.findFencedDriver(ctx, app, record.Launch)
	if late == nil || err != nil || late.DeletionTimestamp != nil && !r.withinDeletionGrace(ctx, app) {
		return err
	}
	if err := r.deleteOrphan(ctx, v, late); err != nil {
		return err
	}
	return controller.NewRequeueAfter(retryAfter)
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
