package application

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// persist writes the record, and what is projected from it, with the resourceVersion that was read. It writes
// nothing where nothing is new, and a cursor alone only at rest. It returns the object as written.
func (r *Reconciler) persist(
	ctx context.Context, d dialect.Dialect, app dialect.Application, record *v1alpha1.Record, facts dialect.Facts,
) (dialect.Application, error) {
	if !r.relay.HasSink() {
		record.Acknowledged = record.Sequence
	}
	if !r.worthWriting(d, app, record, facts) {
		return app, nil
	}
	stored, err := r.write(ctx, app, withStatus(d, app, record, facts))
	if err != nil {
		return app, err
	}
	r.countTransitions(ctx, app, stored)
	emitEvents(ctx, d, app, stored)
	emitObstacle(ctx, app, stored, facts.Obstacle)
	emitDriverLeft(ctx, app, stored)
	return stored, nil
}

// write writes a status, and checks that the record was kept.
func (r *Reconciler) write(ctx context.Context, app, desired dialect.Application) (dialect.Application, error) {
	stored, err := r.api.UpdateStatus(ctx, desired)
	refused := blocked.IsRefused(err, app.GetRecord() == nil)
	if err != nil && !refused {
		return nil, fmt.Errorf("write status: %w", err)
	}
	if refused || blocked.IsPruned(desired.GetRecord(), stored.GetRecord()) {
		return nil, r.recordGuard.pruned.Report(ctx, app, r.api.CustomResourceDefinition(), r.api.Manifest, r.clock.Now(), err)
	}
	r.recordGuard.written(stored)
	r.expectations.statusWritten(app.GetUID())
	r.expectations.driverReleased(app.GetRecord(), stored.GetRecord())
	return stored, nil
}

// withStatus is an application with the status that a record stands for.
func withStatus(d dialect.Dialect, app dialect.Application, record *v1alpha1.Record, facts dialect.Facts) dialect.Application {
	desired := dialect.Copy(app)
	d.Project(desired, record, facts)
	return desired
}

func (r *Reconciler) worthWriting(d dialect.Dialect, app dialect.Application, record *v1alpha1.Record, facts dialect.Facts) bool {
	return delivery.WorthWriting(app.GetRecord(), record, r.clock.Now(), func(unmoved *v1alpha1.Record) bool {
		desired := withStatus(d, app, unmoved, facts)
		if equality.Semantic.DeepEqual(app, desired) {
			return false
		}
		return !equality.Semantic.DeepEqual(app.GetRecord(), unmoved) || !r.restoresLater(app, desired)
	})
}

// restoresLater reports whether a status is not written yet that only restores what another writer has changed. Then the
// application is requeued.
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
	r.instruments.countTransitions(record, countedUntil)
	if record.Sequence == countedUntil {
		return
	}
	if after, known := r.podEventTimes.detectedAfter(ctx); known {
		r.instruments.recordDetection(outbox.Current(record).State, after)
	}
}

// handlerOverdueAfter is how long a handler may be asked before a condition names it.
const handlerOverdueAfter = 2 * time.Minute

// facts are what is said of an application beside its new record. created are the objects of the launch, where they were
// just made.
func (r *Reconciler) facts(
	d dialect.Dialect, app dialect.Application, record *v1alpha1.Record, decision lifecycle.Decision, created []submission.Object,
) dialect.Facts {
	facts := dialect.Facts{
		Now: r.clock.Now(), Policy: d.Policy(app), Obstacle: decision.Obstacle, Held: decision.Held, HeldBy: decision.HeldBy, Created: created,
		Warnings: r.redactTexts(app, d.Warnings(app)),
	}
	if r.executorDetails != nil && record.Launch != nil && record.Launch.DriverUID != "" && r.executorsSynced() {
		before := app.GetRecord()
		moved := before == nil || before.Sequence != record.Sequence
		var again time.Duration
		if facts.Executors, again = r.executorDetails.collect(app, record.Launch, record.Attempt.Since.Time, moved); again > 0 {
			r.enqueueAfter(app, again) // the work queue merged the look that the news asked for with an earlier one
		}
	}
	progress := r.relay.Progress(app.GetUID())
	if decision.Awaits != lifecycle.AwaitsNothing && !progress.RequestedAt.IsZero() &&
		r.clock.Since(progress.RequestedAt) >= handlerOverdueAfter {
		facts.SilentHandler = progress.OverdueHandler
	}
	facts.Delivery = delivery.Of(app.GetRecord(), progress)
	if hasDriver(record) {
		facts.ChangedLabels = r.changedLabels(d, app, record.Launch)
	}
	return facts
}

// changedLabels says how the labels and the owner of the launch's driver Pod were changed; empty if they were not, or if
// that is not known.
func (r *Reconciler) changedLabels(d dialect.Dialect, app dialect.Application, launch *v1alpha1.Launch) string {
	pod := r.drivers.get(app.GetNamespace(), launch.DriverPod)
	if pod == nil || pod.UID != launch.DriverUID {
		pod = r.relabelledDrivers.lastSeen(keyOf(app), launch.DriverUID)
	}
	if pod == nil {
		return ""
	}
	return r.api.ChangedLabels(app, d.DriverLabels(app), launch, pod)
}
