package schedule

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	schedulemetrics "github.com/firesteel-dev/firesteel/pkg/metrics/schedules"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/writecache"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
	"github.com/firesteel-dev/firesteel/pkg/schedules"
)

const (
	// handlerDelay is how long the handler may take between creating a run and recording it. After that the
	// reconciler records it.
	handlerDelay = 5 * time.Second
	// maxRequeue is the longest time between two reconciles of a schedule. It bounds how late a change of the system
	// clock is noticed.
	maxRequeue = 10 * time.Minute
)

// Reconciler reconciles the schedules of one kind.
type Reconciler struct {
	kind   *variant.Kind
	client versioned.Interface
	// runs are the applications, indexed by schedule.
	runs  cache.Indexer
	relay delivery.Publisher
	clock clock.PassiveClock
	// owned reports whether this replica leads a schedule that still exists.
	owned base.Owned
	// enqueueAfter requeues a schedule.
	enqueueAfter func(key types.NamespacedName, after time.Duration)

	written *writecache.Cache[variant.Schedule]
	// restorations bounds how often a status is restored that another writer has changed.
	restorations delivery.Restorations
	published    *published
	dueRuns      *base.Burst
	reports      blocked.Reports
	pruned       blocked.Pruned
	redactors    base.Redactors
	metrics      *schedulemetrics.Metrics
}

// reconcile reconciles a schedule.
func (r *Reconciler) reconcile(ctx context.Context, s variant.Schedule) error {
	ctx, cancel := context.WithTimeout(ctx, reconciler.DefaultTimeout)
	defer cancel()
	err := r.advance(ctx, s)
	if !r.owned(kube.KeyOf(s), s.GetUID()) {
		r.dueRuns.Set(s.GetUID(), false) // the leader changed during the reconcile, or the schedule was deleted and forgotten
	}
	return r.redactors.Error(s, err)
}

func (r *Reconciler) advance(ctx context.Context, s variant.Schedule) error {
	s = r.written.Newest(s)
	if done, err := r.isBlocked(ctx, s); done || err != nil {
		return err
	}
	now := r.clock.Now()
	before := s.GetScheduleStatus().DeepCopy()
	policy := r.kind.PolicyOf(s, now)
	runs, err := r.runsOf(s, policy, now)
	if err != nil {
		return err
	}
	decision, again := decide(s, policy, runs, now)
	uncached, err := r.uncachedRuns(ctx, s, decision.Record, runs)
	if err != nil {
		return err
	}
	if len(uncached) > 0 {
		again = handlerDelay
	}
	schedule.Count(s.GetScheduleStatus(), decision.Record, policy, runs, uncached)
	instant, asks := handlerRequest(decision, policy)
	r.dueRuns.Set(s.GetUID(), asks && !decision.Due.IsZero())
	overdueHandler := ""
	if asks {
		overdueHandler = r.relay.Progress(s.GetUID()).OverdueHandler
	}
	schedule.Project(s, policy, decision, overdueHandler, now)
	logDecision(ctx, s.GetScheduleStatus().ScheduleState, decision, asks)
	if worthWriting(before, s.GetScheduleStatus()) {
		wait := time.Duration(0)
		if equality.Semantic.DeepEqual(before.Firesteel, s.GetScheduleStatus().Firesteel) {
			wait = r.restorations.Wait(s, s, now) // only what another writer has changed is restored
		}
		if wait > 0 {
			again = earlier(again, wait)
		} else if s, err = r.write(ctx, s, before.Firesteel == nil); err != nil {
			return err
		}
	}
	if err := r.publish(ctx, s, instant, asks); err != nil {
		return err
	}
	r.requeue(ctx, s, decision, again)
	return nil
}

// decide decides with the existing runs that are not recorded. The handler has some time to record a run that it just
// started. After that, or when the next instant has come, the reconciler records it. It searches the record from before the decision,
// which counts the instants before the due one as missed: one with a run is not.
func decide(
	s variant.Schedule, policy schedule.Policy, runs []schedule.Run, now time.Time,
) (decision schedule.Decision, again time.Duration) {
	record := schedule.Current(s, policy, now)
	found := schedule.LatestUnrecorded(record, runs)
	decision = schedule.DecideOn(record, policy, now)
	if found == nil {
		return decision, 0
	}
	if age := now.Sub(found.Created); age < handlerDelay && found.Instant.Equal(decision.Due) {
		return decision, handlerDelay
	}
	record = schedule.Current(s, policy, now)
	schedule.RecordFound(record, policy, *found)
	return schedule.DecideOn(record, policy, now), 0
}

// handlerRequest returns the instant of the request to the handler, and whether there is one: a run is due and does
// not wait for another, or more runs have ended than the history limits allow.
func handlerRequest(decision schedule.Decision, policy schedule.Policy) (time.Time, bool) {
	record := decision.Record
	if !decision.Due.IsZero() && (record.Held == nil || record.Held.Policy != policy.Concurrency || len(record.Active) == 0) {
		return decision.Due, true
	}
	return record.SettledUntil.Time, len(record.Surplus) > 0 && !record.SettledUntil.IsZero()
}

// runsOf returns the cached runs of a schedule, with proven instants. A run counts even if its owner or label was
// removed.
func (r *Reconciler) runsOf(s variant.Schedule, policy schedule.Policy, now time.Time) ([]schedule.Run, error) {
	owned, err := r.runs.ByIndex(bySchedule, string(s.GetUID()))
	if err != nil {
		return nil, fmt.Errorf("find the runs of %s: %w", kube.KeyOf(s), err)
	}
	detached, err := r.runs.ByIndex(bySchedule, r.kind.Detached(s))
	if err != nil {
		return nil, fmt.Errorf("find the runs without owner of %s: %w", kube.KeyOf(s), err)
	}
	detached = slices.DeleteFunc(detached, func(object any) bool {
		run, ok := object.(metav1.Object)
		earlier := ok && run.GetCreationTimestamp().Time.Before(s.GetCreationTimestamp().Time) // an earlier schedule's
		return !ok || earlier || run.GetName() != schedule.RunName(s.GetName(), variant.InstantOf(run))
	})
	runs := map[types.UID]schedule.Run{}
	for _, object := range slices.Concat(owned, detached, r.activeRuns(s)) {
		if run, ok := object.(metav1.Object); ok {
			runs[run.GetUID()] = variant.RunOf(run)
		}
	}
	return schedule.DropUnprovenInstants(s, policy, slices.Collect(maps.Values(runs)), now), nil
}

// activeRuns returns the runs that are active in the record, from the cache.
func (r *Reconciler) activeRuns(s variant.Schedule) (runs []any) {
	record := s.GetScheduleStatus().Firesteel
	if record == nil {
		return nil
	}
	for _, reference := range record.Active {
		object, known, err := r.runs.GetByKey(s.GetNamespace() + "/" + reference.Name)
		if run, ok := object.(metav1.Object); err == nil && known && ok && run.GetUID() == reference.UID {
			runs = append(runs, object)
		}
	}
	return runs
}

// uncachedRuns returns the active runs of the record that exist although the cache does not have them: the cache may
// be stale.
func (r *Reconciler) uncachedRuns(
	ctx context.Context, s variant.Schedule, record *v1alpha1.ScheduleRecord, runs []schedule.Run,
) ([]v1alpha1.RunReference, error) {
	seen := map[types.UID]bool{}
	for _, run := range runs {
		seen[run.UID] = true
	}
	var unseen []v1alpha1.RunReference
	for _, reference := range record.Active {
		if seen[reference.UID] {
			continue
		}
		if last := record.Last; last == nil || last.UID != reference.UID || r.clock.Since(last.StartedAt.Time) >= handlerDelay {
			run, err := schedules.Run(ctx, r.kind, r.client, types.NamespacedName{Namespace: s.GetNamespace(), Name: reference.Name})
			if err != nil && !apierrors.IsNotFound(err) {
				return nil, fmt.Errorf("get run %s: %w", reference.Name, err)
			}
			if err != nil || run.GetUID() != reference.UID {
				continue
			}
		}
		unseen = append(unseen, reference)
	}
	return unseen, nil
}

// worthWriting reports whether a status is worth a write. The deletion of a surplus run is not.
func worthWriting(before, after *v1alpha1.ScheduleStatus) bool {
	if before.Firesteel == nil || len(after.Firesteel.Surplus) > 0 && !contains(before.Firesteel.Surplus, after.Firesteel.Surplus) {
		return true
	}
	same := after.DeepCopy()
	same.Firesteel.Surplus = before.Firesteel.Surplus
	return !equality.Semantic.DeepEqual(before, same)
}

func contains(all, some []v1alpha1.RunReference) bool {
	known := map[v1alpha1.RunReference]bool{}
	for _, reference := range all {
		known[reference] = true
	}
	for _, reference := range some {
		if !known[reference] {
			return false
		}
	}
	return true
}

// write writes the status with the resourceVersion that was read, and checks that the API server stored the record. first reports
// whether the schedule had no record before.
func (r *Reconciler) write(ctx context.Context, s variant.Schedule, first bool) (variant.Schedule, error) {
	stored, err := schedules.Client(r.kind, r.client, s.GetNamespace()).UpdateStatus(ctx, s)
	refused := blocked.IsRefused(err, first)
	if err != nil && !refused {
		return s, fmt.Errorf("write status: %w", err)
	}
	if refused || stored.GetScheduleStatus().Firesteel == nil {
		return s, r.pruned.Report(ctx, s, r.kind.String(), r.kind.Manifest, r.clock.Now(), err)
	}
	r.pruned.Forget(s.GetUID())
	r.reports.Forget(s.GetUID())
	r.written.Remember(stored)
	r.restorations.Wrote(stored)
	logging.FromContext(ctx).Debugw("wrote status", "resourceVersion", stored.GetResourceVersion())
	return stored, nil
}

// publish asks the handler, or withdraws the request.
func (r *Reconciler) publish(ctx context.Context, s variant.Schedule, instant time.Time, asks bool) error {
	snapshot := events.Snapshot{Object: schedules.Object(r.kind, s), Span: trace.SpanContextFromContext(ctx)}
	if !asks {
		if r.published.has(s.GetUID()) {
			r.relay.Publish(snapshot)
			if r.relay.Progress(s.GetUID()).Pending == 0 {
				r.relay.Forget(s.GetUID())
				r.published.forget(s.GetUID())
			}
		}
		return nil
	}
	event, err := events.NewDueEvent(snapshot.Object, instant)
	if err != nil {
		return fmt.Errorf("create the event for %s: %w", instant, err)
	}
	snapshot.Request = &events.PendingRequest{Handler: schedule.Handler, Event: event}
	r.published.add(s.GetUID())
	r.relay.Publish(snapshot)
	return nil
}

// requeue requeues a schedule for its next deadline.
func (r *Reconciler) requeue(ctx context.Context, s variant.Schedule, decision schedule.Decision, again time.Duration) {
	after := maxRequeue
	if !decision.RequeueAt.IsZero() {
		after = min(after, max(decision.RequeueAt.Sub(r.clock.Now()), 0))
	} else if again == 0 {
		return
	}
	if again > 0 {
		after = min(after, again)
	}
	base.LogRequeue(ctx, nil, r.clock.Now().Add(after))
	r.enqueueAfter(kube.KeyOf(s), after)
}

// earlier returns the shorter of two durations. Zero is none.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// forget forgets a schedule.
func (r *Reconciler) forget(s variant.Schedule) {
	r.relay.Forget(s.GetUID())
	r.published.forget(s.GetUID())
	r.dueRuns.Set(s.GetUID(), false)
	r.written.Forget(s)
	r.restorations.Forget(s.GetUID())
	r.reports.Forget(s.GetUID())
	r.pruned.Forget(s.GetUID())
}
