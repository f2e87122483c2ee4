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
	// maxBackpressure is how long a run may wait for the creation of others.
	maxBackpressure = 10 * time.Second
	// backpressureRetry is when such a run is requeued.
	backpressureRetry = 2 * time.Second
	// maxYield is how long the news of a driver Pod may wait for first launches. News that arrives meanwhile is written with it, in one
	// status write.
	maxYield = 1500 * time.Millisecond
)

// yielding says which applications let others go first.
type yielding struct {
	dueRuns, firstLaunches *base.Backlog
	podEventTimes          *podEventTimes
	clock                  clock.PassiveClock
}

// begin returns the context of a reconcile, with the time of the news that it handles, and for how long it has to wait.
func (y yielding) begin(ctx context.Context, key types.NamespacedName, app dialect.Application) (context.Context, time.Duration) {
	if app != nil {
		if wait := y.wait(app); wait > 0 {
			return ctx, wait
		}
	}
	return y.podEventTimes.take(ctx, key), 0
}

// wait returns for how long an application lets others go first; zero if it does not.
//
// A new run of a schedule waits while many runs are due. News of a driver waits while many applications wait for their first launch. A
// deletion never waits.
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
