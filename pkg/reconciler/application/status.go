package application

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// persist writes the record and the status that is projected from it, with the resourceVersion that was read. It writes
// nothing if nothing changed, and writes the cursor alone only at rest. The view then has the stored application.
func (r *Reconciler) persist(
	ctx context.Context, v *view.Application, record *v1alpha1.Record, facts dialect.Facts,
) error {
	if !r.relay.HasSink() {
		record.Acknowledged = record.Sequence
	}
	if !r.worthWriting(v, record, facts) {
		return nil
	}
	if err := r.addFinalizer(ctx, v, record); err != nil {
		return err
	}
	r.countUsage(v, record)
	before := v.App
	if err := r.write(ctx, v, v.WithStatus(record, facts)); err != nil {
		return err
	}
	base.LogTransitions(ctx, before.GetRecord(), v.App.GetRecord())
	r.countTransitions(ctx, before, v.App)
	r.metrics.CountUsage(r.api.Group, v.App, before.GetRecord(), v.App.GetRecord(), config.FromContext(ctx).Events.UsageLabels)
	emitEvents(ctx, v.Dialect, before, v.App)
	emitObstacle(ctx, before, v.App, facts.Obstacle)
	emitDriverLeft(ctx, before, v.App)
	return nil
}

// write writes a status, and checks that the API server stored the record.
func (r *Reconciler) write(ctx context.Context, v *view.Application, desired dialect.Application) error {
	app := v.App
	stored, err := r.api.UpdateStatus(ctx, desired)
	refused := blocked.IsRefused(err, app.GetRecord() == nil)
	if err != nil && !refused {
		return fmt.Errorf("write status: %w", err)
	}
	if refused || blocked.IsPruned(desired.GetRecord(), stored.GetRecord()) {
		r.recordGuard.notStored()
		return r.recordGuard.pruned.Report(ctx, app, r.api.CustomResourceDefinition(), r.api.Manifest, r.clock.Now(), err)
	}
	r.recordGuard.written(stored)
	r.newApplications.statusWritten(app.GetUID())
	r.launcher.Recorded(app.GetUID())
	r.expectations.DriverReleased(app.GetRecord(), stored.GetRecord())
	v.App = stored
	logging.FromContext(ctx).Debugw("wrote status", append(v.LogKeys(), "resourceVersion", stored.GetResourceVersion())...)
	return nil
}

func (r *Reconciler) worthWriting(v *view.Application, record *v1alpha1.Record, facts dialect.Facts) bool {
	app := v.App
	return delivery.WorthWriting(app.GetRecord(), record, r.clock.Now(), func(unmoved *v1alpha1.Record) bool {
		desired := v.WithStatus(unmoved, facts)
		if v.Dialect.SameStatus(app, desired) {
			return false
		}
		return !equality.Semantic.DeepEqual(app.GetRecord(), unmoved) || !r.restoresLater(app, desired)
	})
}

// restoresLater reports whether a status write that only restores another writer's changes has to wait. Then the application
// is requeued.
func (r *Reconciler) restoresLater(app, desired dialect.Application) bool {
	wait := r.recordGuard.restorations.Wait(app, desired, r.clock.Now())
	if wait > 0 {
		r.enqueueAfter(app, wait)
	}
	return wait > 0
}

// countTransitions counts the transitions that were written.
func (r *Reconciler) countTransitions(ctx context.Context, before, after dialect.Application) {
	if r.onStatusWrite != nil {
		r.onStatusWrite(before, after)
	}
	var countedUntil int64
	if before.GetRecord() != nil {
		countedUntil = before.GetRecord().Sequence
	}
	record := after.GetRecord()
	if how := archivedNow(before.GetRecord(), record); how != "" {
		r.metrics.CountArchived(how)
	}
	r.metrics.CountTransitions(after.GetNamespace(), record, countedUntil)
	if record.Sequence == countedUntil {
		return
	}
	if after, known := r.podEventTimes.detectedAfter(ctx); known {
		r.metrics.RecordDetection(outbox.Current(record).State, after)
	}
}

// archivedNow returns how much of an attempt is archived, if a write recorded that.
func archivedNow(before, after *v1alpha1.Record) string {
	if after.Launch == nil || before != nil && before.Launch != nil && before.Launch.ID == after.Launch.ID && before.Launch.Archived == after.Launch.Archived {
		return ""
	}
	return after.Launch.Archived
}

// facts returns what the status shows besides the new record.
func (r *Reconciler) facts(v *view.Application, record *v1alpha1.Record, decision lifecycle.Decision) dialect.Facts {
	app, progress := v.App, v.Progress
	facts := dialect.Facts{
		Now: r.clock.Now(), Policy: v.Policy, Obstacle: decision.Obstacle, Held: decision.Held, HeldBy: decision.HeldBy,
		Warnings: append(r.redactors.Texts(app, v.Dialect.Warnings(app).Sentences()), r.launcher.UserWarnings(v, record)...),
	}
	if r.executorDetails != nil && record.Launch != nil && record.Launch.DriverUID != "" && r.executorsSynced() {
		before := app.GetRecord()
		moved := before == nil || before.Sequence != record.Sequence
		var again time.Duration
		if facts.Executors, again = r.executorDetails.Collect(app, record.Launch, record.Attempt.Since.Time, moved); again > 0 {
			r.enqueueAfter(app, again) // the work queue may have merged this delay with an earlier one
		}
	}
	if decision.Awaits != lifecycle.AwaitsNothing {
		facts.SilentHandler = progress.OverdueHandler
	}
	facts.Delivery = delivery.Of(app.GetRecord(), progress)
	if drivers.HasDriver(record) {
		facts.ChangedLabels = r.changedLabels(v, record.Launch)
	}
	return facts
}

// changedLabels explains how the labels and the owner of the launch's driver Pod were changed. It is nil if they were not
// changed, or if that is not known.
func (r *Reconciler) changedLabels(v *view.Application, launch *v1alpha1.Launch) *diagnosis.Explanation {
	app := v.App
	pod := r.drivers.Get(app.GetNamespace(), launch.DriverPod)
	if pod == nil || pod.UID != launch.DriverUID {
		pod = r.relabelledDrivers.LastSeen(kube.KeyOf(app), launch.DriverUID)
	}
	if pod == nil {
		return nil
	}
	return r.api.ChangedLabels(app, v.Dialect.DriverLabels(app), launch, pod)
}
