package archiver

import (
	"context"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/util/wait"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

const (
	// sweepInterval is the time between two deletions of what is not to be retained, by whichever process.
	sweepInterval = time.Hour
	// sweepCheck is how often a process looks whether that is due. The jitter keeps processes apart.
	sweepCheck, sweepJitter = 10 * time.Minute, 0.5
)

// Retain deletes what is not to be retained of all archives, until ctx ends. Several processes share the work. settings returns the present settings, and
// whether this process is one of them.
func Retain(ctx context.Context, stores *archive.Stores, settings func() (present *config.Archive, here bool)) {
	wait.JitterUntilWithContext(ctx, func(ctx context.Context) {
		_ = guarded(ctx, func() error { // which logs a panic: the next sweep is tried all the same
			if present, here := settings(); here {
				retain(ctx, stores, present, time.Now())
			}
			return nil
		})
	}, sweepCheck, sweepJitter, true)
}

func retain(ctx context.Context, stores *archive.Stores, settings *config.Archive, now time.Time) {
	retention := archive.Retention{Age: settings.RetentionAge, Bytes: settings.RetentionBytes}
	if retention == (archive.Retention{}) {
		return
	}
	for url, namespaces := range settings.URLs() {
		logger := logging.FromContext(ctx)
		store, err := stores.For(ctx, url)
		if err == nil {
			var deleted archive.Deleted
			deleted, err = store.SweepIfDue(ctx, now, sweepInterval, retention, namespaces)
			if deleted.Applications > 0 {
				logger.Infow("deleted applications from the archive", "applications", deleted.Applications, "bytes", deleted.Bytes)
			}
		}
		if err != nil {
			logger.Warnw("archive not swept, which is tried again", zap.Error(err))
		}
	}
}
