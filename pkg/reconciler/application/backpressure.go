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
	// backpressureRetry is when such a run is requeued.
	backpressureRetry = 2 * time.Second
)

// shouldYield reports whether a new run of a schedule waits, so that other due runs are created first.
func shouldYield(app dialect.Application, rush *base.StartBacklog, clock clock.PassiveClock) bool {
	return app.GetRecord() == nil && app.GetDeletionTimestamp() == nil && !variant.InstantOf(app).IsZero() &&
		clock.Since(app.GetCreationTimestamp().Time) < maxBackpressure && rush.IsLong()
}
