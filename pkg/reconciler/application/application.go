package application

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	applicationmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/applications"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/executors"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/launch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/edits"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
)

// maxEffects bounds the effects of one reconcile. No application needs more; if one does, it is requeued.
const maxEffects = 8

// Reconciler reconciles the applications of one API.
type Reconciler struct {
	api      *applications.API
	kube     kubernetes.Interface
	drivers  drivers.Cache
	deleter  drivers.Deleter
	launcher *launch.Launcher
	quotas   *quotas.Source
	relay    delivery.Publisher
	clock    clock.PassiveClock
	// enqueueAfter requeues an application.
	enqueueAfter func(app any, after time.Duration)
	deadlines    *deadlines
	// resync enqueues the applications for which concerned is true.
	resync func(concerned func(app any) bool)
	// namespaces returns the labels of a namespace, for the scope.
	namespaces config.NamespaceLabels

	expectations      *drivers.Expectations
	newApplications   *newApplications
	finalizerRemovals *base.FinalizerRemovals
	relabelledDrivers *drivers.Relabelled
	podEventTimes     *podEventTimes
	edits             *edits.Tracker
	recordGuard       *recordGuard
	metrics           *applicationmetrics.Metrics
	executorCounter   *executors.Counter
	executorUsage     *executors.Usage
	// finishedExecutors holds the executors that have ended and whose Pods still exist.
	finishedExecutors *executors.Finished
	// executorDetails is nil if the API's status does not show executors.
	executorDetails *executors.Details
	// executorsSynced reports whether all executors that existed at the start are counted.
	executorsSynced func() bool
	// firstLaunches are the applications that others yield to.
	firstLaunches *base.Burst
	logs          *drivers.Logs
	redactors     base.Redactors
	// onStatusWrite is the kind's OnStatusWrite.
	onStatusWrite func(before, after dialect.Application)
	// keepFinalizer reports whether the finalizer must stay. A change enqueues the application.
	keepFinalizer func(app dialect.Application) bool
}

// forget forgets an application that is gone.
func (r *Reconciler) forget(app dialect.Application) {
	uid, key := app.GetUID(), kube.KeyOf(app)
	r.relay.Forget(uid)
	r.recordGuard.forget(app)
	r.relabelledDrivers.Forget(key)
	r.launcher.Forget(uid)
	r.quotas.Forget(app)
	r.edits.Forget(uid)
	r.deadlines.clear(key)
	r.firstLaunches.Set(uid, false)
	r.forgetUsage(app, nil)
	if r.executorDetails != nil {
		r.executorDetails.Forget(uid)
	}
}

// Reconcile reconciles an application that is not deleted.
func (r *Reconciler) Reconcile(ctx context.Context, app dialect.Application) error {
	ctx, cancel := context.WithTimeout(ctx, reconciler.DefaultTimeout)
	defer cancel()
	app.SetManagedFields(nil) // the response to the patch of the finalizer has them
	err := r.advance(ctx, r.viewOf(ctx, r.recordGuard.Newest(app)))
	emitFailedWebhook(ctx, app, err)
	return r.redactors.Error(app, err)
}

// Finalize stops the driver of a deleted application. It returns nil when the finalizer can be removed: the driver is stopped and
// the events are delivered, or the time for that is over. The generated reconciler then removes the finalizer from the returned
// application, with its resourceVersion.
func (r *Reconciler) Finalize(ctx context.Context, app dialect.Application) (dialect.Application, error) {
	ctx, cancel := context.WithTimeout(ctx, reconciler.DefaultTimeout)
	defer cancel()
	if r.finalizerRemovals.JustRemoved(app) {
		return app, controller.NewRequeueAfter(base.RetryAfter) // stale cache: the application is gone
	}
	v := r.viewOf(ctx, r.recordGuard.Newest(app))
	if err := r.advance(ctx, v); err != nil {
		emitFailedWebhook(ctx, app, err)
		return v.App, r.redactors.Error(app, err)
	}
	if err := r.waitForRelease(ctx, v); err != nil {
		return v.App, err
	}
	r.relay.Forget(v.App.GetUID())
	r.recordGuard.forget(v.App)
	r.finalizerRemovals.Add(v.App)
	logging.FromContext(ctx).Debugw("removing finalizer", v.LogKeys()...)
	return v.App, nil
}

// waitForRelease returns nil when nothing holds up the removal of the finalizer of a deleted application, else an error that
// requeues the application.
func (r *Reconciler) waitForRelease(ctx context.Context, v *view.Application) error {
	record := v.App.GetRecord()
	switch {
	case record.HasNewerFormat():
		return nil
	case record != nil && lifecycle.CurrentState(record) != lifecycle.ResourceReleased:
		return base.RequeueHeld(ctx, record, "driver Pod not released", delivery.CursorDelay) // the informer reports its deletion
	case len(r.orphanDrivers(v.App, record)) > 0 && r.withinDeletionGrace(ctx, v.App):
		return base.RequeueHeld(ctx, record, "orphan driver Pods not deleted", delivery.CursorDelay) // the informer reports their deletion
	}
	if wait := r.lateCreates(v.App, record); wait > 0 {
		return base.RequeueHeld(ctx, record, "another replica may still create a driver Pod", wait)
	}
	if err := r.deleteLateOrphan(ctx, v); err != nil {
		return err
	}
	if wait := delivery.DeletionGrace(ctx, v.App, record, v.Progress, r.clock.Now()); wait > 0 {
		return base.RequeueHeld(ctx, record, "events not delivered", wait) // the relay reports its progress
	}
	if r.keepFinalizer(v.App) {
		return base.RequeueHeld(ctx, record, "run not recorded by its schedule", delivery.CursorDelay) // changes of the schedule enqueue the application
	}
	return nil
}

// withinDeletionGrace reports whether the deletion of an application may still wait for driver Pods that are not deleted.
func (r *Reconciler) withinDeletionGrace(ctx context.Context, app dialect.Application) bool {
	return r.clock.Since(app.GetDeletionTimestamp().Time) < config.FromContext(ctx).Events.DeletionGrace
}

// advance decides, persists and acts. It repeats this with the result until there is nothing more to do now.
func (r *Reconciler) advance(ctx context.Context, v *view.Application) error {
	if ready, err := r.ensureRecord(ctx, v); err != nil || !ready {
		return err
	}
	record, err := r.startingRecord(ctx, v)
	if err != nil {
		return err
	}
	seen, err := r.observe(ctx, v, record)
	switch {
	case errors.Is(err, errIncomplete):
		return nil
	case err != nil:
		return err
	}
	if err = r.deleteOrphans(ctx, v, record, &seen); err != nil {
		return err
	}
	for range maxEffects {
		var decision lifecycle.Decision
		record, decision = lifecycle.Decide(record, v.Policy, seen, r.clock.Now())
		seen = decision.Seen
		var prepared *launch.Prepared
		if decision.Effect == lifecycle.Launch {
			prepared, err = r.prepare(ctx, v, record, &seen)
			if errors.As(err, new(*launch.TemplateUnavailable)) {
				logging.FromContext(ctx).Debugw("waiting for a pod template", base.LogKeys(record)...)
				return nil // the template's arrival enqueues the application
			}
			if err != nil {
				return err
			}
			if prepared == nil {
				continue
			}
		}
		logDecision(ctx, record, decision)
		if until, yields := r.statusYields(ctx, v, record, decision); yields {
			r.yield(ctx, v, record, decision, "status", until)
			return nil
		}
		first := decision.Effect == lifecycle.Launch && r.recordsFirstLaunchLater(v) && !prepared.Reserves && record.Attempt.WithoutEventLogs == ""
		if first {
			err = r.fence(ctx, v, record, prepared)
		} else {
			record, err = r.record(ctx, v, record, decision)
		}
		if err != nil {
			return err
		}
		if decision.Effect == lifecycle.NoEffect {
			return r.rest(ctx, v, decision)
		}
		if prepared != nil && prepared.Reserves {
			return nil // the reservation enqueues the application when it comes back from the API server
		}
		if until, yields := r.releaseYields(v, record, decision); yields {
			r.yield(ctx, v, record, decision, "release", until)
			return nil
		}
		proceed, err := r.perform(ctx, v, decision, prepared, &seen)
		if err != nil || !proceed {
			if first {
				_, recordErr := r.record(ctx, v, record, decision)
				err = errors.Join(err, recordErr)
			}
			r.requeueAt(ctx, v, decision)
			return err
		}
	}
	r.enqueueAfter(v.App, base.RetryAfter)
	return nil
}

// prepare prepares the launch of an attempt. It returns nil if there is nothing to launch, as when the user starts the driver. The
// observation then has what is decided on next.
func (r *Reconciler) prepare(
	ctx context.Context, v *view.Application, record *v1alpha1.Record, seen *lifecycle.Observation,
) (*launch.Prepared, error) {
	if v.UserDriver != nil {
		return nil, r.launcher.Follow(ctx, v, record, seen)
	}
	return r.launcher.Prepare(ctx, v, record, seen)
}

// recordsFirstLaunchLater reports whether the annotation fences the first launch, so that the first status write can report
// the driver, too. This is safe only if the status write stores the record: without a record no driver is started.
func (r *Reconciler) recordsFirstLaunchLater(v *view.Application) bool {
	return v.App.GetRecord() == nil && r.recordGuard.storesRecords()
}

// rest sets the next deadline of an application that has nothing to do now. If it is finished, its finalizer is removed.
func (r *Reconciler) rest(ctx context.Context, v *view.Application, decision lifecycle.Decision) error {
	r.deadlines.clear(kube.KeyOf(v.App))
	r.requeueAt(ctx, v, decision)
	if err := r.deleteFinishedExecutors(ctx, v, v.App.GetRecord()); err != nil {
		return err
	}
	return r.removeFinalizer(ctx, v)
}

// fence writes the fence of a first launch into the annotation. The record is written after the launch.
func (r *Reconciler) fence(ctx context.Context, v *view.Application, record *v1alpha1.Record, prepared *launch.Prepared) error {
	if err := r.launcher.Fence(ctx, v, record, prepared); err != nil {
		return err
	}
	r.recordGuard.Remember(v.App)
	return nil
}

// record persists a decision and publishes its transitions. It returns a copy of the stored record.
func (r *Reconciler) record(
	ctx context.Context, v *view.Application, record *v1alpha1.Record, decision lifecycle.Decision,
) (*v1alpha1.Record, error) {
	if err := r.launcher.DeleteObsolete(ctx, v, record); err != nil {
		return nil, err
	}
	if err := r.persist(ctx, v, record, r.facts(v, record, decision)); err != nil {
		return nil, err
	}
	record = v.App.GetRecord().DeepCopy()
	if decision.SpecAdopted {
		blocked.SpecAdopted(ctx, v.App, record)
	}
	r.publish(ctx, v, decision)
	return record, nil
}

// startingRecord returns the record to decide on. It is nil for a new application. If the first launch was fenced and no
// record was stored since, it returns the record that the first status write would have stored.
func (r *Reconciler) startingRecord(ctx context.Context, v *view.Application) (*v1alpha1.Record, error) {
	if record := v.Record(); record != nil {
		return record, r.addFinalizer(ctx, v, record)
	}
	first := r.launcher.Fenced(v.App)
	switch {
	case first == nil:
		return nil, nil
	case first.Unwritten == nil:
		return lifecycle.Begin(v.Policy, first.Launch, first.Since), nil
	case first.Unwritten.Generation != v.App.GetGeneration():
		return r.record(ctx, v, first.Unwritten.Record.DeepCopy(), lifecycle.Decision{})
	default:
		return first.Unwritten.Record.DeepCopy(), nil
	}
}

// ensureRecord reports whether the application can continue now: it has a usable record, or is new. The first transition of
// a new application writes its record.
func (r *Reconciler) ensureRecord(ctx context.Context, v *view.Application) (bool, error) {
	if v.HasUsableRecord() {
		return true, nil
	}
	return r.takeOver(ctx, v)
}

// perform carries out an effect. It returns false if the result is not known yet: an informer or a timer enqueues the application.
func (r *Reconciler) perform(
	ctx context.Context, v *view.Application, decision lifecycle.Decision, prepared *launch.Prepared, seen *lifecycle.Observation,
) (bool, error) {
	switch decision.Effect {
	case lifecycle.Persist:
		return true, nil
	case lifecycle.Launch:
		return r.launcher.Create(ctx, v, prepared, seen)
	case lifecycle.Release:
		return true, r.release(ctx, v.App, seen, false)
	case lifecycle.ForceRelease:
		return true, r.release(ctx, v.App, seen, true)
	default:
		return false, fmt.Errorf("unknown effect %q", decision.Effect)
	}
}

// publish gives the persisted record to the relay. If the decision waits for a handler, it adds the request to that handler.
func (r *Reconciler) publish(ctx context.Context, v *view.Application, decision lifecycle.Decision) {
	snapshot := events.Snapshot{Object: r.objectOf(v.App), Record: v.App.GetRecord(), Span: trace.SpanContextFromContext(ctx)}
	request, err := requestOf(snapshot, decision)
	if err != nil {
		logging.FromContext(ctx).Errorw("event cannot be made, so its handler is not requested", append(v.LogKeys(), zap.Error(err))...)
	} else {
		snapshot.Request = request
	}
	r.relay.Publish(snapshot)
}

// requestOf returns the request to the handler that a decision waits for. It returns nil if the decision waits for no
// handler.
func requestOf(snapshot events.Snapshot, decision lifecycle.Decision) (*events.PendingRequest, error) {
	request := &events.PendingRequest{Handler: string(decision.Awaits)}
	var err error
	switch decision.Awaits {
	case lifecycle.AwaitsNothing:
		return nil, nil
	case lifecycle.AwaitsVerdict:
		request.Event, err = events.NewTransitionEvent(snapshot.Object, *outbox.LastEnd(snapshot.Record))
	case lifecycle.AwaitsDeletion:
		request.Event, err = events.NewExpiredEvent(snapshot.Object, decision.AwaitsSince)
	case lifecycle.AwaitsArchive:
		if !decision.AwaitsSince.IsZero() {
			request.Event, err = events.NewInterruptedEvent(snapshot.Object, decision.AwaitsSince)
			break
		}
		request.Event, err = events.NewTransitionEvent(snapshot.Object, *outbox.LastEnd(snapshot.Record))
	default:
		err = fmt.Errorf("the handler %q has no event", decision.Awaits)
	}
	return request, err
}

// requeueAt sets the deadline of an application to the earliest of these: the deadline of the decision, the write of the cursor, and
// the time when the event of a new driver Pod is late.
func (r *Reconciler) requeueAt(ctx context.Context, v *view.Application, decision lifecycle.Decision) {
	due := decision.RequeueAt
	if record := v.App.GetRecord(); record != nil {
		if cursor := delivery.CursorDueAt(record, v.Progress); due.IsZero() || !cursor.IsZero() && cursor.Before(due) {
			due = cursor
		}
	}
	if late := r.podEventLateAt(v.App); due.IsZero() || !late.IsZero() && late.Before(due) {
		due = late
	}
	if !due.IsZero() {
		base.LogRequeue(ctx, v.LogKeys(), due)
		r.deadlines.set(kube.KeyOf(v.App), due.Sub(r.clock.Now()))
	}
}

func (r *Reconciler) objectOf(app dialect.Application) events.Object {
	return events.Object{
		Group: r.api.Group, Resource: r.api.Resource, Kind: r.api.Kind,
		Namespace: app.GetNamespace(), Name: app.GetName(), UID: app.GetUID(),
	}
}

// viewOf computes the view of a reconcile.
func (r *Reconciler) viewOf(ctx context.Context, app dialect.Application) *view.Application {
	settings := config.FromContext(ctx).In(app.GetNamespace())
	translator := r.api.Dialect(settings)
	policy := translator.Policy(app)
	policy.Spec.SameSince = r.edits.SameSince(app.GetUID(), app.GetGeneration())
	policy.Refused, policy.Stop = r.redactors.Cause(app, policy.Refused), r.redactors.Cause(app, policy.Stop)
	policy.Timeouts.Deletion = max(settings.Events.DeletionGrace, 1) // 0 means no limit
	policy.ArchiveWait = settings.Archive.WaitIn(app.GetNamespace())
	return &view.Application{
		App: app, Dialect: translator, KeepExecutors: settings.Archive.KeepsExecutors(app.GetNamespace()), Policy: policy, UserDriver: translator.UserDriver(app), Progress: r.relay.Progress(app.GetUID()),
	}
}
