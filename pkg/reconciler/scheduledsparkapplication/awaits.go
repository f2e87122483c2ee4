package scheduledsparkapplication

import (
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/kind"
)

// Awaits makes what says that a run's schedule has yet to record it. A run that is deleted stays until then, so that no
// other is started in its place: its finalizer is there from the beginning.
func Awaits(k *kind.Kind, schedules cache.KeyGetter) func(run dialect.Application) bool {
	return func(run dialect.Application) bool {
		owner, owned := k.Owner(run)
		if instant := kind.InstantOf(run); owned && !instant.IsZero() {
			object, _, err := schedules.GetByKey(run.GetNamespace() + "/" + owner.Name)
			s, is := object.(kind.Schedule)
			if err != nil || !is || s.GetUID() != owner.UID || s.GetDeletionTimestamp() != nil {
				return false
			}
			record := s.GetScheduleStatus().Firesteel
			return record != nil && !schedule.Settled(record, instant)
		}
		return false
	}
}
