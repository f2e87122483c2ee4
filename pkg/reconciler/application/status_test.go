package application

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

func TestStatusWorthWriting(t *testing.T) {
	running := func() *applicationtest.Application { return applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 1) }
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
			facts := dialect.Facts{Now: applicationtest.Start.Add(time.Hour)}
			if test.change != nil {
				test.change(after, record, &facts)
			}
			r := &Reconciler{
				clock: clocktesting.NewFakePassiveClock(applicationtest.Start.Add(test.after)), recordGuard: newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus),
			}
			if got := r.worthWriting(applicationtest.Viewed(after), record, facts); got != test.want {
				t.Errorf("worth writing: %t, want %t", got, test.want)
			}
		})
	}
}

func acknowledge(_ *sparkv1.SparkApplication, record *v1alpha1.Record, _ *dialect.Facts) {
	record.Acknowledged = 4
}

func TestStatusOfTheFirstRecordIsWorthWriting(t *testing.T) {
	r := &Reconciler{clock: clocktesting.NewFakePassiveClock(applicationtest.Start)}
	if !r.worthWriting(applicationtest.Viewed(applicationtest.Pi().Obj()), applicationtest.Pi().In(lifecycle.Submitted, 1, 1).Obj().Status.Firesteel, dialect.Facts{Now: applicationtest.Start}) {
		t.Error("an application gets no record")
	}
}

func TestPrunedApplicationsAreLeftAloneForAWhile(t *testing.T) {
	w := newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus)
	if wait := w.pruned.Wait(applicationtest.Pi().Obj().UID, applicationtest.Start); wait > 0 {
		t.Errorf("an application that was never pruned waits for %s", wait)
	}
	w.pruned.Note(applicationtest.Pi().Obj().UID, applicationtest.Start)
	for since, want := range map[time.Duration]time.Duration{0: blocked.PrunedRetryAfter, blocked.PrunedRetryAfter: 0, blocked.PrunedRetryAfter / 2: blocked.PrunedRetryAfter / 2} {
		if wait := w.pruned.Wait(applicationtest.Pi().Obj().UID, applicationtest.Start.Add(since)); wait != want {
			t.Errorf("%s after it was pruned, an application waits for %s, want %s", since, wait, want)
		}
	}
	if wait := w.pruned.Wait("another", applicationtest.Start); wait > 0 {
		t.Errorf("another of the same name waits for %s", wait)
	}
	w.forget(applicationtest.Pi().Obj())
	if wait := w.pruned.Wait(applicationtest.Pi().Obj().UID, applicationtest.Start); wait > 0 {
		t.Errorf("an application that is gone waits for %s", wait)
	}
}

// A record that is dropped is remembered, with the instant at which another writer last wrote a status without it.
func TestLostRecordIsNoticed(t *testing.T) {
	record := func() *applicationtest.Application { return applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 4) }
	theirs := func(state string) *applicationtest.Application {
		a := applicationtest.Pi().Version("18")
		a.App.Status.CurrentState = &sparkv1.ApplicationState{CurrentStateSummary: state}
		return a
	}
	undecodable := applicationtest.Pi()
	undecodable.App.Undecodable = "spec.sparkConf"
	type update struct{ before, after *applicationtest.Application }
	for name, test := range map[string]struct {
		updates []update // one a second
		lost    bool
		at      time.Duration
	}{
		"a record that is there":          {updates: []update{{record(), record()}}},
		"one that never was":              {updates: []update{{applicationtest.Pi(), theirs("Submitted")}}},
		"one that is dropped":             {updates: []update{{record(), applicationtest.Pi()}}, lost: true},
		"another's status in its place":   {updates: []update{{record(), theirs("Failed")}}, lost: true},
		"another's second status":         {updates: []update{{record(), theirs("Failed")}, {theirs("Failed"), theirs("ResourceReleased")}}, lost: true, at: time.Second},
		"another's status that is as was": {updates: []update{{record(), theirs("Failed")}, {theirs("Failed"), theirs("Failed")}}, lost: true},
		"one that came back":              {updates: []update{{record(), applicationtest.Pi()}, {applicationtest.Pi(), record()}}},
		"what cannot be decoded":          {updates: []update{{record(), undecodable}}},
		"another of the same name":        {updates: []update{{record(), applicationtest.Pi().UID("another")}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus)
			for i, u := range test.updates {
				w.statusChanged(u.before.Obj(), u.after.Obj(), applicationtest.Start.Add(time.Duration(i)*time.Second))
			}
			loss := w.lostRecordOf(applicationtest.Pi().Obj())
			if lost := loss.Last != nil; lost != test.lost || lost && !loss.At.Equal(applicationtest.Start.Add(test.at)) {
				t.Errorf("lost: %t at %s", lost, loss.At)
			}
			if test.lost && loss.Last.GetRecord() == nil {
				t.Error("the record is not known")
			}
		})
	}
}

func TestLostRecordIsForgottenOnceItIsWritten(t *testing.T) {
	for name, forget := range map[string]func(*recordGuard){
		"written": func(w *recordGuard) { w.written(applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 4).Obj()) },
		"gone":    func(w *recordGuard) { w.forget(applicationtest.Pi().Obj()) },
		"as in an older backup": func(w *recordGuard) {
			if w.restored(applicationtest.Pi().Obj()); w.lossPending(applicationtest.Pi().Obj()) {
				t.Error("news of a loss is awaited")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus)
			w.statusChanged(applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 4).Obj(), applicationtest.Pi().Obj(), applicationtest.Start)
			w.pruned.Note(applicationtest.Pi().Obj().UID, applicationtest.Start)
			if loss := w.lostRecordOf(applicationtest.Pi().Obj()); loss.Last == nil || !loss.Pruned {
				t.Fatalf("loss is %+v", loss)
			}
			forget(w)
			if loss := w.lostRecordOf(applicationtest.Pi().Obj()); loss.Last != nil || loss.Pruned {
				t.Errorf("still known: %+v", loss)
			}
		})
	}
}

// The news of a write may be here before the write's answer, and with it that of a loss.
func TestLostRecordAfterAWriteIsNoticedOnceTheWriteIsStored(t *testing.T) {
	w := newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus)
	own := applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 4).Version("17")
	w.statusChanged(own.Obj(), applicationtest.Pi().Version("18").Obj(), applicationtest.Start)
	w.written(own.Obj())
	if w.lostRecordOf(applicationtest.Pi().Obj()).Last == nil || w.lossPending(applicationtest.Pi().Obj()) {
		t.Error("the loss is forgotten")
	}
	w.written(own.Version("19").Obj())
	if w.lostRecordOf(applicationtest.Pi().Obj()).Last != nil {
		t.Error("a loss that was made good is still known")
	}
}
