package application

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/adoption"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// takeOver takes the next step for an application without a usable record. It returns true if the application can continue
// now.
func (r *Reconciler) takeOver(ctx context.Context, v *view.Application) (bool, error) {
	lost, prunedFor := r.recordGuard.lostRecordOf(v.App), r.recordGuard.pruned.Wait(v.App.GetUID(), r.clock.Now())
	fenced := r.launcher.Fenced(v.App)
	var launch *v1alpha1.Launch
	if fenced != nil {
		launch = fenced.Launch
	}
	alone := len(r.driversBeside(v.App, launch)) == 0
	step := adoption.Decide(adoption.Situation{
		App: v.App, Dialect: v.Dialect, Policy: v.Policy, Lost: lost, LossPending: r.recordGuard.lossPending(v.App), PrunedFor: prunedFor,
		New: alone && r.newApplications.has(v.App.GetUID()), Fenced: alone && fenced != nil, Now: r.clock.Now(),
	})
	logging.FromContext(ctx).Debugw("decided adoption", "step", step)
	switch step {
	case adoption.LeaveUnknown:
		return false, r.skipUnknownRecord(ctx, v)
	case adoption.ReportUndecodable:
		return false, r.markBlocked(ctx, v, diagnosis.Undecodable("application", r.redactors.For(v.App).Text(v.App.GetUndecodable())))
	case adoption.AwaitLoss:
		return false, controller.NewRequeueAfter(base.RetryAfter)
	case adoption.Release:
		return false, r.releaseUndecodable(ctx, v)
	case adoption.AwaitDefinition:
		return false, controller.NewRequeueAfter(prunedFor)
	case adoption.AwaitOtherOperator:
		return false, r.waitForOtherOperator(ctx, v, lost)
	case adoption.Restore:
		return r.restoreStatus(ctx, v, lost)
	case adoption.Begin:
		return fenced != nil || !v.Deleted(), nil
	case adoption.LeaveFinished:
		return false, nil
	case adoption.Adopt:
		return r.adopt(ctx, v)
	default:
		return false, fmt.Errorf("unknown step %q", step)
	}
}

// waitForOtherOperator leaves an application alone while another operator writes its status, too.
func (r *Reconciler) waitForOtherOperator(ctx context.Context, v *view.Application, lost adoption.LostRecord) error {
	until := lost.At.Add(adoption.OtherOperatorQuiet)
	if err := r.reportBlocked(ctx, v, diagnosis.AnotherOperatorActive(adoption.OtherOperatorQuiet, until)); err != nil {
		return err
	}
	return controller.NewRequeueAfter(until.Sub(r.clock.Now()))
}

// restoreStatus restores a status that another writer removed. Without the record a second driver could be launched.
func (r *Reconciler) restoreStatus(ctx context.Context, v *view.Application, lost adoption.LostRecord) (bool, error) {
	if err := r.addFinalizer(ctx, v, lost.Last.GetRecord()); err != nil {
		return false, err
	}
	if err := r.write(ctx, v, v.Dialect.Restore(v.App, lost.Last)); err != nil {
		return false, err
	}
	restored := diagnosis.StatusRestored()
	controller.GetEventRecorder(ctx).Event(v.App, corev1.EventTypeWarning, restored.Reason, restored.Message())
	return true, nil
}

// adopt takes over an application of another operator, with its driver if there is one.
func (r *Reconciler) adopt(ctx context.Context, v *view.Application) (bool, error) {
	app, d := v.App, v.Dialect
	record, err := d.Inherit(app)
	if err != nil {
		return false, r.markBlocked(ctx, v, diagnosis.NotAdopted(err))
	}
	pods, err := adoption.FindDrivers(ctx, r.kube, v, record)
	if err != nil {
		return false, err
	}
	driver, others := d.PickDriver(app, record, pods)
	if cleared, err := r.deleteOtherDrivers(ctx, v, others); err != nil || !cleared {
		return false, err
	}
	if dialect.JustCreated(record) {
		if driver == nil {
			return !v.Deleted(), nil
		}
		if fenced := r.launcher.Fenced(app); fenced != nil && driver.Labels[dialect.LabelLaunch] == fenced.Launch.ID {
			return true, nil // the first launch is continued: its fence knows more than the Pod
		}
	}
	if record, err = d.Adopt(app, record, driver); err != nil {
		return false, err
	}
	if err := r.addFinalizer(ctx, v, record); err != nil {
		return false, err
	}
	app = v.App
	if err := r.write(ctx, v, v.WithStatus(record, r.facts(v, record, lifecycle.Decision{}))); err != nil {
		return false, err
	}
	if r.onStatusWrite != nil {
		r.onStatusWrite(app, v.App)
	}
	logging.FromContext(ctx).Infow("adopted application", v.LogKeys()...)
	adopted := diagnosis.Adopted(record)
	controller.GetEventRecorder(ctx).Event(v.App, corev1.EventTypeNormal, adopted.Reason, adopted.Message())
	return true, nil
}

// deleteOtherDrivers deletes drivers that are not the current attempt's. It reports whether none of them can be running. A deleted
// application does not wait for that.
func (r *Reconciler) deleteOtherDrivers(ctx context.Context, v *view.Application, others []corev1.Pod) (bool, error) {
	app := v.App
	if len(others) == 0 {
		return true, nil
	}
	if err := r.api.CheckUnchanged(ctx, app); err != nil {
		return false, err // these drivers may belong to another replica
	}
	for i := range others {
		pod := &others[i]
		gone, err := r.deleter.DeleteDue(ctx, v.App, v.Policy, pod, drivers.OfEarlierAttempt)
		if err != nil {
			return false, err
		}
		if !gone && !v.Deleted() {
			r.enqueueAfter(app, delivery.CursorDelay) // in case the event of its deletion is lost
			return false, r.reportBlocked(ctx, v, diagnosis.EarlierDriver(lifecycle.ObserveDriver(pod, "")))
		}
	}
	return true, nil
}
