package application

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// errIncomplete means that the observation is not complete yet. Its missing part enqueues the application.
var errIncomplete = errors.New("the observation is not complete yet")

// observe returns what is known of the driver of the record's launch and of its executors.
func (r *Reconciler) observe(
	ctx context.Context, v *view.Application, record *v1alpha1.Record,
) (lifecycle.Observation, error) {
	app, policy := v.App, v.Policy
	var seen lifecycle.Observation
	if v.Deleted() {
		seen.Deleted = app.GetDeletionTimestamp().Time
	}
	if !drivers.HasDriver(record) {
		r.relabelledDrivers.Forget(kube.KeyOf(app))
		return seen, nil
	}
	pod, gone, err := r.findDriver(ctx, app, record.Launch)
	if err != nil {
		return seen, err
	}
	seen.DriverGone = gone
	if pod != nil {
		seen.Driver = lifecycle.ObserveDriver(r.redactPod(app, pod), policy.MainContainer)
		if seen.Driver.End != nil && config.FromContext(ctx).Events.FailureMessages {
			seen.Driver.End.Cause.Unquoted = "" // the event has the whole text
		}
	}
	if v.Deleted() {
		return seen, nil
	}
	if policy.Executors.Requested() {
		if !r.executorsSynced() {
			return seen, controller.NewRequeueAfter(base.RetryAfter)
		}
		seen.ReadyExecutors = r.executorCounter.Count(app.GetNamespace(), record.Launch, pod)
	}
	if policy.ReportNoExecutorsAfter > 0 && r.executorDetails != nil && r.executorsSynced() && !v.Dialect.ShowsExecutors(app) {
		seen.NoExecutorSeen = !r.executorDetails.Has(app, record.Launch, record.Attempt.Since.Time)
	}
	seen.ExecutorsComplete, seen.ExecutorsRefused = r.quotas.Complete(app), r.executorsRefused(app)
	return seen, r.addLog(ctx, v, record, &seen)
}

// addLog adds the last lines of the driver's log to its end, if the settings ask for them and the end is not recorded yet.
func (r *Reconciler) addLog(
	ctx context.Context, v *view.Application, record *v1alpha1.Record, seen *lifecycle.Observation,
) error {
	app := v.App
	lines, state := v.Dialect.Settings().DriverLogLines, lifecycle.CurrentState(record)
	driver := seen.Driver
	if lines <= 0 || seen.DriverGone || driver == nil || driver.End == nil || driver.End.Cause.ExitCode == nil ||
		!state.Starting() && !state.Running() {
		return nil
	}
	pod := types.NamespacedName{Namespace: app.GetNamespace(), Name: record.Launch.DriverPod}
	text, done := r.logs.Tail(ctx, pod, driver.UID, lifecycle.DriverContainer(driver.Status, v.Policy.MainContainer), lines, func() {
		r.enqueueAfter(app, 0)
	})
	if !done {
		return errIncomplete
	}
	driver.End.Cause.AddLog(r.redactors.For(app).Text(text))
	return nil
}

// findDriver returns the launch's driver Pod, and whether it is proven to be gone. If it is gone, the Pod is the last known
// one, or nil.
//
// The informer is filtered by labels, so a Pod whose labels were changed is absent from its cache, too. Absence therefore
// proves nothing: one live read decides. No read is needed after a deletion event that proves itself. Neither is one needed
// for a Pod that was created so recently that its event may be on its way.
func (r *Reconciler) findDriver(ctx context.Context, app dialect.Application, launch *v1alpha1.Launch) (*corev1.Pod, bool, error) {
	key := kube.KeyOf(app)
	last, proven := r.expectations.Deleted(launch.DriverUID)
	if proven {
		r.relabelledDrivers.Forget(key)
		return last, true, nil
	}
	if pod := r.drivers.Get(key.Namespace, launch.DriverPod); pod != nil && pod.UID == launch.DriverUID {
		r.relabelledDrivers.Forget(key)
		return pod, false, nil
	}
	if pod := r.relabelledDrivers.Watched(key, launch.DriverUID); pod != nil {
		return pod, false, nil
	}
	if r.expectations.JustCreated(launch.DriverUID) {
		return nil, false, nil
	}
	pod, err := r.kube.CoreV1().Pods(key.Namespace).Get(ctx, launch.DriverPod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && pod.UID != launch.DriverUID:
		r.relabelledDrivers.Forget(key)
		return last, true, nil
	case err != nil:
		return nil, false, fmt.Errorf("look for driver %s/%s: %w", key.Namespace, launch.DriverPod, err)
	}
	if !r.relabelledDrivers.Follow(app, pod) {
		r.enqueueAfter(app, drivers.UnwatchedInterval)
	}
	return pod, false, nil
}

// podEventLateAt returns when the event of a new driver Pod is late. It returns zero if the Pod is in the cache, or was not
// created just now. If an interrupted watch resumes after the Pod is gone, there is no event at all: then a live read
// decides.
func (r *Reconciler) podEventLateAt(app dialect.Application) time.Time {
	if !drivers.HasDriver(app.GetRecord()) {
		return time.Time{}
	}
	launch := app.GetRecord().Launch
	if pod := r.drivers.Get(app.GetNamespace(), launch.DriverPod); pod != nil && pod.UID == launch.DriverUID {
		return time.Time{}
	}
	if r.expectations.JustCreated(launch.DriverUID) {
		return r.expectations.CreatedAt(launch.DriverUID).Add(base.EventDelay)
	}
	return time.Time{}
}
