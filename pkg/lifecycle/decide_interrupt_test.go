package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// interrupts sets a policy of an API that interrupts. Its spec has the hash "new".
func interrupts(p *Policy) {
	p.Interrupts, p.HasUnknown, p.Spec = true, true, hashed("new")
}

// of sets the hash of the spec of the record's attempt.
func of(hash string) func(*v1alpha1.Record) {
	return func(r *v1alpha1.Record) { r.Attempt.Spec = noted(hash) }
}

// hashed is a spec with a hash.
func hashed(hash string) spec.Spec { return spec.Spec{Hash: func(int64) string { return hash }} }

func hashOf(s spec.Spec) string {
	if s.Hash == nil {
		return ""
	}
	return s.Hash(spec.HashVersion)
}

// noted is the record's entry for such a spec.
func noted(hash string) *v1alpha1.AttemptSpec {
	return &v1alpha1.AttemptSpec{Hash: hash, HashVersion: spec.HashVersion}
}

// ofSpec begins a history with the current spec.
func ofSpec() *recordBuilder { return submitted().With(of("new")) }

const (
	createdMessage     = "Spark application has been created on Kubernetes Cluster."
	suspendingMessage  = "The application is suspended: its driver is stopped."
	suspendedMessage   = "The application is suspended: nothing of it runs."
	resumedMessage     = "The application is resumed: it runs from its beginning."
	invalidatedMessage = "The spec was edited: what runs the old one is stopped."
	restartedMessage   = "The spec was edited: the application runs anew."
)

func TestDecideOnSuspension(t *testing.T) {
	held := plain(interrupts, suspended)
	success := ended(Succeeded, Cause{})
	runDecideCases(t, map[string]decideCase{
		"an application that is created suspended is not launched": {
			policy: held, now: start,
			news: []string{"1/0 Submitted: " + createdMessage, "2/0 Suspending: " + suspendingMessage, "3/0 Suspended: " + suspendedMessage},
			want: Decision{Held: HeldSuspended},
		},
		"an application with a refused spec is suspended as well": {
			policy: plain(interrupts, suspended, refused), now: start,
			news: []string{"1/0 Submitted: " + createdMessage, "2/0 Suspending: " + suspendingMessage, "3/0 Suspended: " + suspendedMessage},
			want: Decision{Held: HeldSuspended},
		},
		"a launch in progress is stopped": {
			record: ofSpec().Fenced().Obj(), policy: held, now: start,
			news: []string{"2/0 Suspending [pi-0-driver pi-0]: " + suspendingMessage},
			want: Decision{Effect: Release},
		},
		"a driver that was just created is stopped": {
			record: ofSpec().Fenced().Obj(), policy: held, now: start, seen: Observation{Launched: driverUID},
			news:   []string{"2/0 Suspending [pi-0-driver pi-0]: " + suspendingMessage},
			want:   Decision{Effect: Release},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID},
		},
		"a driver that runs is stopped": {
			record: ofSpec().Running().Obj(), policy: held, now: start, seen: Observation{Driver: readyDriver},
			news: []string{"6/0 Suspending [pi-0-driver pi-0]: " + suspendingMessage},
			want: Decision{Effect: Release},
		},
		"a driver in state Unknown is stopped": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: held, now: start, seen: Observation{Driver: &Driver{Unknown: true}},
			news: []string{"7/0 Suspending [pi-0-driver pi-0]: " + suspendingMessage},
			want: Decision{Effect: Release},
		},
		"a driver that has ended keeps its end": {
			record: ofSpec().Running().Obj(), policy: plain(interrupts, suspended, retains(RetainAlways, -1)), now: start,
			seen: Observation{Driver: success},
			news: []string{
				"6/0 Succeeded [pi-0-driver pi-0] | ended Succeeded",
				"7/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: " + keptMessage + " | final Succeeded",
			},
		},
		"a restart is decided, then suspended": {
			record: ofSpec().Running().EndedRestartable(Failed).Verdict(true, at(time.Hour), "").Obj(), now: start,
			policy: plain(interrupts, suspended, restarts(RestartAlways)), seen: Observation{DriverGone: true},
			news: []string{
				"7/1 ScheduledToRestart", "8/1 Suspending: " + suspendingMessage, "9/1 Suspended: " + suspendedMessage,
			},
			want: Decision{Held: HeldSuspended},
		},
		"an end goes on waiting for its verdict": {
			record: ofSpec().Running().EndedRestartable(Failed).Obj(), now: start,
			policy: plain(interrupts, suspended, restarts(RestartAlways)),
			want:   Decision{Awaits: AwaitsVerdict},
		},
		"an application that has ended is not suspended": {
			record: ofSpec().Running().Ended(Failed).Retained().Obj(), policy: plain(interrupts, suspended, retains(RetainAlways, -1)), now: start,
		},
		"a suspension waits for the driver to be gone": {
			record: ofSpec().Running().In(Suspending).Obj(), policy: held, now: at(time.Minute),
			seen: Observation{Driver: terminating(start)},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(8 * time.Minute)},
		},
		"a suspension waits for an orphan driver to be gone": {
			record: ofSpec().In(Suspending).Obj(), policy: held, now: at(time.Minute), seen: Observation{HasOrphan: true},
			want: Decision{Held: HeldDriverTerminating},
		},
		"an application is suspended once its driver is gone": {
			record: ofSpec().Running().In(Suspending).Obj(), policy: held, now: at(time.Minute), seen: Observation{DriverGone: true},
			news: []string{"7/0 Suspended [pi-0-driver pi-0]: " + suspendedMessage},
			want: Decision{Held: HeldSuspended},
		},
		"a suspension that is taken back still completes": {
			record: ofSpec().Running().In(Suspending).Obj(), policy: plain(interrupts), now: start, seen: Observation{Driver: readyDriver},
			want: Decision{Effect: Release},
		},
		"an application that is resumed runs from its beginning": {
			record: ofSpec().Running().In(Suspending).With(released).In(Suspended).Obj(), policy: plain(interrupts), now: at(time.Hour),
			news: []string{"8/1 Resuming: " + resumedMessage},
			want: Decision{Effect: Launch},
		},
		"a resumption does not wait for the back-off of the restart that was suspended": {
			record: ofSpec().Running().EndedRestartable(Failed).Verdict(true, at(time.Hour), "").Restarting().With(of("new")).In(Suspended).Obj(),
			policy: plain(interrupts), now: start,
			news: []string{"9/2 Resuming: " + resumedMessage},
			want: Decision{Effect: Launch},
		},
		"an application that is resumed is suspended again": {
			record: ofSpec().In(Suspended).In(Resuming).Obj(), policy: held, now: start,
			news: []string{"4/0 Suspending: " + suspendingMessage, "5/0 Suspended: " + suspendedMessage},
			want: Decision{Held: HeldSuspended},
		},
		"a resumed driver is requested": {
			record: ofSpec().In(Suspended).In(Resuming).Fenced().Obj(), policy: plain(interrupts), now: start,
			seen: Observation{Launched: driverUID},
			news: []string{"4/0 DriverRequested [pi-0-driver pi-0]: Requested driver from resource scheduler."},
			want: Decision{RequeueAt: at(5 * time.Minute)},
		},
		"an application that is deleted while it is suspended ends": {
			record: ofSpec().Running().With(released).In(Suspended).Obj(), policy: held, now: start, seen: Observation{Deleted: start},
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0]: " + deletedMessage + " | final Deleted"},
		},
		"an API that does not interrupt ignores the states of a suspension": {
			record: ofSpec().In(Suspended).Obj(), policy: plain(suspended), now: start,
			want: Decision{Held: HeldNotUnderstood},
		},
	})
}

// released is a launch whose driver is gone.
func released(r *v1alpha1.Record) { r.Launch.Released = true }

func TestDecideOnAnEdit(t *testing.T) {
	edited := plain(interrupts)
	old := func() *recordBuilder { return submitted().With(of("old")) }
	runDecideCases(t, map[string]decideCase{
		"an attempt that waits for its launch is replaced": {
			record: old().Obj(), policy: edited, now: start,
			news: []string{"2/0 Invalidating: " + invalidatedMessage, "3/1 ScheduledToRestart: " + restartedMessage},
			want: Decision{Effect: Launch},
		},
		"a launch in progress is stopped": {
			record: old().Fenced().Obj(), policy: edited, now: start,
			news: []string{"2/0 Invalidating [pi-0-driver pi-0]: " + invalidatedMessage},
			want: Decision{Effect: Release},
		},
		"a driver that runs is stopped": {
			record: old().Running().Obj(), policy: edited, now: start, seen: Observation{Driver: readyDriver},
			news: []string{"6/0 Invalidating [pi-0-driver pi-0]: " + invalidatedMessage},
			want: Decision{Effect: Release},
		},
		"a driver that runs is stopped if an earlier version recorded its spec": {
			record: submitted().Running().With(func(r *v1alpha1.Record) { r.Launch.SpecHash = "old" }).Obj(), policy: edited, now: start,
			seen: Observation{Driver: readyDriver},
			news: []string{"6/0 Invalidating [pi-0-driver pi-0]: " + invalidatedMessage},
			want: Decision{Effect: Release},
		},
		"the next attempt begins when the driver is gone": {
			record: old().Running().In(Invalidating).Obj(), policy: edited, now: start, seen: Observation{DriverGone: true},
			news: []string{"7/1 ScheduledToRestart: " + restartedMessage},
			want: Decision{Effect: Launch},
		},
		"an edit that is taken back still completes": {
			record: ofSpec().Running().In(Invalidating).Obj(), policy: edited, now: start, seen: Observation{Driver: readyDriver},
			want: Decision{Effect: Release},
		},
		"an ended attempt does not wait for its verdict": {
			record: old().Running().EndedRestartable(Failed).Obj(), policy: edited, now: start, seen: Observation{DriverGone: true},
			news: []string{"7/0 Invalidating [pi-0-driver pi-0]: " + invalidatedMessage, "8/1 ScheduledToRestart: " + restartedMessage},
			want: Decision{Effect: Launch},
		},
		"a back-off ends with the edit": {
			record: old().Running().EndedRestartable(Failed).Verdict(true, at(time.Hour), "").Obj(), policy: edited, now: start,
			seen: Observation{DriverGone: true},
			news: []string{"7/0 Invalidating [pi-0-driver pi-0]: " + invalidatedMessage, "8/1 ScheduledToRestart: " + restartedMessage},
			want: Decision{Effect: Launch},
		},
		"an application that ended runs again once its driver is gone": {
			record: old().Running().Ended(Succeeded).Retained().Obj(), policy: edited, now: start,
			news: []string{"8/0 Invalidating [pi-0-driver pi-0]: " + invalidatedMessage},
			want: Decision{Effect: Release},
		},
		"an application that ended and was released runs again": {
			record: old().Running().Ended(Succeeded).Released().Obj(), policy: edited, now: start,
			news: []string{"8/0 Invalidating [pi-0-driver pi-0]: " + invalidatedMessage, "9/1 ScheduledToRestart: " + restartedMessage},
			want: Decision{Effect: Launch},
		},
		"an application that could never run is tried again": {
			record: old().Ended(Failed).Released().Obj(), policy: edited, now: start,
			news: []string{"4/0 Invalidating: " + invalidatedMessage, "5/1 ScheduledToRestart: " + restartedMessage},
			want: Decision{Effect: Launch},
		},
		"a suspended application is suspended again": {
			record: old().In(Suspended).Obj(), policy: plain(interrupts, suspended), now: start,
			news: []string{
				"3/0 Invalidating: " + invalidatedMessage, "4/1 ScheduledToRestart: " + restartedMessage,
				"5/1 Suspending: " + suspendingMessage, "6/1 Suspended: " + suspendedMessage,
			},
			want: Decision{Held: HeldSuspended},
		},
		"an edit of a deleted application does nothing": {
			record: old().Running().Ended(Succeeded).Released().Obj(), policy: edited, now: start, seen: Observation{Deleted: start},
		},
		"a deletion goes before the new run": {
			record: old().Running().Ended(Succeeded).Retained().In(Invalidating).Obj(), policy: edited, now: start,
			seen: Observation{Deleted: start, DriverGone: true},
			news: []string{"9/0 ResourceReleased [pi-0-driver pi-0]: " + deletedMessage + " | final Deleted"},
		},
		"an attempt without a recorded spec gets the current one": {
			record: submitted().Running().Obj(), policy: edited, now: start, seen: Observation{Driver: readyDriver},
			changed: true,
		},
		"an application that ended without a recorded spec does not run again": {
			record: submitted().Running().Ended(Succeeded).Retained().Obj(), policy: plain(interrupts, retains(RetainAlways, -1)), now: start,
			changed: true,
		},
		"an edit does nothing if the API does not interrupt": {
			record: old().Running().Obj(), policy: plain(func(p *Policy) { p.Spec = hashed("new") }), now: start,
			seen: Observation{Driver: readyDriver},
		},
	})
}

func TestAnEditCountsFromTheBeginning(t *testing.T) {
	record := submitted().With(func(r *v1alpha1.Record) {
		r.Attempt = v1alpha1.Attempt{
			ID: 4, Restarts: 4, FailureRestarts: 3, SchedulingFailureRestarts: 2, Executions: 4, Spec: noted("old"),
		}
	}).Running().In(Invalidating).Obj()
	got, _ := Decide(record, plain(interrupts), Observation{DriverGone: true}, at(time.Minute))
	want := v1alpha1.Attempt{ID: 5, Since: metav1.NewMicroTime(at(time.Minute)), Spec: noted("new")}
	if diff := cmp.Diff(want, got.Attempt); diff != "" {
		t.Errorf("attempt (-want +got):\n%s", diff)
	}
}

// If the spec has another generation and this version cannot make its hash, it is unknown whether the spec was
// edited.
func TestASpecWithAnUnknownHashIsAdopted(t *testing.T) {
	now := spec.Spec{Generation: 2, Hash: func(version int64) string {
		return map[int64]string{spec.HashVersion: "now", spec.HashVersionJSON: "json"}[version]
	}}
	for name, test := range map[string]struct {
		noted   v1alpha1.Attempt
		adopted bool
		edited  bool
	}{
		"another version":                         {noted: v1alpha1.Attempt{Spec: &v1alpha1.AttemptSpec{Hash: "was", HashVersion: 99, Generation: 1}}, adopted: true},
		"another version of this generation":      {noted: v1alpha1.Attempt{Spec: &v1alpha1.AttemptSpec{Hash: "was", HashVersion: 99, Generation: 2}}},
		"the version before":                      {noted: v1alpha1.Attempt{Spec: &v1alpha1.AttemptSpec{Hash: "json", HashVersion: 1, Generation: 1}}},
		"the version before, edited":              {noted: v1alpha1.Attempt{Spec: &v1alpha1.AttemptSpec{Hash: "was", HashVersion: 1, Generation: 1}}, edited: true},
		"an earlier record":                       {noted: v1alpha1.Attempt{SpecHash: "json"}},
		"an earlier record, edited":               {noted: v1alpha1.Attempt{SpecHash: "was"}, edited: true},
		"this version":                            {noted: v1alpha1.Attempt{Spec: &v1alpha1.AttemptSpec{Hash: "now", HashVersion: spec.HashVersion, Generation: 1}}},
		"this version, edited":                    {noted: v1alpha1.Attempt{Spec: &v1alpha1.AttemptSpec{Hash: "was", HashVersion: spec.HashVersion, Generation: 1}}, edited: true},
		"this version, of a newer apimachinery's": {noted: v1alpha1.Attempt{Spec: &v1alpha1.AttemptSpec{Hash: "was", HashVersion: spec.HashVersion, Generation: 2}}},
	} {
		for state, record := range map[string]*recordBuilder{
			"running": submitted().With(func(r *v1alpha1.Record) { r.Attempt = test.noted }).Running(),
			"ended":   submitted().With(func(r *v1alpha1.Record) { r.Attempt = test.noted }).Running().Ended(Succeeded).Released(),
		} {
			policy := plain(interrupts)
			policy.Spec = now
			got, decision := Decide(record.Obj(), policy, Observation{Driver: readyDriver}, start)
			if restarted := CurrentState(got) == Invalidating || got.Attempt.ID > 0; restarted != test.edited || decision.SpecAdopted != test.adopted {
				t.Errorf("%s, %s: %s, adopted %t", name, state, CurrentState(got), decision.SpecAdopted)
			}
			if noted := got.Attempt.Spec; !test.edited && (noted.HashVersion != spec.HashVersion || noted.Generation != 2) {
				t.Errorf("%s, %s: noted is %+v", name, state, noted)
			}
		}
	}
}

func TestResumeContinuesTheCountOfAttempts(t *testing.T) {
	record := submitted().With(func(r *v1alpha1.Record) {
		r.Attempt = v1alpha1.Attempt{ID: 4, Restarts: 4, FailureRestarts: 3, Executions: 4, Spec: noted("new")}
	}).Running().With(released).In(Suspended).Obj()
	got, _ := Decide(record, plain(interrupts), Observation{}, at(time.Minute))
	want := v1alpha1.Attempt{
		ID: 5, Since: metav1.NewMicroTime(at(time.Minute)), Restarts: 4, FailureRestarts: 3, Executions: 5, Spec: noted("new"),
	}
	if diff := cmp.Diff(want, got.Attempt); diff != "" {
		t.Errorf("attempt (-want +got):\n%s", diff)
	}
}

// With a sink that takes nothing, suspending and resuming or editing an application for ever must not make its record
// grow without bound.
func TestInterruptionsWaitForTheSink(t *testing.T) {
	for name, toggle := range map[string]func(*Policy){
		"suspensions": func(p *Policy) { p.Suspend = !p.Suspend },
		"edits":       func(p *Policy) { p.Spec = hashed(hashOf(p.Spec) + "'") },
	} {
		t.Run(name, func(t *testing.T) {
			policy := plain(interrupts)
			record, decision := Decide(nil, policy, Observation{}, start)
			for n := 0; decision.Held != HeldEventsUndelivered; n++ {
				if n > 1000 {
					t.Fatal("it goes on for ever")
				}
				toggle(&policy)
				record, decision = Decide(record, policy, Observation{DriverGone: true}, start)
			}
			if got := size(t, record); got > maxRecord {
				t.Errorf("the record takes %d bytes", got)
			}
			record.Acknowledged = record.Sequence
			if _, decision = Decide(record, policy, Observation{}, start); decision.Effect != Launch {
				t.Errorf("with room again, the decision is %+v", decision)
			}
		})
	}
}

// An application that is suspended while its launch waits for room begins to wait anew once it is resumed.
func TestASuspensionEndsTheWaitForRoom(t *testing.T) {
	waits := submitted().With(func(record *v1alpha1.Record) { record.Quota = &v1alpha1.QuotaClaim{} }).Obj()
	if got, decision := Decide(waits, plain(), Observation{}, start); got.Quota == nil || decision.Effect != Launch {
		t.Errorf("one that waits has the claim %v, and the decision is %+v", got.Quota, decision)
	}
	if got, decision := Decide(waits, plain(suspended), Observation{}, start); got.Quota != nil || decision.Held != HeldSuspended {
		t.Errorf("a suspended one has the claim %v, and the decision is %+v", got.Quota, decision)
	}
}
