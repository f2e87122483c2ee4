package sparkapplication

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// errPruned says that the API server dropped the record from a status: its CRD is another operator's. Nothing is
// launched then, since nothing would remember it.
var errPruned = errors.New("the API server dropped status.firesteel: " +
	"the CustomResourceDefinition sparkapplications.spark.apache.org is another operator's; apply config/300-sparkapplication.yaml")

// prunedRetry is when an application with a pruned record is tried again.
const prunedRetry = time.Minute

// persist writes the record, and what is projected from it, with the resourceVersion that was read. It writes
// nothing where nothing is new, and a cursor alone only at rest. It returns the object as written.
func (r *Reconciler) persist(
	ctx context.Context, app *sparkv1.SparkApplication, record *v1alpha1.Record, facts apache.Facts,
) (*sparkv1.SparkApplication, error) {
	if !r.relay.HasSink() {
		record.Acknowledged = record.Sequence
	}
	if !r.worthWriting(app, record, facts) {
		return app, nil
	}
	stored, err := r.write(ctx, app, concluded(app, record, facts))
	if err != nil {
		return app, err
	}
	r.measure(ctx, app, stored)
	announce(ctx, app, stored)
	announceObstacle(ctx, app, stored, facts.Obstacle)
	return stored, nil
}

// write writes a status, and checks that the record was kept.
func (r *Reconciler) write(ctx context.Context, app, desired *sparkv1.SparkApplication) (*sparkv1.SparkApplication, error) {
	stored, err := r.spark.SparkV1().SparkApplications(app.Namespace).UpdateStatus(ctx, desired, metav1.UpdateOptions{})
	if err != nil {
		return nil, fmt.Errorf("write status: %w", err)
	}
	if stored.Status.Firesteel == nil {
		r.written.sawPruned(app, r.clock.Now())
		logging.FromContext(ctx).Errorw("Application is not launched", "reason", errPruned.Error())
		controller.GetEventRecorder(ctx).Event(app, corev1.EventTypeWarning, "WrongCustomResourceDefinition", errPruned.Error())
		return nil, controller.NewRequeueAfter(prunedRetry)
	}
	r.written.remember(stored)
	r.sightings.sawBeginning(app.UID)
	return stored, nil
}

// concluded is an application with the status that a record stands for.
func concluded(app *sparkv1.SparkApplication, record *v1alpha1.Record, facts apache.Facts) *sparkv1.SparkApplication {
	desired := app.DeepCopy()
	apache.Project(&desired.Status, record)
	apache.Conclude(desired, record, facts)
	return desired
}

func (r *Reconciler) worthWriting(app *sparkv1.SparkApplication, record *v1alpha1.Record, facts apache.Facts) bool {
	before := app.Status.Firesteel
	if before == nil || before.Sequence != record.Sequence {
		return true
	}
	rested := r.clock.Since(lifecycle.Current(record).Time.Time) >= restAfter
	if rested && before.Acknowledged != record.Acknowledged {
		return true
	}
	unmoved := record.DeepCopy()
	unmoved.Acknowledged = before.Acknowledged
	unmoved.Transitions = before.Transitions // acknowledged ones may have been dropped
	return !equality.Semantic.DeepEqual(app.Status, concluded(app, unmoved, facts).Status)
}

// measure counts the transitions that were written.
func (r *Reconciler) measure(ctx context.Context, before, after *sparkv1.SparkApplication) {
	var told int64
	if before.Status.Firesteel != nil {
		told = before.Status.Firesteel.Sequence
	}
	record := after.Status.Firesteel
	r.instruments.moved(record, told)
	if record.Sequence == told {
		return
	}
	if after, known := r.arrivals.told(ctx); known {
		r.instruments.detected(lifecycle.Current(record).State, after)
	}
}

// silentAfter is how long a handler may be asked before a condition names it.
const silentAfter = 2 * time.Minute

func (r *Reconciler) facts(app *sparkv1.SparkApplication, defaults apache.Defaults, decision lifecycle.Decision) apache.Facts {
	facts := apache.Facts{
		Now: r.clock.Now(), Policy: apache.Policy(app, defaults), Obstacle: decision.Obstacle, Held: decision.Held,
		Warnings: append(apache.Neglected(app), apache.Contradictions(app, defaults)...),
	}
	if edited(app) {
		facts.Warnings = append(facts.Warnings, "The spec was edited after the launch: only another attempt runs with the edit. "+
			"Delete the application and apply it again where none is to come.")
	}
	if record := app.Status.Firesteel; app.Spec.Suspend && record != nil && record.Launch != nil && !record.Launch.Released {
		facts.Warnings = append(facts.Warnings, "spec.suspend does nothing to the attempt that runs: it holds the next one.")
	}
	progress := r.relay.Progress(app.UID)
	if decision.Awaits != lifecycle.AwaitsNothing && !progress.AwaitedSince.IsZero() &&
		r.clock.Since(progress.AwaitedSince) >= silentAfter {
		facts.SilentHandler = progress.Awaits
	}
	return facts
}

// edited says that the current attempt runs with another spec than the application now has.
func edited(app *sparkv1.SparkApplication) bool {
	record := app.Status.Firesteel
	if app.Generation <= 1 || record == nil || record.Launch == nil {
		return false
	}
	hash, err := apache.SpecHash(app)
	return err == nil && hash != lifecycle.SpecHash(record)
}
