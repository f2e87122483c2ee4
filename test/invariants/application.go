package invariants

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/invariants/clientview"
)

// Application is the history of one application.
type Application struct {
	UID types.UID
	// Object is the application as events name it.
	Object events.Object
	// Labels are the application's.
	Labels map[string]string

	record *v1alpha1.Record
	// retains reports whether the resources are retained after the end without a time limit.
	retains bool
	// shown is the last revision of an application of the Kubeflow kind.
	shown *v1beta2.SparkApplication
	steps map[int64]*step
	// seen is the last resource version that was seen.
	seen string
	// gone is the revision at which the object was gone.
	gone string
	// slipped reports whether the API server removed the object although it had the finalizer: it does not see one that is added after it has begun
	// to delete an object without finalizers. Firesteel then cannot do anything before the object is gone.
	slipped bool
	// deleted is when the deletion was requested; zero if it was not.
	deleted       time.Time
	deletionGrace time.Duration
	// released is the revision at which it was ResourceReleased; empty if it is not.
	released string
	// outcome is the application's true end.
	outcome string
	drivers Drivers
	// recorded are the UIDs of the drivers that were ever in the record.
	recorded map[types.UID]bool
	// archived is how much of each attempt is archived, as the last record with a word about it says.
	archived map[int64]lifecycle.Archived

	// taken is the last transition that the sink acknowledged.
	taken int64
	// undone are the digests of events whose transitions a restore of the API server undid. lost reports whether the restore
	// undid the application.
	undone map[[sha256.Size]byte]bool
	// withEarlier is that of the history.
	withEarlier bool
	lost        bool
	// takenAgain are the events among them that the sink has taken since the restore, by sequence: the same transition may be
	// persisted again, as the first one of a launch whose fence is in the backup.
	takenAgain map[int64][sha256.Size]byte
	violations []error
}

// step is one transition, as it was persisted and as the sink received it.
type step struct {
	transition *v1alpha1.Transition
	// delivered is the event until it is compared with the transition, and digest identifies it.
	delivered string
	digest    [sha256.Size]byte
	received  bool
}

// check stores a violation unless the invariant holds.
func (a *Application) check(invariant error) {
	if invariant != nil {
		a.violations = append(a.violations, fmt.Errorf("%s (%s): %w", a.Object.Key(), a.UID, invariant))
	}
}

// Ended reports whether nothing more happens to the application until it is deleted or edited.
func (a *Application) Ended() bool {
	switch lifecycle.CurrentState(a.record) {
	case lifecycle.ResourceReleased:
		return true
	case lifecycle.TerminatedWithoutReleaseResources:
		return a.retains
	default:
		return false
	}
}

// Outcome is the application's true end; empty before.
func (a *Application) Outcome() string { return a.outcome }

// Gone reports whether the object no longer exists.
func (a *Application) Gone() bool { return a.gone != "" || a.lost }

// Transitions are all transitions that were ever persisted, in order.
func (a *Application) Transitions() []v1alpha1.Transition {
	var all []v1alpha1.Transition
	for _, sequence := range slices.Sorted(maps.Keys(a.steps)) {
		if t := a.steps[sequence].transition; t != nil {
			all = append(all, *t)
		}
	}
	return all
}

// Ends are the states in which its attempts ended.
func (a *Application) Ends() []string {
	var ends []string
	for _, t := range a.Transitions() {
		if t.End != nil {
			ends = append(ends, t.State)
		}
	}
	return ends
}

// Archived is how much of its attempts is archived, as the record says, by their numbers. Attempts of which it says nothing are left out.
func (a *Application) Archived() map[int64]lifecycle.Archived { return a.archived }

// Drivers counts the driver Pods that the application ever had, by their names.
func (a *Application) Drivers() map[string]int { return a.drivers.Count() }

func (a *Application) saw(what watch.EventType, app dialect.Application, permitted bool) {
	api, policy := APIOf(app), PolicyOf(app)
	a.seen = app.GetResourceVersion()
	a.Object = events.Object{
		Group: api.Group, Resource: api.Resource, Kind: api.Kind,
		Namespace: app.GetNamespace(), Name: app.GetName(), UID: app.GetUID(),
	}
	a.Labels, a.retains = app.GetLabels(), policy.RetainFor < 0
	record := app.GetRecord()
	a.check(RecordNotLost(a.record, record))
	if record != nil {
		a.sawRecord(record)
	}
	a.sawRelease(app.GetResourceVersion())
	if app, ok := app.(*v1beta2.SparkApplication); ok && record != nil {
		for _, wrong := range clientview.Wrong(a.shown, app) {
			a.check(errors.New(wrong))
		}
		a.shown = app.DeepCopy()
	}
	if at := app.GetDeletionTimestamp(); at != nil && a.deleted.IsZero() {
		a.deleted = at.Time
		a.check(DeletionDue(app, *at, permitted))
	}
	if what == watch.Deleted {
		a.gone = app.GetResourceVersion()
		a.slipped = app.GetDeletionTimestamp() == nil && slices.Contains(app.GetFinalizers(), api.Finalizer)
		a.checkDrivers()
	}
}

// sawRelease stores the first revision in which the application is ResourceReleased.
func (a *Application) sawRelease(revision string) {
	switch {
	case lifecycle.CurrentState(a.record) != lifecycle.ResourceReleased:
		a.released = ""
	case a.released == "":
		a.released = revision
		a.checkDrivers()
	}
}

// checkDrivers checks the drivers that have ended.
func (a *Application) checkDrivers() {
	for uid, d := range a.drivers.pods {
		a.checkDriver(uid, d)
	}
}

// checkDriver checks when a driver ended. A driver that the late request of a dead controller made afterwards has no owner, and
// is garbage-collected. The release is that of the recorded driver: two controllers that overlap may create another one for a launch that one
// of them records as refused. That one is deleted before the object is gone.
func (a *Application) checkDriver(uid types.UID, d *driver) {
	if d.to == "" || a.slipped || a.mayLeave(d) {
		return
	}
	if a.gone != "" && later(a.gone, d.from) {
		a.check(NoDriverAfterObject(d.name, d.to, a.gone))
	}
	if a.released != "" && a.recorded[uid] && later(a.released, d.from) {
		a.check(NoDriverAfterRelease(d.name, d.to, a.released))
	}
}

// mayLeave reports whether a deletion may have left a driver Pod terminating: its node is lost, and the deletion has waited for
// the Pod as long as it may.
func (a *Application) mayLeave(d *driver) bool {
	if a.deleted.IsZero() || d.stopping.IsZero() || lifecycle.CurrentState(a.record) != lifecycle.ResourceReleased {
		return false
	}
	since := a.deleted
	if d.stopping.After(since) {
		since = d.stopping
	}
	return !outbox.Current(a.record).Time.Time.Before(since.Add(a.deletionGrace))
}

func (a *Application) sawRecord(record *v1alpha1.Record) {
	a.check(RecordMovesForward(a.record, record))
	a.record = record.DeepCopy()
	if record.Launch != nil && record.Launch.DriverUID != "" {
		if a.recorded == nil {
			a.recorded = map[types.UID]bool{}
		}
		a.recorded[record.Launch.DriverUID] = true
	}
	if record.Launch != nil && record.Launch.Archived != "" {
		if a.archived == nil {
			a.archived = map[int64]lifecycle.Archived{}
		}
		a.archived[record.Attempt.ID] = lifecycle.Archived(record.Launch.Archived)
	}
	for _, t := range record.Transitions {
		t.DriverStatus = nil
		if a.withEarlier {
			t.UIAddress, t.Usage = "", nil
		}
		a.sawTransition(t)
	}
	for sequence := int64(1); sequence <= record.Sequence; sequence++ {
		s := a.stepOf(sequence)
		a.check(TransitionPersisted(sequence, record.Sequence, s.transition != nil))
		if s.transition == nil {
			s.transition = &v1alpha1.Transition{Sequence: sequence}
		}
	}
}

func (a *Application) sawTransition(t v1alpha1.Transition) {
	s := a.stepOf(t.Sequence)
	if s.transition != nil {
		a.check(TransitionUnchanged(*s.transition, t))
		return
	}
	s.transition = t.DeepCopy()
	a.sawPersisted(t)
	a.checkEvent(s)
	a.settle(t)
	if last := a.stepOf(t.Sequence - 1).transition; last != nil {
		a.check(LegalTransition(*last, t))
	}
}

// settle stores the outcome that a transition brings.
func (a *Application) settle(t v1alpha1.Transition) {
	if t.State == string(lifecycle.Invalidating) {
		a.outcome = "" // the application runs again, and has another end
	}
	a.check(OneOutcome(a.outcome, t))
	a.outcome = cmp.Or(a.outcome, t.Outcome)
}

func (a *Application) stepOf(sequence int64) *step {
	if a.steps[sequence] == nil {
		a.steps[sequence] = &step{}
	}
	return a.steps[sequence]
}

func (a *Application) sawPod(what watch.EventType, pod *corev1.Pod) {
	a.check(a.drivers.Saw(what, pod))
	a.checkDriver(pod.UID, a.drivers.pods[pod.UID])
}

func (a *Application) received(entry eventlog.Entry) {
	sequence := entry.Sequence()
	if sequence == 0 {
		return // a clock event: its handler checks it
	}
	digest := sha256.Sum256([]byte(entry.Bytes()))
	if a.undone[digest] {
		if entry.Taken {
			a.takenAgain[sequence] = digest
		}
		return
	}
	s := a.stepOf(sequence)
	if s.received {
		a.check(SameBytes(s.digest == digest, entry))
	} else {
		s.received, s.digest, s.delivered = true, digest, entry.Bytes()
		a.checkEvent(s)
	}
	if !entry.Taken || sequence <= a.taken {
		return
	}
	for a.taken+1 < sequence && a.takenAgain[a.taken+1] != [sha256.Size]byte{} {
		a.taken++ // sawPersisted checks that it is the event of the transition that has this number now
	}
	a.check(InOrder(a.taken, sequence))
	a.taken = sequence
}

// sawPersisted records that a transition is persisted after a restore. Its event may be that of a transition that was undone.
func (a *Application) sawPersisted(t v1alpha1.Transition) {
	again, taken := a.takenAgain[t.Sequence]
	event, err := eventOf(a.Object, t)
	if err != nil || len(a.undone) == 0 {
		return // checkEvent reports the error
	}
	digest := sha256.Sum256([]byte(event))
	delete(a.undone, digest)
	switch {
	case taken && again == digest:
		a.taken = max(a.taken, t.Sequence)
	case taken && t.Sequence <= a.taken:
		a.check(InOrder(t.Sequence-1, t.Sequence+1)) // its successor was taken, and it was not
	case taken:
		delete(a.takenAgain, t.Sequence)
	}
}

// checkEvent compares an event with its transition when both are known.
func (a *Application) checkEvent(s *step) {
	if s.transition == nil || s.delivered == "" {
		return
	}
	a.check(EventOfTransition(s.delivered, a.Object, *s.transition))
	s.delivered = ""
}

// undelivered are the violations of [Delivered].
func (a *Application) undelivered() []error {
	if a.Lost() {
		return nil
	}
	var violations []error
	for _, t := range a.Transitions() {
		if err := Delivered(a.taken, t); err != nil {
			violations = append(violations, fmt.Errorf("%s (%s): %w", a.Object.Key(), a.UID, err))
		}
	}
	return violations
}

// unpersisted are the violations of [EventPersisted].
func (a *Application) unpersisted() []error {
	var violations []error
	for _, sequence := range slices.Sorted(maps.Keys(a.steps)) {
		s := a.steps[sequence]
		if err := EventPersisted(sequence, s.transition != nil || !s.received, s.delivered); err != nil {
			violations = append(violations, fmt.Errorf("%s: %w", a.UID, err))
		}
	}
	return violations
}
