package lifecycle_test

import (
	"math"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

const outlasted = "Failed [pi-0-driver pi-0]: The application was active for longer than its deadline, over all attempts. " +
	"The limit is 1h0m0s, from the annotation. | ended Failed, timeout, ActiveDeadlineExceeded"

// deadline bounds all attempts together by an hour.
func deadline(p *Policy) { p.ActiveDeadline, p.Sources.ActiveDeadline = time.Hour, "the annotation" }

// counted is a record whose earlier attempts were active for a while.
func counted(before time.Duration) func(*v1alpha1.Record) {
	return func(r *v1alpha1.Record) { r.Attempt.ActiveMillis = before.Milliseconds() }
}

func since(at time.Time) func(*v1alpha1.Record) {
	return func(r *v1alpha1.Record) {
		stamp := metav1.NewMicroTime(at)
		r.Attempt.ActiveSince = &stamp
	}
}

func TestDecideOnTheActiveDeadline(t *testing.T) {
	again := plain(restarts(RestartAlways), deadline)
	running := submitted().After(time.Minute).Requested().After(time.Minute).In(DriverStarted).In(DriverReady).In(RunningHealthy)
	retry := func(before time.Duration) *recordBuilder {
		return submitted().Running().EndedRestartable(Failed).Restarting().With(counted(before))
	}
	runDecideCases(t, map[string]decideCase{
		"it is requeued for its deadline, an hour after the driver's start": {
			record: running.Obj(), policy: again, now: at(10 * time.Minute), seen: Observation{Driver: readyDriver},
			want: Decision{RequeueAt: at(62 * time.Minute)},
		},
		"it is final, whatever the restart policy says": {
			record: running.Obj(), policy: again, now: at(62 * time.Minute), seen: Observation{Driver: readyDriver},
			news: []string{"6/0 " + outlasted}, want: Decision{Effect: Release},
		},
		"it runs until an instant before": {
			record: running.Obj(), policy: again, now: at(62*time.Minute - time.Nanosecond), seen: Observation{Driver: readyDriver},
			want: Decision{RequeueAt: at(62 * time.Minute)},
		},
		"a driver that ended in time keeps its own end": {
			record: running.Obj(), policy: plain(deadline), now: at(3 * time.Hour), seen: Observation{Driver: ended(Succeeded, Cause{Message: "Done."})},
			news: []string{"6/0 Succeeded [pi-0-driver pi-0]: Done. | ended Succeeded"}, want: Decision{Effect: Release, ReleaseCanWait: true},
		},
		"no attempt follows an end after the deadline": {
			record: running.Obj(), policy: again, now: at(3 * time.Hour), seen: Observation{Driver: ended(Failed, appFailure)},
			news: []string{"6/0 Failed [pi-0-driver pi-0]: It broke. | ended Failed, application, Error, exit 1"}, want: Decision{Effect: Release, ReleaseCanWait: true},
		},
		"a driver that is seen late counts from its own start": {
			record: submitted().Requested().Obj(), policy: again, now: at(2 * time.Hour),
			seen: Observation{Driver: &Driver{Started: true, Ready: true, RunningSince: at(time.Minute)}},
			news: []string{"3/0 " + outlasted}, want: Decision{Effect: Release},
		},
		"a driver that runs and is not ready counts": {
			record: submitted().Requested().Obj(), policy: plain(deadline, func(p *Policy) { p.Timeouts = Timeouts{} }), now: at(10 * time.Minute),
			seen: Observation{Driver: &Driver{RunningSince: at(time.Minute)}},
			want: Decision{RequeueAt: at(61*time.Minute + time.Second)},
		},
		"a start before the attempt's start is ignored": {
			record: submitted().Requested().Obj(), policy: plain(deadline, func(p *Policy) { p.Timeouts = Timeouts{} }), now: at(10 * time.Minute),
			seen: Observation{Driver: &Driver{RunningSince: at(-24 * time.Hour)}},
			want: Decision{RequeueAt: at(time.Hour)},
		},
		"before the first driver's start no time counts": {
			record: submitted().Requested().Obj(), policy: plain(deadline, func(p *Policy) { p.Timeouts = Timeouts{} }), now: at(1e6 * time.Hour),
		},
		"the next attempt has the remaining time, from its launch on": {
			record: retry(40 * time.Minute).After(time.Hour).Requested().Obj(), policy: plain(deadline, func(p *Policy) { p.Timeouts = Timeouts{} }),
			now: at(65 * time.Minute), want: Decision{RequeueAt: at(80 * time.Minute)},
		},
		"a back-off does not count": {
			record: retry(59*time.Minute).Verdict(true, at(48*time.Hour), "").With(func(r *v1alpha1.Record) { r.Verdict.Attempt = 0 }).Obj(),
			policy: again, now: at(24 * time.Hour), want: Decision{RequeueAt: at(48 * time.Hour)},
		},
		"a deadline that was shortened during a back-off prevents the launch": {
			record: retry(2 * time.Hour).Obj(), policy: again, now: at(time.Minute),
			news: []string{"8/1 Failed: The application was active for longer than its deadline, over all attempts. " +
				"The limit is 1h0m0s, from the annotation. | ended Failed, timeout, ActiveDeadlineExceeded",
				"9/1 ResourceReleased: No attempt follows: the active deadline is over. | final Failed"},
		},
		"a driver that would be retained after other failures is released": {
			record: submitted().Running().With(since(at(0))).Ended(Failed).With(func(r *v1alpha1.Record) {
				r.Transitions[len(r.Transitions)-1].End = &v1alpha1.AttemptEnd{Outcome: "Failed", Class: ClassTimeout, Reason: "ActiveDeadlineExceeded"}
			}).Obj(),
			policy: plain(retains(RetainAlways, -1)), now: at(time.Hour), want: Decision{Effect: Release},
		},
		"an edited record does not remove the bound": {
			record: submitted().Running().With(since(at(0))).With(func(r *v1alpha1.Record) { r.Attempt.ActiveMillis = math.MaxInt64 }).Obj(),
			policy: again, now: at(10 * time.Minute), seen: Observation{Driver: readyDriver},
			news: []string{"6/0 " + outlasted}, want: Decision{Effect: Release},
		},
		"the active time in the record counts, even without its transitions": {
			record: submitted().Running().With(since(at(2 * time.Minute))).With(counted(30 * time.Minute)).With(func(r *v1alpha1.Record) {
				r.Transitions = r.Transitions[len(r.Transitions)-1:]
			}).Obj(),
			policy: again, now: at(10 * time.Minute), seen: Observation{Driver: readyDriver}, want: Decision{RequeueAt: at(32 * time.Minute)},
		},
	})
}

// The record holds the active time: since when, while an attempt lasts; how long, after it.
func TestTheRecordHoldsTheActiveTime(t *testing.T) {
	interrupting := plain(deadline, func(p *Policy) { p.Interrupts, p.Spec = true, hashed("spec") })
	record := submitted().With(func(r *v1alpha1.Record) { r.Attempt.SpecHash = "spec" }).Requested().Obj()
	step := func(now time.Duration, policy Policy, seen Observation, wantMillis int64, wantSince time.Time) {
		t.Helper()
		record, _ = Decide(record, policy, seen, at(now))
		var got time.Time
		if record.Attempt.ActiveSince != nil {
			got = record.Attempt.ActiveSince.Time
		}
		if record.Attempt.ActiveMillis != wantMillis || !got.Equal(wantSince) {
			t.Errorf("after %s, in %s: %d ms and since %v, want %d ms and since %v",
				now, CurrentState(record), record.Attempt.ActiveMillis, got, wantMillis, wantSince)
		}
	}
	suspend := interrupting
	suspend.Suspend = true
	edited := interrupting
	edited.Spec = hashed("another")
	step(1*time.Minute, interrupting, Observation{Driver: readyDriver}, 0, at(time.Minute))
	step(11*time.Minute, suspend, Observation{Driver: readyDriver}, 600_000, time.Time{})
	step(12*time.Minute, suspend, Observation{DriverGone: true}, 600_000, time.Time{})
	step(9*time.Hour, interrupting, Observation{}, 600_000, time.Time{})
	record.Launch = &v1alpha1.Launch{ID: "launch-1", DriverPod: "pi-driver"}
	step(9*time.Hour, interrupting, Observation{Launched: driverUID}, 600_000, at(9*time.Hour))
	step(9*time.Hour+50*time.Minute, interrupting, Observation{Driver: readyDriver}, 3_600_000, time.Time{})
	if CurrentState(record) != Failed {
		t.Errorf("after its deadline it is %s", CurrentState(record))
	}
	step(10*time.Hour, edited, Observation{DriverGone: true}, 0, time.Time{})
	if CurrentState(record) != ScheduledToRestart {
		t.Errorf("after an edit it is %s", CurrentState(record))
	}
}

// Users of this API delete applications by hand: every driver's Pod is retained, except one that might start late.
func TestALateDriverIsReleasedIfTheAPISaysSo(t *testing.T) {
	keeps := plain(retains(RetainAlways, -1))
	releases := plain(retains(RetainAlways, -1), func(p *Policy) {
		p.ReleasesTimedOut, p.Sources = true, Sources{DriverStart: "the annotation", ExecutorStart: "the setting"}
	})
	late := submitted().Requested().Ended(DriverStartTimedOut).Obj()
	const bySource = "3/0 DriverStartTimedOut [pi-0-driver pi-0]: The driver has not responded to the initial health check request within the " +
		"allotted start-up time. The limit is 5m0s, from the annotation. | ended Failed, timeout, DriverStartTimedOut"
	waiting := plain(executors(2, 0, 0), func(p *Policy) {
		p.ExecutorsFromStart, p.Timeouts.DriverReady, p.Sources.ExecutorStart = true, 0, "the setting"
	})
	started := submitted().Requested().In(DriverStarted).Obj()
	runDecideCases(t, map[string]decideCase{
		"it is retained in the Apache operator": {
			record: late, policy: keeps, now: at(time.Hour), seen: Observation{Driver: requestedDriver},
			news: []string{"4/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: Application is terminated without releasing resources as configured. | final Failed"},
		},
		"it is released": {
			record: late, policy: releases, now: at(time.Hour), seen: Observation{Driver: requestedDriver}, want: Decision{Effect: Release},
		},
		"the application ends when it is gone": {
			record: late, policy: releases, now: at(time.Hour), seen: Observation{DriverGone: true},
			news: []string{"4/0 ResourceReleased [pi-0-driver pi-0] | final Failed"},
		},
		"its end names the source of the limit": {
			record: submitted().Requested().Obj(), policy: releases, now: at(5 * time.Minute),
			news: []string{bySource}, want: Decision{Effect: Release},
		},
		"the executors' timeout counts from the start of a driver that is not ready": {
			record: started, policy: waiting, now: at(time.Minute), seen: Observation{Driver: startedDriver, ReadyExecutors: 1},
			want: Decision{RequeueAt: at(7 * time.Minute)},
		},
		"the executors' timeout ends the attempt of a driver that is not ready": {
			record: started, policy: waiting, now: at(7 * time.Minute), seen: Observation{Driver: startedDriver, ReadyExecutors: 1},
			news: []string{"4/0 ExecutorsStartTimedOut [pi-0-driver pi-0]: " + slowExecutors +
				" 1 of 2 were ready. The limit is 7m0s, from the setting. | ended Failed, timeout, ExecutorsStartTimedOut"},
			want: Decision{Effect: Release},
		},
		"a driver that is not ready has no timeout once it has enough executors": {
			record: started, policy: waiting, now: at(time.Hour), seen: Observation{Driver: startedDriver, ReadyExecutors: 2}, changed: true,
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID, ExecutorsReady: true},
		},
	})
}
