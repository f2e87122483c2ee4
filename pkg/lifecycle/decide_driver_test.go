package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

func TestDecideOnADriver(t *testing.T) {
	requested := submitted().Requested()
	startedAt := submitted().Requested().After(time.Second).In(DriverStarted)
	runningApp := submitted().Running().Obj()
	runDecideCases(t, map[string]decideCase{
		"a driver that is not seen is waited for until the start timeout": {
			record: requested.Obj(), policy: plain(), now: at(time.Minute),
			want: Decision{RequeueAt: at(5 * time.Minute)},
		},
		"a driver that waits is waited for until the start timeout": {
			record: requested.Obj(), policy: plain(), now: at(time.Minute), seen: Observation{Driver: requestedDriver},
			want: Decision{RequeueAt: at(5 * time.Minute)},
		},
		"a driver that started has a ready timeout": {
			record: requested.Obj(), policy: plain(), now: at(time.Minute), seen: Observation{Driver: startedDriver},
			news: []string{"3/0 DriverStarted [pi-0-driver pi-0]: Driver has started running."},
			want: Decision{RequeueAt: at(7 * time.Minute)},
		},
		"a driver that is ready when first seen goes through all states": {
			record: requested.Obj(), policy: plain(), now: at(time.Minute), seen: Observation{Driver: readyDriver},
			news: []string{
				"3/0 DriverStarted [pi-0-driver pi-0]: Driver has started running.",
				"4/0 DriverReady [pi-0-driver pi-0]: Driver has reached ready state.",
				"5/0 RunningHealthy [pi-0-driver pi-0]: Application is running healthy.",
			},
		},
		"a ready Pod whose main container is not ready skips DriverStarted": {
			record: requested.Obj(), policy: plain(), now: at(time.Minute), seen: Observation{Driver: &Driver{Ready: true}},
			news: []string{
				"3/0 DriverReady [pi-0-driver pi-0]: Driver has reached ready state.",
				"4/0 RunningHealthy [pi-0-driver pi-0]: Application is running healthy.",
			},
		},
		"a started driver becomes ready": {
			record: startedAt.Obj(), policy: plain(), now: at(time.Minute), seen: Observation{Driver: readyDriver},
			news: []string{
				"4/0 DriverReady [pi-0-driver pi-0]: Driver has reached ready state.",
				"5/0 RunningHealthy [pi-0-driver pi-0]: Application is running healthy.",
			},
		},
		"a started driver that is not ready is waited for until the ready timeout": {
			record: startedAt.Obj(), policy: plain(), now: at(time.Minute), seen: Observation{Driver: startedDriver},
			want: Decision{RequeueAt: at(time.Second + 6*time.Minute)},
		},
		"executors are waited for until the executors' start timeout": {
			record: submitted().Requested().In(DriverReady).After(time.Minute).In(InitializedBelowThresholdExecutors).Obj(),
			policy: plain(executors(2, 1, 2)), now: at(2 * time.Minute), seen: Observation{Driver: readyDriver, ReadyExecutors: 1},
			want: Decision{RequeueAt: at(8 * time.Minute)},
		},
		"a running application waits only for its driver": {
			record: runningApp, policy: plain(), now: at(24 * time.Hour), seen: Observation{Driver: readyDriver},
		},
		"a running application whose driver becomes unready stays running": {
			record: runningApp, policy: plain(), now: at(time.Hour), seen: Observation{Driver: startedDriver},
		},
		"a driver that is not seen proves nothing": {
			record: runningApp, policy: plain(), now: at(time.Hour),
		},
		"another Pod than the launched one is ignored, even if it ended": {
			record: runningApp, policy: plain(), now: at(time.Hour),
			seen: Observation{Driver: &Driver{UID: "another", End: &End{State: Failed, Cause: appFailure}, Stopped: true}},
		},
		"a suspension does not stop a driver": {
			record: runningApp, policy: plain(suspended), now: at(time.Hour), seen: Observation{Driver: readyDriver},
		},
		"a driver that was deleted from outside is waited for, and reported": {
			record: runningApp, policy: plain(), now: at(2 * time.Minute), seen: Observation{Driver: terminating(at(time.Minute))},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(9 * time.Minute)},
		},
		"a running application whose driver succeeded ends": {
			record: runningApp, policy: plain(), now: at(time.Hour),
			seen: Observation{Driver: ended(Succeeded, Cause{Message: "Spark application completed successfully."})},
			news: []string{"6/0 Succeeded [pi-0-driver pi-0]: Spark application completed successfully. | ended Succeeded"},
			want: Decision{Effect: Release, ReleaseCanWait: true},
		},
		"a driver that had completed when first seen adds only Succeeded": {
			record: requested.Obj(), policy: plain(), now: at(time.Hour),
			seen: Observation{Driver: ended(Succeeded, Cause{Message: "Spark application completed successfully."})},
			news: []string{"3/0 Succeeded [pi-0-driver pi-0]: Spark application completed successfully. | ended Succeeded"},
			want: Decision{Effect: Release, ReleaseCanWait: true},
		},
		"a driver that had failed when first seen adds only Failed": {
			record: requested.Obj(), policy: plain(), now: at(time.Hour), seen: Observation{Driver: ended(Failed, appFailure)},
			news: []string{"3/0 Failed [pi-0-driver pi-0]: It broke. | ended Failed, application, Error, exit 1"},
			want: Decision{Effect: Release, ReleaseCanWait: true},
		},
		"an eviction ends the attempt": {
			record: startedAt.Obj(), policy: plain(), now: at(time.Minute),
			seen: Observation{Driver: ended(DriverEvicted, Cause{Class: ClassEviction, Reason: "Evicted", Message: "Low on memory."})},
			news: []string{"4/0 DriverEvicted [pi-0-driver pi-0]: Low on memory. | ended Failed, eviction, Evicted"},
			want: Decision{Effect: Release, ReleaseCanWait: true},
		},
		"a driver that is gone has failed, and needs no release": {
			record: runningApp, policy: plain(), now: at(time.Hour), seen: Observation{DriverGone: true},
			news: []string{
				"6/0 Failed [pi-0-driver pi-0]: " + lostMessage + " | ended Failed, infrastructure, DriverLost",
				"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed",
			},
		},
		"a driver that is gone and was last seen succeeded has succeeded": {
			record: runningApp, policy: plain(), now: at(time.Hour),
			seen: Observation{DriverGone: true, Driver: ended(Succeeded, Cause{})},
			news: []string{
				"6/0 Succeeded [pi-0-driver pi-0] | ended Succeeded",
				"7/0 ResourceReleased [pi-0-driver pi-0] | final Succeeded",
			},
		},
		"a driver that was deleted after its end needs no release": {
			record: runningApp, policy: plain(), now: at(time.Hour),
			seen: Observation{Driver: &Driver{End: &End{State: Succeeded}, Stopped: true, Terminating: true}},
			news: []string{
				"6/0 Succeeded [pi-0-driver pi-0] | ended Succeeded",
				"7/0 ResourceReleased [pi-0-driver pi-0] | final Succeeded",
			},
		},
		"a running state is not recorded if the sink is 64 transitions behind": {
			record: submitted().Requested().In(DriverStarted).With(func(r *v1alpha1.Record) { r.Sequence = 63 }).Obj(),
			policy: plain(), now: at(time.Minute), seen: Observation{Driver: readyDriver},
			news: []string{"64/0 DriverReady [pi-0-driver pi-0]: Driver has reached ready state."},
		},
		"a running state is recorded if the sink is 63 transitions behind": {
			record: submitted().Requested().In(DriverReady).With(func(r *v1alpha1.Record) { r.Sequence, r.Acknowledged = 64, 1 }).Obj(),
			policy: plain(), now: at(time.Minute), seen: Observation{Driver: readyDriver},
			news: []string{"65/0 RunningHealthy [pi-0-driver pi-0]: Application is running healthy."},
		},
		"an end is recorded however far the sink is behind": {
			record: submitted().Running().With(func(r *v1alpha1.Record) { r.Sequence = 500 }).Obj(),
			policy: plain(), now: at(time.Minute), seen: Observation{Driver: ended(Failed, appFailure)},
			news: []string{"501/0 Failed [pi-0-driver pi-0]: It broke. | ended Failed, application, Error, exit 1"},
			want: Decision{Effect: Release, ReleaseCanWait: true},
		},
	})
}

func TestDecideOnTimeouts(t *testing.T) {
	requested := submitted().Requested()
	unbounded := func(p *Policy) { p.Timeouts = Timeouts{} }
	negative := func(p *Policy) { p.Timeouts = Timeouts{DriverStart: -1, DriverReady: -1, ExecutorStart: -1} }
	runDecideCases(t, map[string]decideCase{
		"a driver does not time out an instant early": {
			record: requested.Obj(), policy: plain(), now: at(5*time.Minute - time.Nanosecond),
			want: Decision{RequeueAt: at(5 * time.Minute)},
		},
		"a driver that has not started in time is released": {
			record: requested.Obj(), policy: plain(), now: at(5 * time.Minute),
			news: []string{"3/0 DriverStartTimedOut [pi-0-driver pi-0]: " + slowDriver + " | ended Failed, timeout, DriverStartTimedOut"},
			want: Decision{Effect: Release},
		},
		"a driver that has not started in time names its obstacle": {
			record: requested.Obj(), policy: plain(), now: at(5 * time.Minute),
			seen: Observation{Driver: &Driver{Waiting: &Cause{
				Class: ClassScheduling, Reason: "Unschedulable", Message: "Driver Pod cannot be scheduled."}}},
			news: []string{"3/0 DriverStartTimedOut [pi-0-driver pi-0]: " + slowDriver +
				" Driver Pod cannot be scheduled. | ended Failed, timeout, Unschedulable"},
			want: Decision{Effect: Release},
		},
		"a driver that starts after its timeout, before the decision, has started": {
			record: requested.Obj(), policy: plain(), now: at(time.Hour), seen: Observation{Driver: startedDriver},
			news: []string{"3/0 DriverStarted [pi-0-driver pi-0]: Driver has started running."},
			want: Decision{RequeueAt: at(time.Hour + 6*time.Minute)},
		},
		"a driver that is not ready in time is released": {
			record: submitted().Requested().After(time.Minute).In(DriverStarted).Obj(), policy: plain(), now: at(7 * time.Minute),
			seen: Observation{Driver: startedDriver},
			news: []string{"4/0 DriverReadyTimedOut [pi-0-driver pi-0]: " + slowDriver + " | ended Failed, timeout, DriverReadyTimedOut"},
			want: Decision{Effect: Release},
		},
		"a driver that is not ready in time names the unready containers": {
			record: submitted().Requested().After(time.Minute).In(DriverStarted).Obj(), policy: plain(), now: at(7 * time.Minute),
			seen: Observation{Driver: ObserveDriver(
				driverPod().Phase(corev1.PodRunning).Container("mesh", running).Container("spark-kubernetes-driver", ready).Obj(), "")},
			news: []string{"4/0 DriverReadyTimedOut [pi-0-driver pi-0]: " + slowDriver +
				" Running but not ready: container mesh; see its readiness probe. | ended Failed, timeout, DriverReadyTimedOut"},
			want: Decision{Effect: Release},
		},
		"executors that do not start in time end the attempt": {
			record: submitted().Requested().In(DriverReady).In(InitializedBelowThresholdExecutors).Obj(),
			policy: plain(executors(5, 1, 5)), now: at(7 * time.Minute), seen: Observation{Driver: readyDriver, ReadyExecutors: 3},
			news: []string{"5/0 ExecutorsStartTimedOut [pi-0-driver pi-0]: " + slowExecutors +
				" 3 of 5 were ready. | ended Failed, timeout, ExecutorsStartTimedOut"},
			want: Decision{Effect: Release},
		},
		"a raised limit gives it more time": {
			record: requested.Obj(), policy: plain(func(p *Policy) { p.Timeouts.DriverStart = time.Hour }), now: at(5 * time.Minute),
			want: Decision{RequeueAt: at(time.Hour)},
		},
		"a limit that was lowered below the elapsed time takes effect now": {
			record: requested.Obj(), policy: plain(func(p *Policy) { p.Timeouts.DriverStart = time.Second }), now: at(time.Minute),
			news: []string{"3/0 DriverStartTimedOut [pi-0-driver pi-0]: " + slowDriver + " | ended Failed, timeout, DriverStartTimedOut"},
			want: Decision{Effect: Release},
		},
		"a Pod that its node prepares is requeued for when that takes too long": {
			record: requested.Obj(), policy: plain(), now: at(time.Minute),
			seen: Observation{Driver: &Driver{PreparingSince: at(30 * time.Second)}},
			want: Decision{RequeueAt: at(90 * time.Second)},
		},
		"a Pod that its node prepares for too long has an obstacle": {
			record: requested.Obj(), policy: plain(), now: at(90 * time.Second),
			seen: Observation{Driver: &Driver{PreparingSince: at(30 * time.Second)}},
			want: Decision{RequeueAt: at(5 * time.Minute), Obstacle: unprepared},
		},
		"a Pod that its node prepares until the timeout names that obstacle": {
			record: requested.Obj(), policy: plain(), now: at(5 * time.Minute),
			seen: Observation{Driver: &Driver{PreparingSince: at(30 * time.Second)}},
			news: []string{"3/0 DriverStartTimedOut [pi-0-driver pi-0]: " + slowDriver + " " + unprepared.Message +
				" | ended Failed, timeout, PodNotReadyToStartContainers"},
			want: Decision{Effect: Release},
		},
		"the obstacle of a driver is reported": {
			record: requested.Obj(), policy: plain(), now: at(time.Minute), seen: Observation{Driver: &Driver{Waiting: &quota}},
			want: Decision{RequeueAt: at(5 * time.Minute), Obstacle: &quota},
		},
		"a running application has no timeout": {
			record: submitted().Running().Obj(), policy: plain(), now: at(1e6 * time.Hour), seen: Observation{Driver: startedDriver},
		},
		"a timeout of zero is no bound": {
			record: requested.Obj(), policy: plain(unbounded), now: at(1e6 * time.Hour), seen: Observation{Driver: requestedDriver},
		},
		"a timeout below zero is no bound": {
			record: submitted().Requested().In(DriverStarted).Obj(), policy: plain(negative), now: at(1e6 * time.Hour),
			seen: Observation{Driver: startedDriver},
		},
		"a driver that has not started in time may be followed by another": {
			record: submitted().Requested().Obj(), policy: plain(restarts(RestartOnInfrastructureFailure)), now: at(5 * time.Minute),
			news: []string{"3/0 DriverStartTimedOut [pi-0-driver pi-0]: " + slowDriver + " | ended Failed, timeout, DriverStartTimedOut, restartable"},
			want: Decision{Awaits: AwaitsVerdict},
		},
	})
}

func TestDecideOnALostDriver(t *testing.T) {
	const notGone = "The driver Pod was deleted and does not disappear: its node, or the kubelet there, does not answer." +
		" It is deleted by force. Behind a network partition the driver may still run, beside the next one."
	runningApp := submitted().Running()
	patient := plain(func(p *Policy) { p.Timeouts.ForceTermination = 0 })
	tainted := terminating(at(time.Minute))
	tainted.Disruption = &Cause{Class: ClassInfrastructure, Reason: "DeletionByTaintManager", Message: "The node does not answer."}
	slow := terminating(at(time.Minute))
	slow.TerminatingUntil = at(time.Hour)
	runDecideCases(t, map[string]decideCase{
		"a terminating driver has until the force-termination limit": {
			record: runningApp.Obj(), policy: plain(), now: at(9*time.Minute - time.Nanosecond), seen: Observation{Driver: tainted},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(9 * time.Minute)},
		},
		"a terminating driver is lost after the limit, and its Pod is deleted by force": {
			record: runningApp.Obj(), policy: plain(), now: at(9 * time.Minute), seen: Observation{Driver: terminating(at(time.Minute))},
			news: []string{"6/0 Failed [pi-0-driver pi-0]: " + notGone + " | ended Failed, infrastructure, NodeLost"},
			want: Decision{Effect: ForceRelease, Held: HeldDriverTerminating},
		},
		"a lost driver is deleted by force before the next attempt": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").
				With(func(r *v1alpha1.Record) { outbox.LastEnd(r).End.Reason = "NodeLost" }).Obj(),
			policy: plain(restarts(RestartAlways)), now: at(9 * time.Minute), seen: Observation{Driver: tainted},
			want: Decision{Effect: ForceRelease, Held: HeldDriverTerminating},
		},
		"a lost driver that is gone is followed by the next attempt": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").
				With(func(r *v1alpha1.Record) { outbox.LastEnd(r).End.Reason = "NodeLost" }).Obj(),
			policy: plain(restarts(RestartAlways)), now: at(9 * time.Minute), seen: Observation{Driver: tainted, DriverGone: true},
			news: []string{"7/1 ScheduledToRestart"},
			want: Decision{Effect: Launch},
		},
		"a driver may live within its own grace period": {
			record: runningApp.Obj(), policy: plain(), now: at(30 * time.Minute), seen: Observation{Driver: slow},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(time.Hour + killed)},
		},
		"the kubelet has a moment to kill it after that": {
			record: runningApp.Obj(), policy: plain(), now: at(time.Hour + killed - time.Nanosecond), seen: Observation{Driver: slow},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(time.Hour + killed)},
		},
		"a terminating driver is waited for without a limit": {
			record: runningApp.Obj(), policy: patient, now: at(1e6 * time.Hour), seen: Observation{Driver: tainted},
			want: Decision{Held: HeldDriverTerminating},
		},
		"a driver that is lost before it started is lost": {
			record: submitted().Requested().Obj(), policy: plain(func(p *Policy) { p.Timeouts.DriverStart = 0 }), now: at(time.Hour),
			seen: Observation{Driver: terminating(at(time.Minute))},
			news: []string{"3/0 Failed [pi-0-driver pi-0]: " + notGone + " | ended Failed, infrastructure, NodeLost"},
			want: Decision{Effect: ForceRelease, Held: HeldDriverTerminating},
		},
		"a terminating driver may time out before it is lost": {
			record: submitted().Requested().Obj(), policy: plain(), now: at(5 * time.Minute),
			seen: Observation{Driver: &Driver{Terminating: true, TerminatingSince: at(4 * time.Minute)}},
			news: []string{"3/0 DriverStartTimedOut [pi-0-driver pi-0]: " + slowDriver + " | ended Failed, timeout, DriverStartTimedOut"},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(13 * time.Minute)},
		},
		"a driver that ended before it was lost keeps its end": {
			record: runningApp.Obj(), policy: plain(), now: at(time.Hour),
			seen: Observation{Driver: &Driver{End: &End{State: Succeeded}, Stopped: true, Terminating: true, TerminatingSince: start}},
			news: []string{
				"6/0 Succeeded [pi-0-driver pi-0] | ended Succeeded",
				"7/0 ResourceReleased [pi-0-driver pi-0] | final Succeeded",
			},
		},
		"a driver that the cluster disrupted has that as its cause": {
			record: runningApp.Obj(), policy: plain(), now: at(time.Hour), seen: Observation{Driver: tainted, DriverGone: true},
			news: []string{
				"6/0 Failed [pi-0-driver pi-0]: The node does not answer. | ended Failed, infrastructure, DeletionByTaintManager",
				"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed",
			},
		},
	})
}

func TestDecideStoresTheDriverStatusOfAFailure(t *testing.T) {
	status, completed := corev1.PodStatus{Phase: corev1.PodFailed, Message: "It broke."}, corev1.PodStatus{Phase: corev1.PodSucceeded}
	broken := &Driver{End: &End{State: Failed, Cause: appFailure}, Stopped: true, Status: &status}
	finished := &Driver{End: &End{State: Succeeded}, Stopped: true, Status: &completed}
	alongside := &Driver{End: &End{State: Succeeded}, Status: &status}
	tests := map[string]struct {
		record *v1alpha1.Record
		seen   Observation
		now    time.Time
		want   *corev1.PodStatus
	}{
		"a failure stores it":           {submitted().Running().Obj(), Observation{Driver: broken}, start, &status},
		"a Pod that succeeded does not": {submitted().Running().Obj(), Observation{Driver: finished}, start, nil},
		"a container that exited with 0 beside others does": {
			submitted().Running().Obj(), Observation{Driver: alongside}, start, &status},
		"a lost driver has none":        {submitted().Running().Obj(), Observation{DriverGone: true}, start, nil},
		"a driver's start has none yet": {submitted().Requested().Obj(), Observation{Driver: startedDriver}, start, nil},
		"a timeout stores it": {submitted().Requested().Obj(), Observation{Driver: &Driver{Status: &status}},
			at(time.Hour), &status},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, _ := Decide(test.record, plain(), test.seen, test.now)
			if diff := cmp.Diff(test.want, news(test.record, got)[0].DriverStatus); diff != "" {
				t.Errorf("driver status (-want +got):\n%s", diff)
			}
		})
	}
}
