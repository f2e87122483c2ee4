package sparkapplication

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
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
	desired := app.DeepCopy()
	apache.Project(&desired.Status, record)
	apache.Conclude(desired, record, facts)
	if !r.worthWriting(app, desired) {
		return app, nil
	}
	stored, err := r.spark.SparkV1().SparkApplications(app.Namespace).UpdateStatus(ctx, desired, metav1.UpdateOptions{})
	if err != nil {
		return app, fmt.Errorf("write status: %w", err)
	}
	if stored.Status.Firesteel == nil {
		r.written.sawPruned(app, r.clock.Now())
		logging.FromContext(ctx).Errorw("Application is not launched", "reason", errPruned.Error())
		controller.GetEventRecorder(ctx).Event(app, corev1.EventTypeWarning, "WrongCustomResourceDefinition", errPruned.Error())
		return app, controller.NewRequeueAfter(prunedRetry)
	}
	r.written.remember(stored)
	announce(ctx, app, stored)
	announceObstacle(ctx, app, stored, facts.Waiting)
	return stored, nil
}

func (r *Reconciler) worthWriting(app, desired *sparkv1.SparkApplication) bool {
	before, after := app.Status.Firesteel, desired.Status.Firesteel
	if before == nil || before.Sequence != after.Sequence {
		return true
	}
	rested := r.clock.Since(lifecycle.Current(after).Time.Time) >= restAfter
	if rested && before.Acknowledged != after.Acknowledged {
		return true
	}
	unmoved := desired.Status
	unmoved.Firesteel = after.DeepCopy()
	unmoved.Firesteel.Acknowledged = before.Acknowledged
	unmoved.Firesteel.Transitions = before.Transitions // acknowledged ones may have been dropped
	unmoved.StateTransitionHistory, unmoved.PreviousAttemptSummary =
		app.Status.StateTransitionHistory, app.Status.PreviousAttemptSummary
	return !equality.Semantic.DeepEqual(app.Status, unmoved)
}

// announce makes Kubernetes Events of the transitions that people look for.
func announce(ctx context.Context, before, after *sparkv1.SparkApplication) {
	var told int64
	if before.Status.Firesteel != nil {
		told = before.Status.Firesteel.Sequence
	}
	recorder := controller.GetEventRecorder(ctx)
	for _, transition := range after.Status.Firesteel.Transitions {
		state := lifecycle.State(transition.State)
		switch {
		case transition.Sequence <= told:
		case state.Failure():
			recorder.Event(after, corev1.EventTypeWarning, transition.State, transition.Message)
		case state == lifecycle.DriverRequested:
			recorder.Eventf(after, corev1.EventTypeNormal, transition.State, "Created driver Pod %s.", transition.DriverPod)
		case state == lifecycle.Succeeded, state == lifecycle.ScheduledToRestart:
			recorder.Eventf(after, corev1.EventTypeNormal, transition.State, "Attempt %d: %s", transition.Attempt, transition.Message)
		}
	}
}

// announceObstacle makes a Kubernetes Event of what keeps a driver from starting, when it becomes known. That no node
// has room is left to the scheduler's own.
func announceObstacle(ctx context.Context, before, after *sparkv1.SparkApplication, obstacle *lifecycle.Cause) {
	if obstacle == nil || obstacle.Class == lifecycle.ClassScheduling {
		return
	}
	shown := func(app *sparkv1.SparkApplication) bool {
		condition := meta.FindStatusCondition(app.Status.Conditions, apache.ConditionSucceeded)
		return condition != nil && condition.Reason == obstacle.Reason
	}
	if shown(after) && !shown(before) {
		controller.GetEventRecorder(ctx).Event(after, corev1.EventTypeWarning, obstacle.Reason, obstacle.Message)
	}
}

// silentAfter is how long a handler may be asked before a condition names it.
const silentAfter = 2 * time.Minute

func (r *Reconciler) facts(
	app *sparkv1.SparkApplication, seen lifecycle.Observation, decision lifecycle.Decision,
) apache.Facts {
	facts := apache.Facts{Now: r.clock.Now(), Held: decision.Held, Warnings: apache.Neglected(app)}
	if edited(app) {
		facts.Warnings = append(facts.Warnings, "The spec was edited after the launch: the next attempt runs with the edit, if there is one.")
	}
	if seen.Driver != nil {
		facts.Waiting = seen.Driver.Waiting
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
	return err == nil && hash != record.Launch.SpecHash
}

// reportUndecodable says on the object what is wrong with it, once per generation. The status that Firesteel may
// have written before is left alone, since it could not be read.
func (r *Reconciler) reportUndecodable(ctx context.Context, app *sparkv1.SparkApplication) error {
	if app.DeletionTimestamp != nil || !r.written.firstReport(app) {
		return nil
	}
	logging.FromContext(ctx).Warnw("Application cannot be decoded", "error", app.Undecodable)
	controller.GetEventRecorder(ctx).Event(app, corev1.EventTypeWarning, "Undecodable", app.Undecodable)
	patch, err := apache.UndecodablePatch(app, r.clock.Now())
	if err != nil {
		return err
	}
	_, err = r.spark.SparkV1().SparkApplications(app.Namespace).
		Patch(ctx, app.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		r.written.unreport(app)
		return fmt.Errorf("report that the application cannot be decoded: %w", err)
	}
	return nil
}

// written remembers the applications as Firesteel last wrote them, until the cache has them too, so that no
// decision is made on what Firesteel itself has made old.
type written struct {
	mutex    sync.Mutex
	newer    map[types.NamespacedName]*sparkv1.SparkApplication
	reported map[types.UID]int64
	pruned   map[types.UID]time.Time
}

func newWritten() *written {
	return &written{
		newer:    map[types.NamespacedName]*sparkv1.SparkApplication{},
		reported: map[types.UID]int64{},
		pruned:   map[types.UID]time.Time{},
	}
}

func (w *written) remember(app *sparkv1.SparkApplication) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.newer[keyOf(app)] = app
}

// newest is the newer of the cache's object and the last written one.
func (w *written) newest(cached *sparkv1.SparkApplication) *sparkv1.SparkApplication {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	own, known := w.newer[keyOf(cached)]
	if !known {
		return cached
	}
	if order, err := resourceversion.CompareResourceVersion(own.ResourceVersion, cached.ResourceVersion); err != nil ||
		order <= 0 || own.UID != cached.UID {
		delete(w.newer, keyOf(cached))
		return cached
	}
	return own.DeepCopy()
}

func (w *written) forget(app *sparkv1.SparkApplication) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.newer, keyOf(app))
	delete(w.reported, app.UID)
	delete(w.pruned, app.UID)
}

func (w *written) sawPruned(app *sparkv1.SparkApplication, now time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.pruned[app.UID] = now
}

// prunedFor is how long to leave an application alone whose record was dropped. Each try changes the object.
func (w *written) prunedFor(app *sparkv1.SparkApplication, now time.Time) time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	at, pruned := w.pruned[app.UID]
	if !pruned {
		return 0
	}
	return at.Add(prunedRetry).Sub(now)
}

func (w *written) firstReport(app *sparkv1.SparkApplication) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if generation, reported := w.reported[app.UID]; reported && generation == app.Generation {
		return false
	}
	w.reported[app.UID] = app.Generation
	return true
}

func (w *written) unreport(app *sparkv1.SparkApplication) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.reported, app.UID)
}

func keyOf(app *sparkv1.SparkApplication) types.NamespacedName {
	return types.NamespacedName{Namespace: app.Namespace, Name: app.Name}
}
