package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

const (
	healthy       = "RunningHealthy [pi-0-driver pi-0]: Application is running healthy."
	partial       = "RunningWithPartialCapacity [pi-0-driver pi-0]: Application is running with executor count between minimum and maximum capacity, exclusive."
	belowMinimum  = "RunningWithBelowThresholdExecutors [pi-0-driver pi-0]: The Spark application is running with less than minimal number of requested executors."
	belowInitial  = "InitializedBelowThresholdExecutors [pi-0-driver pi-0]: The application is running with less than minimal number of requested initial executors."
	executorsLate = "ExecutorsStartTimedOut [pi-0-driver pi-0]: " + slowExecutors
)

func TestDecideOnExecutors(t *testing.T) {
	driverIsReady := submitted().Requested().In(DriverStarted).In(DriverReady)
	initialized := submitted().Requested().In(DriverStarted).In(DriverReady).After(time.Minute).In(InitializedBelowThresholdExecutors)
	in := func(state State) *recordBuilder {
		return submitted().Requested().In(DriverStarted).In(DriverReady).In(state)
	}
	dynamic := func(p *Policy) { p.Executors.Dynamic = true }
	with := func(ready int) Observation { return Observation{Driver: readyDriver, ReadyExecutors: ready} }
	runDecideCases(t, map[string]decideCase{
		// ---- while it starts ----
		"without initial executors it is healthy at once, whatever else is asked for": {
			record: driverIsReady.Obj(), policy: plain(executors(0, 3, 3)), seen: with(0), now: start,
			news: []string{"5/0 " + healthy},
		},
		"without executors it stays DriverReady, until the timeout": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 1, 4)), seen: with(0), now: at(time.Minute),
			want: Decision{RequeueAt: at(7 * time.Minute)},
		},
		"with some executors it is initialized, and the timeout starts again": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 1, 4)), seen: with(1), now: at(time.Minute),
			news: []string{"5/0 " + belowInitial},
			want: Decision{RequeueAt: at(8 * time.Minute)},
		},
		"with the initial number it runs with partial capacity": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 1, 4)), seen: with(2), now: start,
			news: []string{"5/0 " + partial},
		},
		"with all of them it is healthy": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 1, 4)), seen: with(4), now: start,
			news: []string{"5/0 " + healthy},
		},
		"with more than all of them it is healthy": {
			record: initialized.Obj(), policy: plain(executors(2, 1, 4)), seen: with(9), now: at(time.Minute),
			news: []string{"6/0 " + healthy},
		},
		"it is initialized only once": {
			record: initialized.Obj(), policy: plain(executors(3, 1, 4)), seen: with(2), now: at(2 * time.Minute),
			want: Decision{RequeueAt: at(8 * time.Minute)},
		},
		"it stays initialized if its executors disappear": {
			record: initialized.Obj(), policy: plain(executors(3, 1, 4)), seen: with(0), now: at(2 * time.Minute),
			want: Decision{RequeueAt: at(8 * time.Minute)},
		},
		"with dynamic allocation there is no partial capacity": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 1, 4), dynamic), seen: with(2), now: start,
			news: []string{"5/0 " + healthy},
		},
		"without a maximum there is no partial capacity": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 1, 0)), seen: with(2), now: start,
			news: []string{"5/0 " + healthy},
		},
		"without a minimum it goes through partial capacity, as in the Apache operator": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 0, 4)), seen: with(2), now: start,
			news: []string{"5/0 " + partial, "6/0 " + healthy},
		},
		"below the minimum it goes through healthy, as in the Apache operator": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 3, 0)), seen: with(2), now: start,
			news: []string{"5/0 " + healthy, "6/0 " + belowMinimum},
		},
		"a driver that is first seen ready with its executors goes through all states": {
			record: submitted().Requested().Obj(), policy: plain(executors(2, 1, 4)), seen: with(3), now: start,
			news: []string{
				"3/0 DriverStarted [pi-0-driver pi-0]: Driver has started running.",
				"4/0 DriverReady [pi-0-driver pi-0]: Driver has reached ready state.",
				"5/0 " + partial,
			},
		},

		// ---- when they time out ----
		"no executors in time end the attempt": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 1, 4)), seen: with(0), now: at(7 * time.Minute),
			news: []string{"5/0 " + executorsLate + " 0 of 2 were ready. | ended Failed, timeout, ExecutorsStartTimedOut"},
			want: Decision{Effect: Release},
		},
		"too few executors in time, counted from the first, end the attempt": {
			record: initialized.Obj(), policy: plain(executors(2, 1, 4)), seen: with(1), now: at(8 * time.Minute),
			news: []string{"6/0 " + executorsLate + " 1 of 2 were ready. | ended Failed, timeout, ExecutorsStartTimedOut"},
			want: Decision{Effect: Release},
		},
		"executors that are seen after the timeout, before the decision, are enough": {
			record: initialized.Obj(), policy: plain(executors(2, 1, 2)), seen: with(2), now: at(time.Hour),
			news: []string{"6/0 " + healthy},
		},
		"an application that runs, with no room in the record, does not time out": {
			record: driverIsReady.With(func(r *v1alpha1.Record) { r.Sequence = 80 }).Obj(),
			policy: plain(executors(2, 1, 2)), seen: with(2), now: at(time.Hour), changed: true,
		},

		// ---- while it runs ----
		"a loss of executors is recorded": {
			record: in(RunningHealthy).Obj(), policy: plain(executors(4, 2, 4)), seen: with(3), now: start,
			news: []string{"6/0 " + partial},
		},
		"a loss below the minimum is recorded": {
			record: in(RunningWithPartialCapacity).Obj(), policy: plain(executors(4, 2, 4)), seen: with(1), now: start,
			news: []string{"6/0 " + belowMinimum},
		},
		"an application that lost all of them has no timeout": {
			record: in(RunningWithBelowThresholdExecutors).Obj(), policy: plain(executors(4, 2, 4)), seen: with(0), now: at(1e6 * time.Hour),
		},
		"a return of some is recorded": {
			record: in(RunningWithBelowThresholdExecutors).Obj(), policy: plain(executors(4, 2, 4)), seen: with(2), now: start,
			news: []string{"6/0 " + partial},
		},
		"a return of all is recorded": {
			record: in(RunningWithBelowThresholdExecutors).Obj(), policy: plain(executors(4, 2, 4)), seen: with(4), now: start,
			news: []string{"6/0 " + healthy},
		},
		"an unchanged state is not recorded again": {
			record: in(RunningWithPartialCapacity).Obj(), policy: plain(executors(4, 2, 4)), seen: with(3), now: at(time.Hour),
		},
		"without a minimum, losing all leaves it healthy": {
			record: in(RunningHealthy).Obj(), policy: plain(executors(4, 0, 4)), seen: with(0), now: start,
		},
		"a spec that no longer asks for executors leaves it healthy": {
			record: in(RunningWithBelowThresholdExecutors).Obj(), policy: plain(), seen: with(0), now: start,
			news: []string{"6/0 " + healthy},
		},
		"a spec that asks for more takes effect": {
			record: in(RunningHealthy).Obj(), policy: plain(executors(1, 5, 5)), seen: with(3), now: start,
			news: []string{"6/0 " + belowMinimum},
		},
		"changes are not recorded if the sink is far behind": {
			record: in(RunningHealthy).With(func(r *v1alpha1.Record) {
				for i := range r.Transitions {
					r.Transitions[i].Message = strings.Repeat("x", 6<<10)
				}
			}).Obj(),
			policy: plain(executors(4, 2, 4)), seen: with(1), now: start,
		},
	})
}

// Once the executors were ready, losing them is no start timeout, even if no transition was written for it.
func TestLostExecutorsAreNoStartTimeout(t *testing.T) {
	wereReady := func(r *v1alpha1.Record) { r.Launch.ExecutorsReady = true }
	full := func(r *v1alpha1.Record) { r.Sequence = 80 }
	fromStart := func(p *Policy) { p.ExecutorsFromStart, p.Timeouts.DriverReady = true, 0 }
	started := submitted().Requested().In(DriverStarted).With(wereReady)
	ready := submitted().Requested().In(DriverStarted).In(DriverReady).With(wereReady)
	launch := func(wereReady bool) *v1alpha1.Launch {
		return &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID, ExecutorsReady: wereReady}
	}
	with := func(driver *Driver, ready int) Observation { return Observation{Driver: driver, ReadyExecutors: ready} }
	runDecideCases(t, map[string]decideCase{
		"it is written with the transition into running": {
			record: submitted().Requested().In(DriverStarted).In(DriverReady).Obj(), policy: plain(executors(2, 1, 2)), seen: with(readyDriver, 2), now: start,
			news: []string{"5/0 " + healthy}, launch: launch(true),
		},
		"too few are not enough": {
			record: submitted().Requested().In(DriverStarted).Obj(), policy: plain(executors(2, 0, 0), fromStart), seen: with(startedDriver, 1), now: start,
			want: Decision{RequeueAt: at(7 * time.Minute)}, launch: launch(false),
		},
		"it alone causes no write while the application runs": {
			record: submitted().Running().Obj(), policy: plain(executors(2, 1, 2)), seen: with(readyDriver, 2), now: start, launch: launch(false),
		},
		"a driver that is not ready loses one": {
			record: started.Obj(), policy: plain(executors(2, 0, 0), fromStart), seen: with(startedDriver, 1), now: at(3 * time.Hour),
		},
		"a driver that is not ready loses all": {
			record: started.Obj(), policy: plain(executors(2, 0, 0), fromStart), seen: with(startedDriver, 0), now: at(3 * time.Hour),
		},
		"a driver that is not ready ends as usual": {
			record: started.Obj(), policy: plain(executors(2, 0, 0), fromStart), seen: with(ended(Succeeded, Cause{}), 0), now: at(3 * time.Hour),
			news: []string{"4/0 Succeeded [pi-0-driver pi-0] | ended Succeeded"}, want: Decision{Effect: Release, ReleaseCanWait: true},
		},
		"a driver that becomes ready runs": {
			record: started.Obj(), policy: plain(executors(2, 0, 0), fromStart), seen: with(readyDriver, 1), now: at(3 * time.Hour),
			news: []string{"4/0 DriverReady [pi-0-driver pi-0]: Driver has reached ready state.", "5/0 " + healthy},
		},
		"a ready driver loses one, without room in the record": {
			record: ready.With(full).Obj(), policy: plain(executors(2, 2, 2)), seen: with(readyDriver, 1), now: at(3 * time.Hour),
		},
		"a ready driver loses all, without room in the record": {
			record: ready.With(full).Obj(), policy: plain(executors(2, 2, 2)), seen: with(readyDriver, 0), now: at(3 * time.Hour),
		},
		"too few are recorded when there is room again": {
			record: ready.With(func(r *v1alpha1.Record) { r.Sequence = 4 }).Obj(), policy: plain(executors(2, 2, 2)), seen: with(readyDriver, 0), now: at(3 * time.Hour),
			news: []string{"5/0 " + belowMinimum},
		},
		"without a minimum it is healthy when there is room again": {
			record: ready.With(func(r *v1alpha1.Record) { r.Sequence = 4 }).Obj(), policy: plain(executors(2, 0, 0)), seen: with(readyDriver, 0), now: at(3 * time.Hour),
			news: []string{"5/0 " + healthy},
		},
	})
}

// The next attempt waits for its own executors.
func TestEachAttemptWaitsForItsExecutors(t *testing.T) {
	policy := plain(executors(2, 0, 0), restarts(RestartAlways), func(p *Policy) {
		p.ExecutorsFromStart, p.Timeouts.DriverReady = true, 0
	})
	record := submitted().Requested().In(DriverStarted).With(func(r *v1alpha1.Record) { r.Launch.ExecutorsReady = true }).
		EndedRestartable(Failed).Verdict(true, start, "").Obj()
	record, _ = Decide(record, policy, Observation{DriverGone: true}, start)
	if CurrentState(record) != ScheduledToRestart || record.Launch != nil {
		t.Fatalf("it is %s, with the launch %+v", CurrentState(record), record.Launch)
	}
	record.Launch = &v1alpha1.Launch{ID: "launch-1", DriverPod: "pi-1-driver"}
	record, _ = Decide(record, policy, Observation{Launched: "driver-1"}, start)
	record, decision := Decide(record, policy, Observation{Driver: startedDriver, ReadyExecutors: 1}, start)
	if CurrentState(record) != DriverStarted || !decision.RequeueAt.Equal(at(7*time.Minute)) {
		t.Errorf("it is %s, and requeued for %v", CurrentState(record), decision.RequeueAt)
	}
	if record, _ = Decide(record, policy, Observation{Driver: startedDriver, ReadyExecutors: 1}, at(7*time.Minute)); CurrentState(record) != ExecutorsStartTimedOut {
		t.Errorf("after its timeout it is %s", CurrentState(record))
	}
}

// An executor that the API server refuses is never seen: only its driver knows why.
func TestDecideOnADriverWithoutExecutors(t *testing.T) {
	record := submitted().Requested().In(DriverStarted).In(DriverReady).In(RunningHealthy).Obj()
	expects := func(p *Policy) { p.ReportNoExecutorsAfter = time.Minute }
	absent := &Cause{Class: ClassInfrastructure, Reason: "NoExecutors", Message: "The driver runs, and none of its executors was ever seen. " +
		"If it asked for some, its log has the reason: the API server refuses executors whose priority class or service account " +
		"does not exist, what a quota or an admission webhook forbids, and all if the driver's own service account may not create Pods."}
	alone := Observation{Driver: readyDriver, NoExecutorSeen: true}
	runDecideCases(t, map[string]decideCase{
		"it has some time first": {
			record: record, policy: plain(expects), seen: alone, now: start, want: Decision{RequeueAt: at(time.Minute)},
		},
		"then it is reported": {
			record: record, policy: plain(expects), seen: alone, now: at(time.Minute), want: Decision{Obstacle: absent},
		},
		"one executor is enough": {
			record: record, policy: plain(expects), seen: Observation{Driver: readyDriver}, now: at(time.Hour),
		},
		"nothing is reported if no executor is expected": {record: record, policy: plain(), seen: alone, now: at(time.Hour)},
		"it ends as usual": {
			record: record, policy: plain(expects), seen: Observation{Driver: ended(Succeeded, Cause{}), NoExecutorSeen: true, DriverGone: true}, now: at(time.Hour),
			news: []string{"6/0 Succeeded [pi-0-driver pi-0] | ended Succeeded", "7/0 ResourceReleased [pi-0-driver pi-0] | final Succeeded"},
		},
	})
}

func TestCountsExecutors(t *testing.T) {
	for _, state := range States {
		want := state == DriverReady || state == InitializedBelowThresholdExecutors || state.Running()
		if got := CountsExecutors(state, plain(executors(1, 0, 0))); got != want {
			t.Errorf("in %s they count: %t, want %t", state, got, want)
		}
		if CountsExecutors(state, plain(executors(0, 1, 1))) {
			t.Errorf("in %s they count without initial executors", state)
		}
	}
}

// A controller that starts later knows by the record what an application with dynamic allocation may have given back.
func TestTheRecordSaysThatAllExecutorsExistedAtOnce(t *testing.T) {
	reserved := func(complete bool) func(r *v1alpha1.Record) {
		return func(r *v1alpha1.Record) { r.Quota = &v1alpha1.QuotaClaim{Elastic: true, Complete: complete} }
	}
	for name, test := range map[string]struct {
		record                     *recordBuilder
		existed, complete, written bool
	}{
		"some are missing":                     {submitted().Running().With(reserved(false)), false, false, false},
		"all exist":                            {submitted().Running().With(reserved(false)), true, true, true},
		"all existed before":                   {submitted().Running().With(reserved(true)), false, true, false},
		"all existed before, and exist":        {submitted().Running().With(reserved(true)), true, true, false},
		"all exist, and the driver is started": {submitted().Requested().In(DriverStarted).With(reserved(false)), true, false, false},
		"all exist, and no room was reserved":  {submitted().Running(), true, false, false},
	} {
		driver := readyDriver
		if CurrentState(test.record.Obj()) == DriverStarted {
			driver = startedDriver
		}
		got, decision := Decide(test.record.Obj(), plain(executors(2, 1, 2)), Observation{Driver: driver, ReadyExecutors: 2, ExecutorsComplete: test.existed}, start)
		if decision.Changed != test.written || (got.Quota != nil && got.Quota.Complete) != test.complete {
			t.Errorf("%s: it is written: %t, and the record says %+v", name, decision.Changed, got.Quota)
		}
	}
	got, _ := Decide(submitted().Requested().In(DriverStarted).In(DriverReady).With(reserved(false)).Obj(), plain(executors(2, 1, 2)),
		Observation{Driver: readyDriver, ReadyExecutors: 2, ExecutorsComplete: true}, start)
	if CurrentState(got) != RunningHealthy || !got.Quota.Complete {
		t.Errorf("by the write that says that it runs, the record is in %s with %+v", CurrentState(got), got.Quota)
	}
}
