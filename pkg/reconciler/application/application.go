package application

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	applicationmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/applications"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/executors"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/edits"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// maxEffects bounds the effects of one reconcile. No application needs more; if one does, it is requeued.
const maxEffects = 8

// Reconciler reconciles the applications of one API.
type Reconciler struct {
	api     *applications.API
	kube    kubernetes.Interface
	dynamic dynamic.Interface
	drivers drivers.Cache
	deleter drivers.Deleter
	relay   delivery.Publisher
	clock   clock.PassiveClock
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
	nameWaits         *nameWaits
	podEventTimes     *podEventTimes
	edits             *edits.Tracker
	recordGuard       *recordGuard
	metrics           *applicationmetrics.Metrics
	executorCounter   *executors.Counter
	// executorDetails is nil if the API's status does not show executors.
	executorDetails *executors.Details
	// executorsSynced reports whether all executors that existed at the start are counted.
	executorsSynced func() bool
	logs            *drivers.Logs
	redactors       base.Redactors
	templates       *podtemplate.Keeper
	// onStatusWrite is the kind's OnStatusWrite.
	onStatusWrite func(before, after dialect.Application)
	// keepFinalizer reports whether the finalizer must stay. A change enqueues the application.
	keepFinalizer func(app dialect.Application) bool
}

// Reconcile reconciles an application that is not deleted.
func (r *Reconciler) Reconcile(ctx context.Context, app dialect.Application) error {
	ctx, cancel := context.WithTimeout(ctx, reconciler.DefaultTimeout)
	defer cancel()
	app.SetManagedFields(nil) // the response to the patch of the finalizer has them
	return r.redactors.Error(app, r.advance(ctx, r.viewOf(ctx, r.recordGuard.Newest(app))))
}

// Finalize stops the driver of a deleted application. It returns nil when the finalizer can be removed: the driver is stopped and
// the events are delivered, or the time for that is over. The generated reconciler then removes the finalizer from the returned
// application, with its resourceVersion.
func (r *Reconciler) Finalize(ctx context.Context, app dialect.Application) (dialect.Application, error) {
	ctx, cancel := context.WithTimeout(ctx, reconciler.DefaultTimeout)
	defer cancel()
	if r.finalizerRemovals.JustRemoved(app) {
		return app, controller.NewRequeueAfter(retryAfter) // stale cache: the application is gone
	}
	v := r.viewOf(ctx, r.recordGuard.Newest(app))
	if err := r.advance(ctx, v); err != nil {
		return v.app, r.redactors.Error(app, err)
	}
	if err := r.waitForRelease(ctx, v); err != nil {
		return v.app, err
	}
	r.relay.Forget(v.app.GetUID())
	r.recordGuard.forget(v.app)
	r.finalizerRemovals.Add(v.app)
	logging.FromContext(ctx).Debugw("removing finalizer", v.logKeys()...)
	return v.app, nil
}

// waitForRelease returns nil when nothing holds up the removal of the finalizer of a deleted application, else an error that
// requeues the application.
func (r *Reconciler) waitForRelease(ctx context.Context, v *view) error {
	record := v.app.GetRecord()
	switch {
	case record.Foreign():
		return nil
	case record != nil && lifecycle.CurrentState(record) != lifecycle.ResourceReleased:
		return requeueHeld(ctx, v, "driver Pod not released", delivery.CursorDelay) // the informer reports its deletion
	case len(r.orphanDrivers(v.app, record)) > 0 && r.withinDeletionGrace(ctx, v.app):
		return requeueHeld(ctx, v, "orphan driver Pods not deleted", delivery.CursorDelay) // the informer reports their deletion
	}
	if err := r.deleteLateOrphan(ctx, v); err != nil {
		return err
	}
	if wait := delivery.DeletionGrace(ctx, v.app, record, v.progress, r.clock.Now()); wait > 0 {
		return requeueHeld(ctx, v, "events not delivered", wait) // the relay reports its progress
	}
	if r.keepFinalizer(v.app) {
		return requeueHeld(ctx, v, "run not recorded by its schedule", delivery.CursorDelay) // changes of the schedule enqueue the application
	}
	return nil
}

// requeueHeld logs what holds up the removal of the finalizer, and returns an error that requeues the application.
func requeueHeld(ctx context.Context, v *view, heldBy string, wait time.Duration) error {
	logging.FromContext(ctx).Debugw("finalizer kept", append(v.logKeys(), "heldBy", heldBy, "requeueAfter", wait)...)
	return controller.NewRequeueAfter(wait)
}

// withinDeletionGrace reports whether the deletion of an application may still wait for driver Pods that are not deleted.
func (r *Reconciler) withinDeletionGrace(ctx context.Context, app dialect.Application) bool {
	return r.clock.Since(app.GetDeletionTimestamp().Time) < config.FromContext(ctx).Events.DeletionGrace
}

// advance decides, persists and acts. It repeats this with the result until there is nothing more to do now.
func (r *Reconciler) advance(ctx context.Context, v *view) error {
	ready, err := r.ensureRecord(ctx, v)
	if err != nil || !ready {
		return err
	}
	record := v.record()
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
	var created []submission.Object
	for range maxEffects {
		var decision lifecycle.Decision
		record, decision = lifecycle.Decide(record, v.policy, seen, r.clock.Now())
		seen = decision.Seen
		var prepared *preparedLaunch
		if decision.Effect == lifecycle.Launch {
			prepared, err = r.prepare(ctx, v, record, &seen)
			if errors.As(err, new(*templateUnavailable)) {
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
		if err = r.deleteObsolete(ctx, v, record); err != nil {
			return err
		}
		if err = r.persist(ctx, v, record, r.facts(v, record, decision, created)); err != nil {
			return err
		}
		record = v.app.GetRecord().DeepCopy()
		if decision.SpecAdopted {
			blocked.SpecAdopted(ctx, v.app, record)
		}
		r.publish(ctx, v, decision)
		if decision.Effect == lifecycle.NoEffect {
			r.deadlines.clear(base.KeyOf(v.app))
			r.requeueAt(ctx, v, decision)
			return r.removeFinalizer(ctx, v)
		}
		proceed, err := r.perform(ctx, v, decision, prepared, &seen)
		if prepared != nil {
			created = prepared.created
		}
		if err != nil || !proceed {
			r.requeueAt(ctx, v, decision)
			return err
		}
	}
	r.enqueueAfter(v.app, retryAfter)
	return nil
}

// perform carries out an effect. It returns false if the result is not known yet: an informer or a timer enqueues the application.
func (r *Reconciler) perform(
	ctx context.Context, v *view, decision lifecycle.Decision, prepared *preparedLaunch, seen *lifecycle.Observation,
) (bool, error) {
	switch decision.Effect {
	case lifecycle.Persist:
		return true, nil
	case lifecycle.Launch:
		return r.createLaunch(ctx, v, prepared, seen)
	case lifecycle.Release:
		return true, r.release(ctx, v.app, seen, false)
	case lifecycle.ForceRelease:
		return true, r.release(ctx, v.app, seen, true)
	default:
		return false, fmt.Errorf("unknown effect %q", decision.Effect)
	}
}

// publish hands the persisted record to the relay, with the request to a handler if the decision waits for one.
func (r *Reconciler) publish(ctx context.Context, v *view, decision lifecycle.Decision) {
	snapshot := events.Snapshot{Object: r.objectOf(v.app), Record: v.app.GetRecord(), Span: trace.SpanContextFromContext(ctx)}
	var err error
	switch decision.Awaits {
	case lifecycle.AwaitsVerdict:
		snapshot.Request = &events.PendingRequest{Handler: string(decision.Awaits)}
		snapshot.Request.Event, err = events.NewTransitionEvent(snapshot.Object, *outbox.LastEnd(v.app.GetRecord()))
	case lifecycle.AwaitsDeletion:
		snapshot.Request = &events.PendingRequest{Handler: string(decision.Awaits)}
		snapshot.Request.Event, err = events.NewExpiredEvent(snapshot.Object, decision.AwaitsSince)
	}
	if err != nil {
		logging.FromContext(ctx).Errorw("event cannot be made, so its handler is not requested", append(v.logKeys(), zap.Error(err))...)
		snapshot.Request = nil
	}
	r.relay.Publish(snapshot)
}

// requeueAt sets the deadline of an application to the earliest of these: the deadline of the decision, the write of the cursor, and
// the time when the event of a new driver Pod is late.
func (r *Reconciler) requeueAt(ctx context.Context, v *view, decision lifecycle.Decision) {
	due := decision.RequeueAt
	if record := v.app.GetRecord(); record != nil {
		if cursor := delivery.CursorDueAt(record, v.progress); due.IsZero() || !cursor.IsZero() && cursor.Before(due) {
			due = cursor
		}
	}
	if late := r.podEventLateAt(v.app); due.IsZero() || !late.IsZero() && late.Before(due) {
		due = late
	}
	if !due.IsZero() {
		logging.FromContext(ctx).Debugw("requeued", append(v.logKeys(), "until", due)...)
		r.deadlines.set(base.KeyOf(v.app), due.Sub(r.clock.Now()))
	}
}

func (r *Reconciler) objectOf(app dialect.Application) events.Object {
	return events.Object{
		Group: r.api.Group, Resource: r.api.Resource, Kind: r.api.Kind,
		Namespace: app.GetNamespace(), Name: app.GetName(), UID: app.GetUID(),
	}
}
