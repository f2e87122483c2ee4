package application

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// errIncomplete means that the observation is not complete yet. Its missing part enqueues the application.
var errIncomplete = errors.New("the observation is not complete yet")

// observe returns what is known of the driver of the record's launch and of its executors.
func (r *Reconciler) observe(
	ctx context.Context, v *view, record *v1alpha1.Record,
) (lifecycle.Observation, error) {
	app, policy := v.app, v.policy
	var seen lifecycle.Observation
	if app.GetDeletionTimestamp() != nil {
		seen.Deleted = app.GetDeletionTimestamp().Time
	}
	if !hasDriver(record) {
		r.relabelledDrivers.forget(base.KeyOf(app))
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
			seen.Driver.End.Cause.Unquoted = "" // the event says all
		}
	}
	if app.GetDeletionTimestamp() != nil {
		return seen, nil
	}
	if policy.Executors.Requested() {
		if !r.executorsSynced() {
			return seen, controller.NewRequeueAfter(retryAfter)
		}
		seen.ReadyExecutors = r.executorCounter.Count(app.GetNamespace(), record.Launch, pod)
	}
	if policy.ReportNoExecutorsAfter > 0 && r.executorDetails != nil && r.executorsSynced() && !v.dialect.ShowsExecutors(app) {
		seen.NoExecutorSeen = !r.executorDetails.Has(app, record.Launch, record.Attempt.Since.Time)
	}
	return seen, r.addLog(ctx, v, record, &seen)
}

// addLog adds the last lines of the driver's log to its end, if the settings ask for them and the end is not recorded yet.
func (r *Reconciler) addLog(
	ctx context.Context, v *view, record *v1alpha1.Record, seen *lifecycle.Observation,
) error {
	app := v.app
	lines, state := v.dialect.Settings().DriverLogLines, lifecycle.CurrentState(record)
	driver := seen.Driver
	if lines <= 0 || seen.DriverGone || driver == nil || driver.End == nil || driver.End.Cause.ExitCode == nil ||
		!state.Starting() && !state.Running() {
		return nil
	}
	pod := types.NamespacedName{Namespace: app.GetNamespace(), Name: record.Launch.DriverPod}
	text, done := r.logs.tail(ctx, pod, driver.UID, lifecycle.DriverContainer(driver.Status, v.policy.MainContainer), lines, func() {
		r.enqueueAfter(app, 0)
	})
	if !done {
		return errIncomplete
	}
	driver.End.Cause.AddLog(r.redactors.For(app).Text(text))
	return nil
}

// hasDriver reports whether a record names a driver Pod that is not released.
func hasDriver(record *v1alpha1.Record) bool {
	return record != nil && record.Launch != nil && !record.Launch.Released && record.Launch.DriverUID != ""
}

// findDriver returns the launch's driver Pod, and whether it is proven to be gone. If it is gone, the Pod is the last known one,
// or nil.
//
// The informer is filtered by labels, so a Pod whose labels were changed is absent from its cache too. Therefore absence
// proves nothing: one live read decides. A deletion event that proves itself needs no read, and neither does a Pod that was
// created so recently that its event may be on its way.
func (r *Reconciler) findDriver(ctx context.Context, app dialect.Application, launch *v1alpha1.Launch) (*corev1.Pod, bool, error) {
	key := base.KeyOf(app)
	last, proven := r.expectations.deleted(launch.DriverUID)
	if proven {
		r.relabelledDrivers.forget(key)
		return last, true, nil
	}
	if pod := r.drivers.get(key.Namespace, launch.DriverPod); pod != nil && pod.UID == launch.DriverUID {
		r.relabelledDrivers.forget(key)
		return pod, false, nil
	}
	if pod := r.relabelledDrivers.watched(key, launch.DriverUID); pod != nil {
		return pod, false, nil
	}
	if r.expectations.justCreated(launch.DriverUID) {
		return nil, false, nil
	}
	pod, err := r.kube.CoreV1().Pods(key.Namespace).Get(ctx, launch.DriverPod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err), err == nil && pod.UID != launch.DriverUID:
		r.relabelledDrivers.forget(key)
		return last, true, nil
	case err != nil:
		return nil, false, fmt.Errorf("look for driver %s/%s: %w", key.Namespace, launch.DriverPod, err)
	}
	if !r.relabelledDrivers.follow(app, pod) {
		r.enqueueAfter(app, unwatchedInterval)
	}
	return pod, false, nil
}

// podEventLateAt is when the event of a new driver Pod is late; zero if the Pod is in the cache, or was not created just now. A Pod
// that is gone before a watch that was interrupted goes on has no event at all: then a live read decides.
func (r *Reconciler) podEventLateAt(app dialect.Application) time.Time {
	if !hasDriver(app.GetRecord()) {
		return time.Time{}
	}
	launch := app.GetRecord().Launch
	if pod := r.drivers.get(app.GetNamespace(), launch.DriverPod); pod != nil && pod.UID == launch.DriverUID {
		return time.Time{}
	}
	if r.expectations.justCreated(launch.DriverUID) {
		return r.expectations.createdAt(launch.DriverUID).Add(base.EventDelay)
	}
	return time.Time{}
}

// maxExpectations bounds each kind of expectation. A forgotten one costs one live read.
const maxExpectations = 2048

// expectations holds what this process knows and the caches may not have yet: driver Pods that it created or that were deleted, and new
// applications.
type expectations struct {
	api             *dialect.API
	clock           clock.PassiveClock
	deletions       *lru.Cache
	releases        *lru.Cache
	creations       *lru.Cache
	newApplications *lru.Cache
}

func newExpectations(api *dialect.API, clock clock.PassiveClock) *expectations {
	return &expectations{
		api: api, clock: clock, deletions: lru.New(maxExpectations),
		releases: lru.New(maxExpectations), creations: lru.New(maxExpectations),
		newApplications: lru.New(maxExpectations),
	}
}

// deletion is the last known state of a Pod that a watch reported as deleted.
type deletion struct {
	last *corev1.Pod
	// proven reports whether the Pod is gone. Otherwise its labels may have changed.
	proven bool
}

// podDeleted records that a watch reported a Pod as deleted. tombstone means that the informer did not see the last state of the
// Pod: it was missing in a new list.
//
// A watch that is filtered by labels reports a deletion also when a label is changed. The API server removes a Pod only after
// it has stored the grace period 0, and no Pod with a finalizer. So a Pod whose last state is like that is gone.
func (s *expectations) podDeleted(pod *corev1.Pod, tombstone bool) {
	grace := pod.DeletionGracePeriodSeconds
	proven := !tombstone && pod.DeletionTimestamp != nil && grace != nil && *grace == 0 && len(pod.Finalizers) == 0
	s.deletions.Add(pod.UID, deletion{last: pod, proven: proven})
}

// podSeen forgets the deletion of a Pod that a watch reports to exist: its labels are back, or the API server is, from an
// older backup.
func (s *expectations) podSeen(uid types.UID) { s.deletions.Remove(uid) }

// forgetDriver forgets all about the driver Pod of a record that is from an older backup: the Pod may be back, too.
func (s *expectations) forgetDriver(record *v1alpha1.Record) {
	if !hasDriver(record) {
		return
	}
	for _, memory := range []*lru.Cache{s.deletions, s.releases, s.creations} {
		memory.Remove(record.Launch.DriverUID)
	}
}

// deleted returns the last known state of a Pod that a watch reported as deleted, nil for any other, and whether it is proven
// to be gone.
func (s *expectations) deleted(uid types.UID) (last *corev1.Pod, proven bool) {
	known, ok := s.deletions.Get(uid)
	if !ok {
		return nil, false
	}
	return known.(deletion).last, known.(deletion).proven
}

// driverReleased records the driver of an attempt that another attempt followed: it is deleted, or it ended and terminates.
func (s *expectations) driverReleased(before, after *v1alpha1.Record) {
	if before == nil || before.Launch == nil || before.Launch.DriverUID == "" || before.Attempt.ID == after.Attempt.ID {
		return
	}
	s.releases.Add(before.Launch.DriverUID, nil)
}

func (s *expectations) released(uid types.UID) bool {
	_, known := s.releases.Get(uid)
	return known
}

func (s *expectations) podCreated(uid types.UID) { s.creations.Add(uid, s.clock.Now()) }

// createdAt is when this process created a Pod; zero if it does not know.
func (s *expectations) createdAt(uid types.UID) time.Time {
	at, known := s.creations.Get(uid)
	if !known {
		return time.Time{}
	}
	return at.(time.Time)
}

// justCreated reports whether the event of a Pod's creation may be on its way. It is not if the Pod's deletion was reported.
func (s *expectations) justCreated(uid types.UID) bool {
	_, reported := s.deletions.Get(uid)
	return !reported && s.clock.Since(s.createdAt(uid)) < base.EventDelay
}

// applicationAdded records an application that no controller has reconciled: it has no finalizer, which every controller adds
// first, or it was created after Firesteel started. The run of a schedule is created with the finalizer.
func (s *expectations) applicationAdded(app dialect.Application, atStart bool) {
	begun := slices.Contains(app.GetFinalizers(), s.api.Finalizer) && variant.InstantOf(app).IsZero()
	if !begun && (s.api.FinalizerFirst && variant.InstantOf(app).IsZero() || !atStart) {
		s.newApplications.Add(app.GetUID(), nil)
	}
}

// isNew reports whether no controller can have reconciled an application. Then it has no driver.
func (s *expectations) isNew(uid types.UID) bool {
	_, known := s.newApplications.Get(uid)
	return known
}

func (s *expectations) statusWritten(uid types.UID) { s.newApplications.Remove(uid) }
