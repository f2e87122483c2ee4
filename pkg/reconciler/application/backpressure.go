package application

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

const (
	// maxBackpressure is how long a run may wait for the creation of other runs.
	maxBackpressure = 10 * time.Second
	// backpressureRetry is after how long a waiting run is requeued.
	backpressureRetry = 2 * time.Second
	// maxYield is how long an event of a driver Pod, or the first status write of a launched application, may wait for first
	// launches. Events that arrive meanwhile are handled with it, in one status write.
	maxYield = 1500 * time.Millisecond
	// maxReleaseYield is how long after the end of an application the release of its driver may wait for first launches. Its
	// driver Pod has stopped, and only its objects are left.
	maxReleaseYield = 30 * time.Second
)

// yielding decides which applications wait for others.
type yielding struct {
	dueRuns, firstLaunches *base.Burst
	podEventTimes          *podEventTimes
	clock                  clock.PassiveClock
	// leaves reports whether a new application is left to the next leader.
	leaves func(app dialect.Application) bool
}

// begin returns the context of a reconcile and for how long the application has to wait. The context has the time of the
// first event that the reconcile handles.
func (y yielding) begin(ctx context.Context, key types.NamespacedName, app dialect.Application) (context.Context, time.Duration) {
	if app != nil {
		if wait := y.wait(app); wait > 0 {
			return ctx, wait
		}
	}
	return y.podEventTimes.take(ctx, key), 0
}

// wait returns for how long an application waits for others. It returns zero if it does not wait.
//
// While the process stops, an application whose first launch has not begun waits for the next leader. A new run of a schedule
// waits while many runs are due. An event of a driver waits while many applications wait for their first launch. A deletion
// never waits.
func (y yielding) wait(app dialect.Application) time.Duration {
	isNew := app.GetRecord() == nil
	switch {
	case app.GetDeletionTimestamp() != nil:
		return 0
	case isNew && y.leaves(app):
		return backpressureRetry
	case isNew && !variant.InstantOf(app).IsZero() && y.clock.Since(app.GetCreationTimestamp().Time) < maxBackpressure && y.dueRuns.IsOn():
		return backpressureRetry
	case !isNew && y.firstLaunches.IsOn():
		return y.podEventTimes.untilOld(kube.KeyOf(app), maxYield)
	default:
		return 0
	}
}

// statusYields returns until when the first status write of a launched application waits for the first launches of others. Until then
// the annotation is its fence. false means that it does not wait. Where Firesteel no longer serves, another operator may come soon.
func (r *Reconciler) statusYields(
	ctx context.Context, v *view.Application, record *v1alpha1.Record, decision lifecycle.Decision,
) (until time.Time, yields bool) {
	state := lifecycle.CurrentState(record)
	if v.Record() != nil || v.Deleted() || decision.Effect != lifecycle.NoEffect || !drivers.HasDriver(record) ||
		!state.Starting() && !state.Running() || !r.firstLaunches.IsOn() || !config.FromContext(ctx).Scope.Serves(v.App, r.namespaces) {
		return time.Time{}, false
	}
	due, postponed := r.launcher.Postpone(v.App, record, maxYield)
	return due, postponed && r.clock.Now().Before(due)
}

// releaseYields returns until when, at most, the release of a stopped driver waits for first launches. false means that it does not
// wait.
func (r *Reconciler) releaseYields(v *view.Application, record *v1alpha1.Record, decision lifecycle.Decision) (until time.Time, yields bool) {
	if !decision.ReleaseCanWait {
		return time.Time{}, false
	}
	due, key := outbox.LastEnd(record).Time.Add(maxReleaseYield), kube.KeyOf(v.App)
	if !r.clock.Now().Before(due) {
		return time.Time{}, false
	}
	return due, r.firstLaunches.Yield(v.App.GetUID(), func() { r.deadlines.set(key, 0) })
}

// yield requeues an application whose status write or release waits for first launches.
func (r *Reconciler) yield(
	ctx context.Context, v *view.Application, record *v1alpha1.Record, decision lifecycle.Decision, waits string, until time.Time,
) {
	logging.FromContext(ctx).Debugw("yields to first launches", append(base.LogKeys(record), "waits", waits, "until", until)...)
	decision.RequeueAt = until
	r.requeueAt(ctx, v, decision)
}
