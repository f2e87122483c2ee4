package application

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// application builds a SparkApplication as it is stored.
type application struct{ app sparkv1.SparkApplication }

func pi() *application {
	a := &application{}
	a.app.Namespace, a.app.Name, a.app.UID, a.app.ResourceVersion, a.app.Generation = "team-a", "pi", "uid-of-pi", "17", 1
	a.app.Spec.RuntimeVersions.SparkVersion = "4.1.4"
	return a
}

// named is pi under another name.
func named(name string) *application {
	a := pi()
	a.app.Name, a.app.UID = name, types.UID("uid-of-"+name)
	return a
}

func clockAt(now time.Time) *clocktesting.FakePassiveClock {
	return clocktesting.NewFakePassiveClock(now)
}

func (a *application) Version(resourceVersion string) *application {
	a.app.ResourceVersion = resourceVersion
	return a
}

func (a *application) UID(uid types.UID) *application {
	a.app.UID = uid
	return a
}

// In has a record whose last of some transitions began a state at the start.
func (a *application) In(state lifecycle.State, sequence, acknowledged int64) *application {
	record := &v1alpha1.Record{Sequence: sequence, Acknowledged: acknowledged}
	for n := int64(1); n <= sequence; n++ {
		record.Transitions = append(record.Transitions, v1alpha1.Transition{
			Sequence: n, Time: metav1.NewMicroTime(start), State: string(lifecycle.DriverRequested),
		})
	}
	record.Transitions[sequence-1].State = string(state)
	apache.Project(&a.app.Status, record)
	apache.SetConditions(&a.app, record, dialect.Facts{Now: start})
	return a
}

func (a *application) Obj() *sparkv1.SparkApplication { return a.app.DeepCopy() }

func TestWorthWriting(t *testing.T) {
	running := func() *application { return pi().In(lifecycle.RunningHealthy, 4, 1) }
	for name, test := range map[string]struct {
		change func(app *sparkv1.SparkApplication, record *v1alpha1.Record, facts *dialect.Facts)
		after  time.Duration // since the last transition
		want   bool
	}{
		"nothing": {after: time.Hour, want: false},
		"a transition": {
			change: func(_ *sparkv1.SparkApplication, record *v1alpha1.Record, _ *dialect.Facts) {
				record.Sequence++
				record.Transitions = append(record.Transitions, v1alpha1.Transition{Sequence: record.Sequence, State: "Succeeded"})
			},
			want: true,
		},
		"a cursor before the application is at rest": {
			change: acknowledge, after: delivery.CursorDelay - 1, want: false,
		},
		"a cursor at rest": {
			change: acknowledge, after: delivery.CursorDelay, want: true,
		},
		"acknowledged transitions that were dropped, with the cursor, before rest": {
			change: func(_ *sparkv1.SparkApplication, record *v1alpha1.Record, _ *dialect.Facts) {
				record.Acknowledged, record.Transitions = 4, record.Transitions[2:]
			},
			want: false,
		},
		"the same transitions dropped, and nothing else": {
			change: func(_ *sparkv1.SparkApplication, record *v1alpha1.Record, _ *dialect.Facts) {
				record.Transitions = record.Transitions[2:]
			},
			after: time.Hour, want: false,
		},
		"a launch": {
			change: func(_ *sparkv1.SparkApplication, record *v1alpha1.Record, _ *dialect.Facts) {
				record.Launch = &v1alpha1.Launch{ID: "this"}
			},
			want: true,
		},
		"a warning": {
			change: func(_ *sparkv1.SparkApplication, _ *v1alpha1.Record, facts *dialect.Facts) {
				facts.Warnings = []string{"This is dropped."}
			},
			want: true,
		},
		"an edit that is observed": {
			change: func(app *sparkv1.SparkApplication, _ *v1alpha1.Record, _ *dialect.Facts) { app.Generation++ },
			want:   true,
		},
		"refused events": {
			change: func(_ *sparkv1.SparkApplication, record *v1alpha1.Record, _ *dialect.Facts) { record.Rejected++ },
			want:   true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			after := running().Obj()
			record := after.Status.Firesteel.DeepCopy()
			facts := dialect.Facts{Now: start.Add(time.Hour)}
			if test.change != nil {
				test.change(after, record, &facts)
			}
			r := &Reconciler{
				clock: clocktesting.NewFakePassiveClock(start.Add(test.after)), recordGuard: newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus),
			}
			if got := r.worthWriting(viewed(after), record, facts); got != test.want {
				t.Errorf("worth writing: %t, want %t", got, test.want)
			}
		})
	}
}

func acknowledge(_ *sparkv1.SparkApplication, record *v1alpha1.Record, _ *dialect.Facts) {
	record.Acknowledged = 4
}

func TestTheFirstRecordIsWorthWriting(t *testing.T) {
	r := &Reconciler{clock: clocktesting.NewFakePassiveClock(start)}
	if !r.worthWriting(viewed(pi().Obj()), pi().In(lifecycle.Submitted, 1, 1).Obj().Status.Firesteel, dialect.Facts{Now: start}) {
		t.Error("an application gets no record")
	}
}

func TestPrunedApplicationsAreLeftAloneForAWhile(t *testing.T) {
	w := newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus)
	if wait := w.pruned.Wait(pi().Obj().UID, start); wait > 0 {
		t.Errorf("an application that was never pruned waits for %s", wait)
	}
	w.pruned.Note(pi().Obj().UID, start)
	for since, want := range map[time.Duration]time.Duration{0: blocked.PrunedRetryAfter, blocked.PrunedRetryAfter: 0, blocked.PrunedRetryAfter / 2: blocked.PrunedRetryAfter / 2} {
		if wait := w.pruned.Wait(pi().Obj().UID, start.Add(since)); wait != want {
			t.Errorf("%s after it was pruned, an application waits for %s, want %s", since, wait, want)
		}
	}
	if wait := w.pruned.Wait("another", start); wait > 0 {
		t.Errorf("another of the same name waits for %s", wait)
	}
	w.forget(pi().Obj())
	if wait := w.pruned.Wait(pi().Obj().UID, start); wait > 0 {
		t.Errorf("an application that is gone waits for %s", wait)
	}
}

// A record that is dropped is remembered, with the instant at which somebody last wrote a status without it.
func TestLossesAreSeen(t *testing.T) {
	record := func() *application { return pi().In(lifecycle.RunningHealthy, 4, 4) }
	theirs := func(state string) *application {
		a := pi().Version("18")
		a.app.Status.CurrentState = &sparkv1.ApplicationState{CurrentStateSummary: state}
		return a
	}
	undecodable := pi()
	undecodable.app.Undecodable = "spec.sparkConf"
	type update struct{ before, after *application }
	for name, test := range map[string]struct {
		updates []update // one a second
		lost    bool
		at      time.Duration
	}{
		"a record that is there":          {updates: []update{{record(), record()}}},
		"one that never was":              {updates: []update{{pi(), theirs("Submitted")}}},
		"one that is dropped":             {updates: []update{{record(), pi()}}, lost: true},
		"another's status in its place":   {updates: []update{{record(), theirs("Failed")}}, lost: true},
		"another's second status":         {updates: []update{{record(), theirs("Failed")}, {theirs("Failed"), theirs("ResourceReleased")}}, lost: true, at: time.Second},
		"another's status that is as was": {updates: []update{{record(), theirs("Failed")}, {theirs("Failed"), theirs("Failed")}}, lost: true},
		"one that came back":              {updates: []update{{record(), pi()}, {pi(), record()}}},
		"what cannot be decoded":          {updates: []update{{record(), undecodable}}},
		"another of the same name":        {updates: []update{{record(), pi().UID("another")}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus)
			for i, u := range test.updates {
				w.statusChanged(u.before.Obj(), u.after.Obj(), start.Add(time.Duration(i)*time.Second))
			}
			loss := w.lostRecordOf(pi().Obj())
			if lost := loss.last != nil; lost != test.lost || lost && !loss.at.Equal(start.Add(test.at)) {
				t.Errorf("lost: %t at %s", lost, loss.at)
			}
			if test.lost && loss.last.GetRecord() == nil {
				t.Error("the record is not known")
			}
		})
	}
}

func TestWhatWasLostIsForgottenOnceItIsWritten(t *testing.T) {
	for name, forget := range map[string]func(*recordGuard){
		"written": func(w *recordGuard) { w.written(pi().In(lifecycle.RunningHealthy, 4, 4).Obj()) },
		"gone":    func(w *recordGuard) { w.forget(pi().Obj()) },
		"as in an older backup": func(w *recordGuard) {
			if w.restored(pi().Obj()); w.lossPending(pi().Obj()) {
				t.Error("news of a loss is awaited")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus)
			w.statusChanged(pi().In(lifecycle.RunningHealthy, 4, 4).Obj(), pi().Obj(), start)
			w.pruned.Note(pi().Obj().UID, start)
			if loss := w.lostRecordOf(pi().Obj()); loss.last == nil || !loss.pruned {
				t.Fatalf("loss is %+v", loss)
			}
			forget(w)
			if loss := w.lostRecordOf(pi().Obj()); loss.last != nil || loss.pruned {
				t.Errorf("still known: %+v", loss)
			}
		})
	}
}

// The news of a write may be here before the write's answer, and with it that of a loss.
func TestALossThatCameAfterAWriteIsKnownOnceTheWriteIsRemembered(t *testing.T) {
	w := newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus)
	own := pi().In(lifecycle.RunningHealthy, 4, 4).Version("17")
	w.statusChanged(own.Obj(), pi().Version("18").Obj(), start)
	w.written(own.Obj())
	if w.lostRecordOf(pi().Obj()).last == nil || w.lossPending(pi().Obj()) {
		t.Error("the loss is forgotten")
	}
	w.written(own.Version("19").Obj())
	if w.lostRecordOf(pi().Obj()).last != nil {
		t.Error("a loss that was made good is still known")
	}
}

func TestNewcomers(t *testing.T) {
	s := newExpectations(apache.API, clocktesting.NewFakePassiveClock(start))
	s.applicationAdded(pi().Obj(), true)
	s.applicationAdded(with(pi().UID("cared for"), func(app *sparkv1.SparkApplication) { app.Finalizers = []string{apache.API.Finalizer} }), true)
	s.applicationAdded(with(pi().UID("held"), func(app *sparkv1.SparkApplication) { app.Finalizers = []string{"example.org/held"} }), true)
	for uid, want := range map[types.UID]bool{"uid-of-pi": true, "cared for": false, "held": true, "unseen": false} {
		if got := s.isNew(uid); got != want {
			t.Errorf("%s is a newcomer: %t", uid, got)
		}
	}
	s.statusWritten("uid-of-pi")
	if s.isNew("uid-of-pi") {
		t.Error("what was begun is still new")
	}
}

// Where an operator sets no finalizer, it may have begun with whatever was there before Firesteel.
func TestNewcomersOfAnAPIWithoutFinalizer(t *testing.T) {
	s := newExpectations(&dialect.API{Finalizer: "firesteel.dev/driver"}, clockAt(start))
	s.applicationAdded(pi().UID("there before").Obj(), true)
	s.applicationAdded(pi().UID("came since").Obj(), false)
	for uid, want := range map[types.UID]bool{"there before": false, "came since": true} {
		if got := s.isNew(uid); got != want {
			t.Errorf("%s is a newcomer: %t", uid, got)
		}
	}
}

func TestADriverIsReleasedOnceAnotherAttemptFollows(t *testing.T) {
	of := func(attempt int64, launch *v1alpha1.Launch) *v1alpha1.Record {
		return &v1alpha1.Record{Attempt: v1alpha1.Attempt{ID: attempt}, Launch: launch}
	}
	launched := &v1alpha1.Launch{DriverUID: "driver"}
	for name, test := range map[string]struct {
		before, after *v1alpha1.Record
		want          bool
	}{
		"a first record":           {nil, of(0, launched), false},
		"the same attempt":         {of(1, launched), of(1, launched), false},
		"the next attempt":         {of(1, launched), of(2, nil), true},
		"one that had not started": {of(1, nil), of(2, nil), false},
		"one without a driver":     {of(1, &v1alpha1.Launch{ID: "fenced"}), of(2, nil), false},
	} {
		s := newExpectations(apache.API, clockAt(start))
		s.driverReleased(test.before, test.after)
		if got := s.released("driver"); got != test.want || s.released("") {
			t.Errorf("%s: the driver is released: %t", name, got)
		}
	}
}

// It may be back, as the application is, from an older backup of the API server.
func TestNothingIsKnownOfADriverThatIsForgotten(t *testing.T) {
	s := newExpectations(apache.API, clockAt(start))
	before := &v1alpha1.Record{Launch: &v1alpha1.Launch{ID: "this", DriverUID: "driver"}}
	s.podDeleted(driverOf("this", "driver").Gone().Obj(), false)
	s.podCreated("driver")
	s.driverReleased(before, &v1alpha1.Record{Attempt: v1alpha1.Attempt{ID: 1}})
	s.forgetDriver(nil)
	if _, gone := s.deleted("driver"); !gone || !s.released("driver") {
		t.Error("it was forgotten too early")
	}
	s.forgetDriver(before)
	if _, gone := s.deleted("driver"); gone || s.released("driver") || s.justCreated("driver") {
		t.Error("it is known still")
	}
}

func TestSightings(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(start)
	s := newExpectations(apache.API, clock)
	if _, gone := s.deleted("driver"); gone || s.justCreated("created") {
		t.Error("something was seen that was not")
	}
	pod := driverOf("this", "driver").Gone().Obj()
	s.podDeleted(pod, false)
	s.podCreated("created")
	if last, gone := s.deleted("driver"); !gone || last != pod {
		t.Errorf("the deleted Pod is %v, %t", last, gone)
	}
	if _, gone := s.deleted("another"); gone {
		t.Error("another Pod is gone")
	}
	for since, want := range map[time.Duration]bool{0: true, base.EventDelay - time.Nanosecond: true, base.EventDelay: false} {
		clock.SetTime(start.Add(since))
		if created := s.justCreated("created"); created != want {
			t.Errorf("after %s: just created %t, want %t", since, created, want)
		}
	}
}
