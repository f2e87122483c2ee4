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
)

// orphanDrivers are an application's driver Pods that live and that its record knows nothing of. Nothing keeps a create that
// was on its way from coming late: when its controller is dead, or when another replica has launched the attempt, seen
// the Pod of it go, and moved on. What is known to be released is none, though the cache may not know yet that it is going.
func (r *Reconciler) orphanDrivers(app dialect.Application, record *v1alpha1.Record) []*corev1.Pod {
	if record == nil {
		return nil
	}
	return slices.DeleteFunc(r.drivers.ownedBy(app.GetUID()), func(pod *corev1.Pod) bool {
		return !isOrphan(pod, record.Launch) || r.expectations.released(pod.UID)
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

// deleteOrphans deletes them, and says in the observation that there are any. Since the record may be old, and they the
// drivers of a later launch, the application is read live before one is deleted.
func (r *Reconciler) deleteOrphans(
	ctx context.Context, v *view, record *v1alpha1.Record, seen *lifecycle.Observation,
) error {
	app := v.app
	orphans := r.orphanDrivers(app, record)
	if len(orphans) == 0 {
		return nil
	}
	seen.Stray, seen.StrayDriver = true, lifecycle.ObserveDriver(orphans[0], v.policy.MainContainer)
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

// dueForDeletion reports whether a driver is to be deleted now: it was not, or it is late and to be deleted again. Where that
// is to come, the application is looked at then.
func (r *Reconciler) dueForDeletion(app dialect.Application, pod *corev1.Pod, policy lifecycle.Policy) bool {
	driver, limit := lifecycle.ObserveDriver(pod, policy.MainContainer), policy.Timeouts.ForceTermination
	if !driver.Terminating {
		return true
	}
	due, again := driver.DeletedAgainFrom(limit)
	if !again || driver.Stopped && !driver.Forced {
		return false
	}
	wait := due.Sub(r.clock.Now())
	if wait > 0 {
		r.enqueueAfter(app, wait)
	}
	return wait <= 0
}

// deleteOrphan deletes a driver that no attempt may have any more, by force where it does not go. Its end is watched.
func (r *Reconciler) deleteOrphan(ctx context.Context, v *view, pod *corev1.Pod) error {
	logging.FromContext(ctx).Warnw("deleting an orphan driver Pod", append(v.logKeys(), "pod", pod.Name, "uid", pod.UID)...)
	_, err := r.deleteDueDriver(ctx, v, pod, deletedOrphan)
	return err
}

// deleteLateOrphan deletes the driver of a launch that was refused, where it was created all the same and the cache does not
// know of it yet. It is asked for live, once, when the application is about to go: nobody watches over it then. The error
// says that it was there.
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
