package schedule

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	apachesinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/firesteel/v1alpha1/scheduledsparkapplication"
	kubeflowsinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/sparkoperator/v1beta2/scheduledsparkapplication"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// KeepApacheRuns is KeepRuns for the runs of the Apache operator's kind.
func KeepApacheRuns(ctx context.Context, changed func(run types.NamespacedName)) func(run dialect.Application) bool {
	return KeepRuns(ctx, variant.Apache, apachesinformer.Get(ctx).Informer(), changed)
}

// KeepKubeflowRuns is KeepRuns for the runs of the Kubeflow operator's kind.
func KeepKubeflowRuns(ctx context.Context, changed func(run types.NamespacedName)) func(run dialect.Application) bool {
	return KeepRuns(ctx, variant.Kubeflow, kubeflowsinformer.Get(ctx).Informer(), changed)
}

// KeepRuns returns a function that reports whether a run must keep its finalizer because its schedule has not
// recorded it yet. Without the record, a second run for the same instant could be started. changed is called with
// each such run when its schedule changes.
func KeepRuns(
	ctx context.Context, k *variant.Kind, schedules cache.SharedIndexInformer, changed func(run types.NamespacedName),
) func(run dialect.Application) bool {
	w := &unrecordedRuns{kind: k, schedules: schedules.GetStore(), clock: clock.RealClock{}, changed: changed, runs: map[types.UID]map[types.NamespacedName]bool{}}
	base.AddHandler(ctx, schedules, cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, after any) { w.scheduleChanged(after) },
		DeleteFunc: func(object any) { w.scheduleChanged(kube.LastKnown(object)) },
	})
	return w.keep
}

// unrecordedRuns knows the runs that wait for their schedule, by the uid of the schedule.
type unrecordedRuns struct {
	kind      *variant.Kind
	schedules cache.Store
	clock     clock.PassiveClock
	changed   func(run types.NamespacedName)

	mutex sync.Mutex
	runs  map[types.UID]map[types.NamespacedName]bool
}

func (w *unrecordedRuns) keep(run dialect.Application) bool {
	owner, owned := w.kind.Owner(run)
	if !owned || variant.InstantOf(run).IsZero() {
		return false
	}
	w.add(owner.UID, kube.KeyOf(run)) // before the schedule is read, so that its next change is not missed
	if w.isUnrecorded(owner, run) {
		return true
	}
	w.drop(owner.UID, kube.KeyOf(run))
	return false
}

func (w *unrecordedRuns) isUnrecorded(owner *metav1.OwnerReference, run dialect.Application) bool {
	object, _, err := w.schedules.GetByKey(run.GetNamespace() + "/" + owner.Name)
	s, ok := object.(variant.Schedule)
	if err != nil || !ok || s.GetUID() != owner.UID || s.GetDeletionTimestamp() != nil {
		return false
	}
	// The clock of the process that started the run may be ahead. Until the instant has passed here, the schedule
	// cannot record the run, so the run waits.
	now := w.clock.Now()
	claimed := []schedule.Run{variant.RunOf(run)}
	instant := schedule.DropUnprovenInstants(s, schedule.PolicyOf(s, now), claimed, now.Add(schedule.MaxClockSkew))[0].Instant
	record := s.GetScheduleStatus().Firesteel
	return record != nil && !record.HasNewerFormat() && !instant.IsZero() && !schedule.Settled(record, instant)
}

func (w *unrecordedRuns) add(owner types.UID, run types.NamespacedName) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.runs[owner] == nil {
		w.runs[owner] = map[types.NamespacedName]bool{}
	}
	w.runs[owner][run] = true
}

func (w *unrecordedRuns) drop(owner types.UID, run types.NamespacedName) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if delete(w.runs[owner], run); len(w.runs[owner]) == 0 {
		delete(w.runs, owner)
	}
}

// scheduleChanged enqueues the runs that wait for a schedule.
func (w *unrecordedRuns) scheduleChanged(object any) {
	s, ok := object.(metav1.Object)
	if !ok {
		return
	}
	w.mutex.Lock()
	runs := w.runs[s.GetUID()]
	delete(w.runs, s.GetUID())
	w.mutex.Unlock()
	for run := range runs {
		w.changed(run)
	}
}
