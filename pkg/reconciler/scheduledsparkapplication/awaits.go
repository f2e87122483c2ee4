package scheduledsparkapplication

import (
	"context"

	"k8s.io/client-go/tools/cache"

	apachesinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/firesteel/v1alpha1/scheduledsparkapplication"
	kubeflowsinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/sparkoperator/v1beta2/scheduledsparkapplication"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/kind"
)

// AwaitsOfApaches is Awaits for the runs of the Apache operator's kind.
func AwaitsOfApaches(ctx context.Context) func(run dialect.Application) bool {
	return Awaits(kind.Apache, apachesinformer.Get(ctx).Informer().GetStore())
}

// AwaitsOfKubeflows is Awaits for the runs of the Kubeflow operator's kind.
func AwaitsOfKubeflows(ctx context.Context) func(run dialect.Application) bool {
	return Awaits(kind.Kubeflow, kubeflowsinformer.Get(ctx).Informer().GetStore())
}

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
