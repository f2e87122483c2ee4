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
		"an application that asks for no executors to begin with is healthy at once, whatever else it asks for": {
			record: driverIsReady.Obj(), policy: plain(executors(0, 3, 3)), seen: with(0), now: start,
			news: []string{"5/0 " + healthy},
		},
		"without executors it stays ready, until they are late": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 1, 4)), seen: with(0), now: at(time.Minute),
			want: Decision{RequeueAt: at(7 * time.Minute)},
		},
		"with some executors it is initialized, and the clock starts anew": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 1, 4)), seen: with(1), now: at(time.Minute),
			news: []string{"5/0 " + belowInitial},
			want: Decision{RequeueAt: at(8 * time.Minute)},
		},
		"with as many as asked for it runs, with partial capacity": {
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
		"it is initialized once": {
			record: initialized.Obj(), policy: plain(executors(3, 1, 4)), seen: with(2), now: at(2 * time.Minute),
			want: Decision{RequeueAt: at(8 * time.Minute)},
		},
		"it stays initialized where its executors went again": {
			record: initialized.Obj(), policy: plain(executors(3, 1, 4)), seen: with(0), now: at(2 * time.Minute),
			want: Decision{RequeueAt: at(8 * time.Minute)},
		},
		"where Spark sets the number there is no partial capacity": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 1, 4), dynamic), seen: with(2), now: start,
			news: []string{"5/0 " + healthy},
		},
		"where no most is asked for there is no partial capacity": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 1, 0)), seen: with(2), now: start,
			news: []string{"5/0 " + healthy},
		},
		"where none are to be kept it goes through partial capacity, as in the Apache operator": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 0, 4)), seen: with(2), now: start,
			news: []string{"5/0 " + partial, "6/0 " + healthy},
		},
		"where fewer are there than are to be kept it goes through healthy, as in the Apache operator": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 3, 0)), seen: with(2), now: start,
			news: []string{"5/0 " + healthy, "6/0 " + belowMinimum},
		},
		"a driver that is ready with its executors when it is first seen went through all states": {
			record: submitted().Requested().Obj(), policy: plain(executors(2, 1, 4)), seen: with(3), now: start,
			news: []string{
				"3/0 DriverStarted [pi-0-driver pi-0]: Driver has started running.",
				"4/0 DriverReady [pi-0-driver pi-0]: Driver has reached ready state.",
				"5/0 " + partial,
			},
		},

		// ---- when they are late ----
		"executors that have not come at all in time end the attempt": {
			record: driverIsReady.Obj(), policy: plain(executors(2, 1, 4)), seen: with(0), now: at(7 * time.Minute),
			news: []string{"5/0 " + executorsLate + " 0 of 2 were ready. | ended Failed, timeout, ExecutorsStartTimedOut"},
			want: Decision{Effect: Release},
		},
		"some of which have not come in time, from the first on, end the attempt": {
			record: initialized.Obj(), policy: plain(executors(2, 1, 4)), seen: with(1), now: at(8 * time.Minute),
			news: []string{"6/0 " + executorsLate + " 1 of 2 were ready. | ended Failed, timeout, ExecutorsStartTimedOut"},
			want: Decision{Effect: Release},
		},
		"which come when they are late have come": {
			record: initialized.Obj(), policy: plain(executors(2, 1, 2)), seen: with(2), now: at(time.Hour),
			news: []string{"6/0 " + healthy},
		},
		"an application that runs and cannot be told of is not late": {
			record: driverIsReady.With(func(r *v1alpha1.Record) { r.Sequence = 80 }).Obj(),
			policy: plain(executors(2, 1, 2)), seen: with(2), now: at(time.Hour), changed: true,
		},

		// ---- while it runs ----
		"executors that are lost are told": {
			record: in(RunningHealthy).Obj(), policy: plain(executors(4, 2, 4)), seen: with(3), now: start,
			news: []string{"6/0 " + partial},
		},
		"too many that are lost are told": {
			record: in(RunningWithPartialCapacity).Obj(), policy: plain(executors(4, 2, 4)), seen: with(1), now: start,
			news: []string{"6/0 " + belowMinimum},
		},
		"no time bounds an application that lost all of them": {
			record: in(RunningWithBelowThresholdExecutors).Obj(), policy: plain(executors(4, 2, 4)), seen: with(0), now: at(1e6 * time.Hour),
		},
		"some that return are told": {
			record: in(RunningWithBelowThresholdExecutors).Obj(), policy: plain(executors(4, 2, 4)), seen: with(2), now: start,
			news: []string{"6/0 " + partial},
		},
		"all that return are told": {
			record: in(RunningWithBelowThresholdExecutors).Obj(), policy: plain(executors(4, 2, 4)), seen: with(4), now: start,
			news: []string{"6/0 " + healthy},
		},
		"what does not change is not told again": {
			record: in(RunningWithPartialCapacity).Obj(), policy: plain(executors(4, 2, 4)), seen: with(3), now: at(time.Hour),
		},
		"none that are to be kept leave an application healthy": {
			record: in(RunningHealthy).Obj(), policy: plain(executors(4, 0, 4)), seen: with(0), now: start,
		},
		"a spec that no longer asks for executors leaves it healthy": {
			record: in(RunningWithBelowThresholdExecutors).Obj(), policy: plain(), seen: with(0), now: start,
			news: []string{"6/0 " + healthy},
		},
		"a spec that asks for more than there are is acted on": {
			record: in(RunningHealthy).Obj(), policy: plain(executors(1, 5, 5)), seen: with(3), now: start,
			news: []string{"6/0 " + belowMinimum},
		},
		"what comes and goes is not told where the sink has much to take": {
			record: in(RunningHealthy).With(func(r *v1alpha1.Record) {
				for i := range r.Transitions {
					r.Transitions[i].Message = strings.Repeat("x", 6<<10)
				}
			}).Obj(),
			policy: plain(executors(4, 2, 4)), seen: with(1), now: start,
		},
	})
}

// Executors that came are not late however many are lost, even if no transition says that they came.
func TestExecutorsThatCameAreNotLate(t *testing.T) {
	came := func(r *v1alpha1.Record) { r.Launch.ExecutorsReady = true }
	full := func(r *v1alpha1.Record) { r.Sequence = 80 }
	fromStart := func(p *Policy) { p.ExecutorsFromStart, p.Timeouts.DriverReady = true, 0 }
	started := submitted().Requested().In(DriverStarted).With(came)
	ready := submitted().Requested().In(DriverStarted).In(DriverReady).With(came)
	launch := func(came bool) *v1alpha1.Launch {
		return &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID, ExecutorsReady: came}
	}
	with := func(driver *Driver, ready int) Observation { return Observation{Driver: driver, ReadyExecutors: ready} }
	runDecideCases(t, map[string]decideCase{
		"the transition into running carries it": {
			record: submitted().Requested().In(DriverStarted).In(DriverReady).Obj(), policy: plain(executors(2, 1, 2)), seen: with(readyDriver, 2), now: start,
			news: []string{"5/0 " + healthy}, launch: launch(true),
		},
		"too few have not come": {
			record: submitted().Requested().In(DriverStarted).Obj(), policy: plain(executors(2, 0, 0), fromStart), seen: with(startedDriver, 1), now: start,
			want: Decision{RequeueAt: at(7 * time.Minute)}, launch: launch(false),
		},
		"a running application is not written for it": {
			record: submitted().Running().Obj(), policy: plain(executors(2, 1, 2)), seen: with(readyDriver, 2), now: start, launch: launch(false),
		},
		"a driver that is not ready has lost one": {
			record: started.Obj(), policy: plain(executors(2, 0, 0), fromStart), seen: with(startedDriver, 1), now: at(3 * time.Hour),
		},
		"a driver that is not ready has lost all": {
			record: started.Obj(), policy: plain(executors(2, 0, 0), fromStart), seen: with(startedDriver, 0), now: at(3 * time.Hour),
		},
		"such a driver ends as any other": {
			record: started.Obj(), policy: plain(executors(2, 0, 0), fromStart), seen: with(ended(Succeeded, Cause{}), 0), now: at(3 * time.Hour),
			news: []string{"4/0 Succeeded [pi-0-driver pi-0] | ended Succeeded"}, want: Decision{Effect: Release},
		},
		"such a driver that gets ready runs": {
			record: started.Obj(), policy: plain(executors(2, 0, 0), fromStart), seen: with(readyDriver, 1), now: at(3 * time.Hour),
			news: []string{"4/0 DriverReady [pi-0-driver pi-0]: Driver has reached ready state.", "5/0 " + healthy},
		},
		"a ready driver has lost one and there is no room": {
			record: ready.With(full).Obj(), policy: plain(executors(2, 2, 2)), seen: with(readyDriver, 1), now: at(3 * time.Hour),
		},
		"a ready driver has lost all and there is no room": {
			record: ready.With(full).Obj(), policy: plain(executors(2, 2, 2)), seen: with(readyDriver, 0), now: at(3 * time.Hour),
		},
		"when there is room again it is told that too few are left": {
			record: ready.With(func(r *v1alpha1.Record) { r.Sequence = 4 }).Obj(), policy: plain(executors(2, 2, 2)), seen: with(readyDriver, 0), now: at(3 * time.Hour),
			news: []string{"5/0 " + belowMinimum},
		},
		"when there is room again and none are to be kept it is healthy": {
			record: ready.With(func(r *v1alpha1.Record) { r.Sequence = 4 }).Obj(), policy: plain(executors(2, 0, 0)), seen: with(readyDriver, 0), now: at(3 * time.Hour),
			news: []string{"5/0 " + healthy},
		},
	})
}

// The next attempt waits for executors of its own.
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
		t.Errorf("it is %s, and looked at again at %v", CurrentState(record), decision.RequeueAt)
	}
	if record, _ = Decide(record, policy, Observation{Driver: startedDriver, ReadyExecutors: 1}, at(7*time.Minute)); CurrentState(record) != ExecutorsStartTimedOut {
		t.Errorf("with its time over it is %s", CurrentState(record))
	}
}

// An executor that the API server refuses is never seen: only its driver knows.
func TestDecideOnADriverWithoutExecutors(t *testing.T) {
	record := submitted().Requested().In(DriverStarted).In(DriverReady).In(RunningHealthy).Obj()
	expects := func(p *Policy) { p.ReportNoExecutorsAfter = time.Minute }
	absent := &Cause{Class: ClassInfrastructure, Reason: "NoExecutors", Message: "The driver runs, and no executor of it was ever seen. " +
		"Where it asked for some, its log says why none came: the API server refuses executors whose priority class or service account " +
		"does not exist, what a quota or an admission webhook forbids, and all if the driver's own service account may not create Pods."}
	alone := Observation{Driver: readyDriver, NoExecutorSeen: true}
	runDecideCases(t, map[string]decideCase{
		"it has some time": {
			record: record, policy: plain(expects), seen: alone, now: start, want: Decision{RequeueAt: at(time.Minute)},
		},
		"then it is told": {
			record: record, policy: plain(expects), seen: alone, now: at(time.Minute), want: Decision{Obstacle: absent},
		},
		"an executor that came is enough": {
			record: record, policy: plain(expects), seen: Observation{Driver: readyDriver}, now: at(time.Hour),
		},
		"where none is to be expected, nothing is told": {record: record, policy: plain(), seen: alone, now: at(time.Hour)},
		"it ends as any other": {
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
			t.Errorf("in %s they count where none are asked for to begin with", state)
		}
	}
}
