package application

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// orphanDrivers returns the driver Pods of an application that may run although its record does not name them. The cause is
// a late create: its controller crashed, or another replica launched the attempt, saw the Pod deleted, and moved on. A
// driver that is known to be released is not an orphan, even if the cache is stale.
func (r *Reconciler) orphanDrivers(app dialect.Application, record *v1alpha1.Record) []*corev1.Pod {
	if record == nil {
		return nil
	}
	return r.driversBeside(app, record.Launch)
}

// driversBeside returns the driver Pods of an application that may run and do not belong to a launch; nil stands for no launch.
func (r *Reconciler) driversBeside(app dialect.Application, launch *v1alpha1.Launch) []*corev1.Pod {
	return slices.DeleteFunc(r.drivers.OwnedBy(app.GetUID()), func(pod *corev1.Pod) bool {
		return !drivers.IsOrphan(pod, launch) || r.expectations.Released(pod.UID)
	})
}

// deleteOrphans deletes orphan drivers and adds them to the observation. The record may be stale, and the Pods may belong to a
// later launch: therefore the application is read live before a Pod is deleted.
func (r *Reconciler) deleteOrphans(
	ctx context.Context, v *view.Application, record *v1alpha1.Record, seen *lifecycle.Observation,
) error {
	app := v.App
	orphans := r.orphanDrivers(app, record)
	if len(orphans) == 0 {
		return nil
	}
	for _, pod := range orphans {
		// One that has ended and whose deletion was accepted runs no more, even if its node does not answer.
		if driver := lifecycle.ObserveDriver(pod, v.Policy.MainContainer); !driver.Terminating || !driver.Stopped {
			seen.HasOrphan, seen.OrphanDriver = true, driver
			break
		}
	}
	orphans = slices.DeleteFunc(orphans, func(pod *corev1.Pod) bool { return !r.deleter.Due(app, pod, v.Policy) })
	if len(orphans) == 0 {
		return nil // the informer reports their ends
	}
	if err := r.api.CheckUnchanged(ctx, app); err != nil {
		return ignoreNotFound(err) // the garbage collector deletes them with the application
	}
	for _, pod := range orphans {
		if err := r.deleter.DeleteOrphan(ctx, v.App, v.Policy, pod); err != nil {
			return err
		}
	}
	return nil
}

// lateCreates returns for how long another replica may still create a driver. The finalizer stays until then: a driver that is not
// seen before the application is deleted would outlive it.
func (r *Reconciler) lateCreates(app dialect.Application, record *v1alpha1.Record) time.Duration {
	return r.launcher.CreatesOverAt(app, record).Sub(r.clock.Now())
}

// deleteLateOrphan deletes a driver that exists although it is not in the cache: a late create. It is the driver of a refused
// launch, or another replica created it after the recorded one was gone. deleteLateOrphan reads the Pod live, once, before the
// finalizer is removed: no controller would delete the Pod after that. If the driver existed, the error requeues the application.
func (r *Reconciler) deleteLateOrphan(ctx context.Context, v *view.Application) error {
	app := v.App
	record := app.GetRecord()
	if record == nil || record.Launch == nil || record.Launch.ID == "" || record.Launch.ByUser || // no replica creates a user's driver
		record.Launch.DriverUID != "" && r.launcher.CreatesOverAt(app, record).IsZero() {
		return nil
	}
	late, err := drivers.FindFenced(ctx, r.kube, app, record.Launch)
	if late == nil || err != nil || late.UID == record.Launch.DriverUID || late.DeletionTimestamp != nil && !r.withinDeletionGrace(ctx, app) {
		return err
	}
	if err := r.deleter.DeleteOrphan(ctx, v.App, v.Policy, late); err != nil {
		return err
	}
	return controller.NewRequeueAfter(base.RetryAfter)
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
