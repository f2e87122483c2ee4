package application

import (
	"time"

	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

const (
	// maxBackpressure is how long a run may wait for the creation of others.
	maxBackpressure = 10 * time.Second
	// backpressureRetry is when it is looked at again.
	backpressureRetry = 2 * time.Second
)

// shouldYield says that a run of a schedule, with which nobody has begun, lets others be created first that are due as well.
func shouldYield(app dialect.Application, rush *base.StartBacklog, clock clock.PassiveClock) bool {
	return app.GetRecord() == nil && app.GetDeletionTimestamp() == nil && !variant.InstantOf(app).IsZero() &&
		clock.Since(app.GetCreationTimestamp().Time) < maxBackpressure && rush.IsLong()
}
