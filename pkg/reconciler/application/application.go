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

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/edits"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// maxEffects bounds the effects of one reconcile. No application needs more; one that does is taken up again.
const maxEffects = 8

// Reconciler takes each application of one API as far as what is observed allows.
type Reconciler struct {
	api     *applications.API
	kube    kubernetes.Interface
	dynamic dynamic.Interface
	drivers drivers
	relay   delivery.Publisher
	clock   clock.PassiveClock
	// enqueueAfter has an application looked at again, by then at the latest.
	enqueueAfter func(app any, after time.Duration)
	deadlines    *deadlines
	// resync has all applications looked at that a change of the settings concerns.
	resync func(concerned func(app any) bool)
	// namespaces tells what the scope may ask.
	namespaces config.NamespaceLabels

	expectations      *expectations
	relabelledDrivers *relabelledDrivers
	nameWaits         *nameWaits
	podEventTimes     *podEventTimes
	edits             *edits.Tracker
	recordGuard       *recordGuard
	instruments       *Instruments
	executorCounter   *executorCounter
	// executorDetails is nil where the API's status does not tell of executors.
	executorDetails *executorDetails
	// executorsSynced says that all executors that there were at the start are counted.
	executorsSynced func() bool
	logs            *driverLogs
	redactors       base.Redactors
	templates       *podtemplate.Keeper
	// onStatusWrite is the kind's OnStatusWrite.
	onStatusWrite func(before, after dialect.Application)
	// keepFinalizer says that an application must not go yet; it is looked at when that changes.
	keepFinalizer func(app dialect.Application) bool
}

// Reconcile takes a live application further.
func (r *Reconciler) Reconcile(ctx context.Context, app dialect.Application) error {
	ctx, cancel := context.WithTimeout(ctx, reconciler.DefaultTimeout)
	defer cancel()
	app.SetManagedFields(nil) // it is what the patch of the finalizer was answered with, where it was patched just now
	_, err := r.advance(ctx, app)
	return r.redactors.Error(app, err)
}

// Finalize stops the driver of a deleted application, then lets go of it once its story is told. It returns the
// application as it is then: its finalizer is patched next, with that resourceVersion.
func (r *Reconciler) Finalize(ctx context.Context, app dialect.Application) (dialect.Application, error) {
	ctx, cancel := context.WithTimeout(ctx, reconciler.DefaultTimeout)
	defer cancel()
	if r.expectations.finalizerJustRemoved(app) {
		return app, controller.NewRequeueAfter(retryAfter) // the cache does not know yet that it is gone
	}
	app, err := r.advance(ctx, app)
	if err != nil {
		return app, r.redactors.Error(app, err)
	}
	if app.GetRecord().Foreign() {
		r.forgetFinalized(app)
		return app, nil
	}
	if app.GetRecord() != nil && lifecycle.CurrentState(app.GetRecord()) != lifecycle.ResourceReleased {
		return app, controller.NewRequeueAfter(delivery.CursorDelay) // the driver Pod's end is watched
	}
	if len(r.orphanDrivers(app, app.GetRecord())) > 0 && r.withinDeletionGrace(ctx, app) {
		return app, controller.NewRequeueAfter(delivery.CursorDelay) // as is theirs
	}
	if err := r.deleteLateOrphan(ctx, app); err != nil {
		return app, err
	}
	if wait := delivery.DeletionGrace(ctx, app, app.GetRecord(), r.relay.Progress(app.GetUID()), r.clock.Now()); wait > 0 {
		return app, controller.NewRequeueAfter(wait) // progress of the delivery is reported
	}
	if r.keepFinalizer(app) {
		return app, controller.NewRequeueAfter(delivery.CursorDelay) // its schedule's record is watched
	}
	r.forgetFinalized(app)
	return app, nil
}

// forgetFinalized forgets an application whose finalizer is removed next.
func (r *Reconciler) forgetFinalized(app dialect.Application) {
	r.relay.Forget(app.GetUID())
	r.recordGuard.forget(app)
	r.expectations.finalizerRemoved(app)
}

// withinDeletionGrace reports whether the deletion of an application may yet wait for driver Pods that do not go.
func (r *Reconciler) withinDeletionGrace(ctx context.Context, app dialect.Application) bool {
	return r.clock.Since(app.GetDeletionTimestamp().Time) < config.FromContext(ctx).Events.DeletionGrace
}

// advance decides, persists, acts, and does so again with what came of it.
func (r *Reconciler) advance(ctx context.Context, app dialect.Application) (dialect.Application, error) {
	app, ready, err := r.ensureRecord(ctx, r.recordGuard.Newest(app))
	if err != nil || !ready {
		return app, err
	}
	dialect := r.dialect(ctx)
	policy := r.policy(dialect, app)
	policy.Refused = r.redactCause(app, policy.Refused)
	policy.Timeouts.Deletion = max(config.FromContext(ctx).Events.DeletionGrace, 1) // zero would be none
	record := r.recordWithProgress(app)
	seen, err := r.observe(ctx, app, record, policy)
	switch {
	case errors.Is(err, errIncomplete):
		return app, nil
	case err != nil:
		return app, err
	}
	if err = r.deleteOrphans(ctx, app, record, &seen); err != nil {
		return app, err
	}
	var created []submission.Object
	for range maxEffects {
		var decision lifecycle.Decision
		record, decision = lifecycle.Decide(record, policy, seen, r.clock.Now())
		seen = decision.Seen
		var prepared *preparedLaunch
		if decision.Effect == lifecycle.Launch {
			prepared, err = r.prepare(ctx, app, record, &seen)
			if errors.As(err, new(*templateUnavailable)) {
				return app, nil // its arrival is told
			}
			if err != nil {
				return app, err
			}
			if prepared == nil {
				continue
			}
		}
		if err = r.deleteObsolete(ctx, dialect, app, record); err != nil {
			return app, err
		}
		if app, err = r.persist(ctx, dialect, app, record, r.facts(dialect, app, record, decision, created)); err != nil {
			return app, err
		}
		record = app.GetRecord().DeepCopy()
		if decision.SpecAdopted {
			blocked.SpecAdopted(ctx, app, record)
		}
		r.publish(ctx, app, decision)
		if decision.Effect == lifecycle.NoEffect {
			r.deadlines.clear(keyOf(app))
			r.requeueAt(app, decision)
			return app, r.removeFinalizer(ctx, app, policy)
		}
		proceed, err := r.perform(ctx, app, decision, prepared, &seen)
		if prepared != nil {
			created = prepared.created
		}
		if err != nil || !proceed {
			r.requeueAt(app, decision)
			return app, err
		}
	}
	r.enqueueAfter(app, retryAfter)
	return app, nil
}

// policy is what an application asks for, with what is known of edits of its spec.
func (r *Reconciler) policy(d dialect.Dialect, app dialect.Application) lifecycle.Policy {
	policy := d.Policy(app)
	policy.Spec.SameSince = r.edits.SameSince(app.GetUID(), app.GetGeneration())
	return policy
}

// perform carries out an effect. It says no where the effect has to wait for something that is watched.
func (r *Reconciler) perform(
	ctx context.Context, app dialect.Application, decision lifecycle.Decision, prepared *preparedLaunch, seen *lifecycle.Observation,
) (bool, error) {
	switch decision.Effect {
	case lifecycle.Persist:
		return true, nil
	case lifecycle.Launch:
		return r.createLaunch(ctx, app, prepared, seen)
	case lifecycle.Release:
		return true, r.release(ctx, app, seen, false)
	case lifecycle.ForceRelease:
		return true, r.release(ctx, app, seen, true)
	default:
		return false, fmt.Errorf("unknown effect %q", decision.Effect)
	}
}

// recordWithProgress is the record with what the sink has taken since it was written.
func (r *Reconciler) recordWithProgress(app dialect.Application) *v1alpha1.Record {
	if app.GetRecord() == nil {
		return nil
	}
	return delivery.CatchUp(app.GetRecord(), r.relay.Progress(app.GetUID()))
}

// publish hands the persisted record to the relay, with what awaits a handler.
func (r *Reconciler) publish(ctx context.Context, app dialect.Application, decision lifecycle.Decision) {
	snapshot := events.Snapshot{Object: r.objectOf(app), Record: app.GetRecord(), Span: trace.SpanContextFromContext(ctx)}
	var err error
	switch decision.Awaits {
	case lifecycle.AwaitsVerdict:
		snapshot.Request = &events.PendingRequest{Handler: string(decision.Awaits)}
		snapshot.Request.Event, err = events.NewTransitionEvent(snapshot.Object, *outbox.LastEnd(app.GetRecord()))
	case lifecycle.AwaitsDeletion:
		snapshot.Request = &events.PendingRequest{Handler: string(decision.Awaits)}
		snapshot.Request.Event, err = events.NewExpiredEvent(snapshot.Object, decision.AwaitsSince)
	}
	if err != nil {
		logging.FromContext(ctx).Errorw("An event cannot be made, so its handler is not asked", zap.Error(err))
		snapshot.Request = nil
	}
	r.relay.Publish(snapshot)
}

// requeueAt has the application looked at when its next deadline is due, or its cursor, or when the event of its driver is
// late.
func (r *Reconciler) requeueAt(app dialect.Application, decision lifecycle.Decision) {
	due := decision.LookAgain
	record := app.GetRecord()
	if record != nil {
		if rests := delivery.CursorDueAt(record, r.relay.Progress(app.GetUID())); due.IsZero() || !rests.IsZero() && rests.Before(due) {
			due = rests
		}
	}
	if late := r.podEventLateAt(app); due.IsZero() || !late.IsZero() && late.Before(due) {
		due = late
	}
	if !due.IsZero() {
		r.deadlines.set(keyOf(app), due.Sub(r.clock.Now()))
	}
}

// dialect is the API's with the settings of this reconcile.
func (r *Reconciler) dialect(ctx context.Context) dialect.Dialect {
	return r.api.Dialect(config.FromContext(ctx))
}

func (r *Reconciler) objectOf(app dialect.Application) events.Object {
	return events.Object{
		Group: r.api.Group, Resource: r.api.Resource, Kind: r.api.Kind,
		Namespace: app.GetNamespace(), Name: app.GetName(), UID: app.GetUID(),
	}
}
