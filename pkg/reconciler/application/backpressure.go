package application

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

const (
	// maxBackpressure is how long a run may wait for the creation of other runs.
	maxBackpressure = 10 * time.Second
	// backpressureRetry is after how long a waiting run is requeued.
	backpressureRetry = 2 * time.Second
	// maxYield is how long an event of a driver Pod may wait for first launches. Events that arrive meanwhile are handled
	// with it, in one status write.
	maxYield = 1500 * time.Millisecond
)

// yielding decides which applications wait for others.
type yielding struct {
	dueRuns, firstLaunches *base.Backlog
	podEventTimes          *podEventTimes
	clock                  clock.PassiveClock
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
// A new run of a schedule waits while many runs are due. An event of a driver waits while many applications wait for their
// first launch. A deletion never waits.
func (y yielding) wait(app dialect.Application) time.Duration {
	isNew := app.GetRecord() == nil
	switch {
	case app.GetDeletionTimestamp() != nil:
		return 0
	case isNew && !variant.InstantOf(app).IsZero() && y.clock.Since(app.GetCreationTimestamp().Time) < maxBackpressure && y.dueRuns.IsLong():
		return backpressureRetry
	case !isNew && y.firstLaunches.IsLong():
		return y.podEventTimes.untilOld(base.KeyOf(app), maxYield)
	default:
		return 0
	}
}
