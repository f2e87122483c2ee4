package application

import (
	"context"

	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/launch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
)

// reconcileWithoutFinalizer reconciles an application that has no finalizer. The generated reconciler would add a finalizer
// in a separate request, before it is known whether one is needed. It returns false if the generated reconciler has to
// reconcile the application.
func (r *Reconciler) reconcileWithoutFinalizer(ctx context.Context, app dialect.Application) (bool, error) {
	if app.GetUndecodable() != "" && !r.needsNoFinalizer(r.viewOf(ctx, app)) {
		return false, nil // its driver may run, and must be stopped if the application is deleted
	}
	return true, r.Reconcile(ctx, dialect.Copy(app))
}

// needsNoFinalizer reports whether an application has nothing to stop or deliver: it is finished, or its record is not
// understood.
func (r *Reconciler) needsNoFinalizer(v *view.Application) bool {
	record := v.App.GetRecord()
	return record != nil && (!lifecycle.Understands(record, v.Policy) || r.finished(v, record))
}

// finished reports whether an application is finished, so that it needs no finalizer. If its driver Pod is retained, its deletion releases
// the Pod, and that is a transition to publish, unless the API's clients know of no such state, and the garbage collector deletes the Pod.
func (r *Reconciler) finished(v *view.Application, record *v1alpha1.Record) bool {
	released := lifecycle.CurrentState(record) == lifecycle.ResourceReleased
	return lifecycle.Finished(record, v.Policy) && (released || r.api.FinishesRetained && r.ownsDriver(v.App, record))
}

// ownsDriver reports whether the driver Pod of the record, if there is one, goes with the application. It does not if a user or another
// operator created it without an owner.
func (r *Reconciler) ownsDriver(app dialect.Application, record *v1alpha1.Record) bool {
	if !drivers.HasDriver(record) {
		return true
	}
	pod := r.drivers.Get(app.GetNamespace(), record.Launch.DriverPod)
	return pod == nil && !record.Launch.ByUser || pod != nil && (pod.UID != record.Launch.DriverUID || dialect.Owns(app, pod))
}

// addFinalizer adds the finalizer to an application that has none, before a record is written that makes the application
// unfinished, or has events to deliver. There are four cases: the first launch of a new application has to wait, it ends before its
// launch, an edit runs a finished application again, or another writer removed the finalizer.
func (r *Reconciler) addFinalizer(ctx context.Context, v *view.Application, record *v1alpha1.Record) error {
	if r.api.HasFinalizer(v.App) || v.Deleted() || r.finished(v, record) && record.Acknowledged == record.Sequence {
		return nil
	}
	stored, err := r.api.AddFinalizer(ctx, v.App, nil)
	if err != nil {
		return err
	}
	logging.FromContext(ctx).Debugw("added finalizer", v.LogKeys()...)
	r.recordGuard.Remember(stored)
	v.App = stored
	return nil
}

// removeFinalizer removes the finalizer, and the fence of the first launch, from an application that is finished and whose
// events are delivered. The deletion of the application then needs no request of Firesteel. removeFinalizer keeps the
// finalizer while the TTL handler is about to delete: removing it changes the resourceVersion, and the delete would
// conflict.
func (r *Reconciler) removeFinalizer(ctx context.Context, v *view.Application) error {
	app := v.App
	if !r.api.HasFinalizer(app) || v.Deleted() {
		return nil
	}
	record := v.Record()
	if !r.finished(v, record) || !lifecycle.AtRest(record, v.Policy, r.clock.Now()) || record.Acknowledged < record.Sequence || len(r.orphanDrivers(app, record)) > 0 {
		return nil
	}
	if r.keepFinalizer(app) {
		return nil // a change of the schedule's record enqueues the application
	}
	if wait := r.lateCreates(app, record); wait > 0 {
		r.enqueueAfter(app, wait)
		return nil
	}
	released, err := r.api.DropFinalizer(ctx, app, launch.AnnotationFence)
	if err != nil {
		return err
	}
	logging.FromContext(ctx).Debugw("removed finalizer", v.LogKeys()...)
	r.recordGuard.written(released)
	return nil
}
