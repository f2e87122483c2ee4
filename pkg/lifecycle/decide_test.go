package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// plain is the policy of an application that asks for nothing.
func plain(changes ...func(*Policy)) Policy {
	policy := Policy{
		Restart: Restart{Policy: RestartNever, MaxAttempts: 3, Backoff: 30 * time.Second, ResetAfter: -1},
		Timeouts: Timeouts{
			DriverStart: 5 * time.Minute, DriverReady: 6 * time.Minute, ExecutorStart: 7 * time.Minute,
			ForceTermination: 8 * time.Minute,
		},
		Retain: RetainNever, RetainFor: -1, TTL: -1,
	}
	for _, change := range changes {
		change(&policy)
	}
	return policy
}

func restarts(when RestartPolicy) func(*Policy) { return func(p *Policy) { p.Restart.Policy = when } }

func retains(when Retain, d time.Duration) func(*Policy) {
	return func(p *Policy) { p.Retain, p.RetainFor = when, d }
}

func ttl(d time.Duration) func(*Policy) { return func(p *Policy) { p.TTL = d } }

func suspended(p *Policy) { p.Suspend = true }

func refused(p *Policy) {
	p.Refused = &Cause{Class: ClassApplication, Reason: "ClientModeUnsupported", Message: "Client mode is not supported yet."}
}

// decideCase is one call of Decide. What is zero in want is wanted to be zero.
type decideCase struct {
	record *v1alpha1.Record
	policy Policy
	seen   Observation
	now    time.Time
	// news are the transitions that are decided; Changed is expected where there are any, or changed is set.
	news    []string
	want    Decision
	changed bool
	// launch is what the record says of the launch afterwards; not compared where nil.
	launch *v1alpha1.Launch
}

func (test decideCase) run(t *testing.T) {
	t.Helper()
	before := test.record.DeepCopy()
	got, decision := Decide(test.record, test.policy, test.seen, test.now)
	if diff := cmp.Diff(before, test.record); diff != "" {
		t.Errorf("Decide changed the record that it was given (-before +after):\n%s", diff)
	}
	if test.news == nil {
		test.news = []string{}
	}
	if diff := cmp.Diff(test.news, tell(news(test.record, got))); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
	test.want.Changed = test.changed || len(test.news) > 0
	if diff := cmp.Diff(test.want, decision); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
	if test.launch != nil {
		if diff := cmp.Diff(test.launch, got.Launch); diff != "" {
			t.Errorf("launch (-want +got):\n%s", diff)
		}
	}
	for _, transition := range news(test.record, got) {
		if !transition.Time.Equal(ptr.To(Current(got).Time)) || !transition.Time.Time.Equal(test.now) {
			t.Errorf("transition %d is of %s, want %s", transition.Sequence, transition.Time, test.now)
		}
	}
}

func runDecideCases(t *testing.T, tests map[string]decideCase) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, test.run)
	}
}

const (
	lostMessage    = "Driver removed. This could be caused by 'exit' called in the driver process, or by somebody who deleted the Pod."
	deletedMessage = "Spark application has been shutdown as requested."
	slowDriver     = "The driver has not responded to the initial health check request within the allotted start-up time."
	slowExecutors  = "The Spark application failed to get enough executors in the given time threshold."
	keptMessage    = "Application is terminated without releasing resources as configured."
	expiredMessage = "Spark application resources released after exceeding the configured retain duration."
)

var (
	appFailure = Cause{Class: ClassApplication, Reason: "Error", Message: "It broke.", ExitCode: ptr.To[int32](1)}
	quota      = Cause{Class: ClassScheduling, Reason: "Forbidden", Message: "exceeded quota"}
)

func TestDecideOnLaunch(t *testing.T) {
	runDecideCases(t, map[string]decideCase{
		"an application that was never looked at is submitted and launched": {
			policy: plain(), now: start,
			news: []string{"1/0 Submitted: Spark application has been created on Kubernetes Cluster."},
			want: Decision{Effect: Launch},
		},
		"an application that is submitted is launched": {
			record: submitted().Obj(), policy: plain(), now: at(time.Second),
			want: Decision{Effect: Launch},
		},
		"a launch that was fenced is resumed": {
			record: submitted().Fenced().Obj(), policy: plain(), now: at(time.Hour),
			want: Decision{Effect: Launch},
		},
		"a launch that was fenced is resumed although the application is suspended now": {
			record: submitted().Fenced().Obj(), policy: plain(suspended), now: at(time.Second),
			want: Decision{Effect: Launch},
		},
		"a driver that was launched is requested, and its uid is kept": {
			record: submitted().Fenced().Obj(), policy: plain(), now: at(time.Second),
			seen:   Observation{Launched: driverUID},
			news:   []string{"2/0 DriverRequested [pi-0-driver pi-0]: Requested driver from resource scheduler."},
			want:   Decision{LookAgain: at(time.Second + 5*time.Minute)},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID},
		},
		"a driver that runs already when it is found is followed at once": {
			record: submitted().Fenced().Obj(), policy: plain(), now: at(time.Second),
			seen: Observation{Launched: driverUID, Driver: readyDriver},
			news: []string{
				"2/0 DriverRequested [pi-0-driver pi-0]: Requested driver from resource scheduler.",
				"3/0 DriverStarted [pi-0-driver pi-0]: Driver has started running.",
				"4/0 DriverReady [pi-0-driver pi-0]: Driver has reached ready state.",
				"5/0 RunningHealthy [pi-0-driver pi-0]: Application is running healthy.",
			},
		},
		"a driver that was launched without a fence is released before anything else": {
			record: submitted().Obj(), policy: plain(refused), now: at(time.Second),
			seen:   Observation{Launched: driverUID},
			news:   []string{"2/0 Failed: Client mode is not supported yet. | ended Failed, application, ClientModeUnsupported"},
			want:   Decision{Effect: Release},
			launch: &v1alpha1.Launch{DriverUID: driverUID},
		},
		"a suspended application is held before its launch": {
			record: submitted().Obj(), policy: plain(suspended), now: at(time.Second),
			want: Decision{Held: HeldSuspended},
		},
		"a suspended application that was never looked at is submitted and held": {
			policy: plain(suspended), now: start,
			news: []string{"1/0 Submitted: Spark application has been created on Kubernetes Cluster."},
			want: Decision{Held: HeldSuspended},
		},
		"a suspended restart is held whether or not it is due": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, at(time.Minute), "").Restarting().Obj(),
			policy: plain(restarts(RestartAlways), suspended), now: at(time.Second),
			want: Decision{Held: HeldSuspended},
		},
		"a restart waits for its instant": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, at(time.Minute), "").Restarting().Obj(),
			policy: plain(restarts(RestartAlways)), now: at(time.Minute - time.Nanosecond),
			want: Decision{LookAgain: at(time.Minute)},
		},
		"a restart is launched at its instant": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, at(time.Minute), "").Restarting().Obj(),
			policy: plain(restarts(RestartAlways)), now: at(time.Minute),
			want: Decision{Effect: Launch},
		},
		"a restart without an instant is launched at once": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Restarting().Obj(),
			policy: plain(restarts(RestartAlways)), now: start,
			want: Decision{Effect: Launch},
		},
		"a verdict on another attempt does not delay a launch": {
			record: submitted().Running().EndedRestartable(Failed).Restarting().Verdict(true, at(time.Hour), "").Obj(),
			policy: plain(restarts(RestartAlways)), now: start,
			want: Decision{Effect: Launch},
		},
		"a launch that is refused leaves no driver, and the application ends at once": {
			record: submitted().Fenced().Obj(), policy: plain(), now: at(time.Second),
			seen: Observation{LaunchRefused: &quota},
			news: []string{
				"2/0 SchedulingFailure [pi-0-driver pi-0]: exceeded quota | ended Failed, scheduling, Forbidden",
				"3/0 ResourceReleased [pi-0-driver pi-0] | final Failed",
			},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", Released: true},
		},
		"a launch that is refused before its fence ends the application at once": {
			record: submitted().Obj(), policy: plain(), now: at(time.Second),
			seen: Observation{LaunchRefused: &quota},
			news: []string{
				"2/0 SchedulingFailure: exceeded quota | ended Failed, scheduling, Forbidden",
				"3/0 ResourceReleased | final Failed",
			},
		},
		"a launch that is refused with a Pod left has it released first": {
			record: submitted().Fenced().Obj(), policy: plain(), now: at(time.Second),
			seen:   Observation{LaunchRefused: &quota, Launched: driverUID},
			news:   []string{"2/0 SchedulingFailure [pi-0-driver pi-0]: exceeded quota | ended Failed, scheduling, Forbidden"},
			want:   Decision{Effect: Release},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID},
		},
		"half a launch is released even where drivers are retained": {
			record: submitted().Fenced().Obj(), policy: plain(retains(RetainAlways, -1)), now: at(time.Second),
			seen: Observation{LaunchRefused: &quota, Launched: driverUID},
			news: []string{"2/0 SchedulingFailure [pi-0-driver pi-0]: exceeded quota | ended Failed, scheduling, Forbidden"},
			want: Decision{Effect: Release},
		},
		"half a launch that is gone leaves a retained application without a driver": {
			record: submitted().Requested().Ended(SchedulingFailure).Obj(), policy: plain(retains(RetainAlways, -1)),
			seen: Observation{DriverGone: true}, now: at(time.Second),
			news: []string{"4/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: " + keptMessage + " | final Failed"},
		},
		"a launch that is refused awaits a verdict where the spec allows another": {
			record: submitted().Fenced().Obj(), policy: plain(restarts(RestartOnInfrastructureFailure)), now: at(time.Second),
			seen: Observation{LaunchRefused: &quota},
			news: []string{"2/0 SchedulingFailure [pi-0-driver pi-0]: exceeded quota | ended Failed, scheduling, Forbidden, restartable"},
			want: Decision{Awaits: AwaitsVerdict},
		},
		"a refusal is of one launch only, although its verdict is known already": {
			record: submitted().Fenced().Verdict(true, time.Time{}, "").Obj(),
			policy: plain(restarts(RestartAlways)), now: at(time.Second),
			seen: Observation{LaunchRefused: &quota},
			news: []string{
				"2/0 SchedulingFailure [pi-0-driver pi-0]: exceeded quota | ended Failed, scheduling, Forbidden, restartable",
				"3/1 ScheduledToRestart",
			},
			want: Decision{Effect: Launch},
		},
		"a spec that is refused ends the application without a launch": {
			policy: plain(refused), now: start,
			news: []string{
				"1/0 Submitted: Spark application has been created on Kubernetes Cluster.",
				"2/0 Failed: Client mode is not supported yet. | ended Failed, application, ClientModeUnsupported",
				"3/0 ResourceReleased | final Failed",
			},
		},
		"a spec that is refused is not tried again, whatever its restart policy": {
			record: submitted().Obj(), policy: plain(refused, restarts(RestartAlways)), now: start,
			news: []string{
				"2/0 Failed: Client mode is not supported yet. | ended Failed, application, ClientModeUnsupported",
				"3/0 ResourceReleased | final Failed",
			},
		},
		"a spec that is refused once its launch was fenced has the driver released": {
			record: submitted().Fenced().Obj(), policy: plain(refused), now: start,
			news: []string{"2/0 Failed [pi-0-driver pi-0]: Client mode is not supported yet. | ended Failed, application, ClientModeUnsupported"},
			want: Decision{Effect: Release},
		},
		"a spec that is refused while its driver runs lets it run": {
			record: submitted().Running().Obj(), policy: plain(refused), seen: Observation{Driver: readyDriver}, now: start,
		},
	})
}

func TestDecideOnADriver(t *testing.T) {
	requested := submitted().Requested()
	startedAt := submitted().Requested().After(time.Second).In(DriverStarted)
	runningApp := submitted().Running().Obj()
	runDecideCases(t, map[string]decideCase{
		"a driver that is not seen is waited for until it is late": {
			record: requested.Obj(), policy: plain(), now: at(time.Minute),
			want: Decision{LookAgain: at(5 * time.Minute)},
		},
		"a driver that waits is waited for until it is late": {
			record: requested.Obj(), policy: plain(), now: at(time.Minute), seen: Observation{Driver: requestedDriver},
			want: Decision{LookAgain: at(5 * time.Minute)},
		},
		"a driver that started is to be ready in time": {
			record: requested.Obj(), policy: plain(), now: at(time.Minute), seen: Observation{Driver: startedDriver},
			news: []string{"3/0 DriverStarted [pi-0-driver pi-0]: Driver has started running."},
			want: Decision{LookAgain: at(7 * time.Minute)},
		},
		"a driver that is ready when it is first seen went through all states": {
			record: requested.Obj(), policy: plain(), now: at(time.Minute), seen: Observation{Driver: readyDriver},
			news: []string{
				"3/0 DriverStarted [pi-0-driver pi-0]: Driver has started running.",
				"4/0 DriverReady [pi-0-driver pi-0]: Driver has reached ready state.",
				"5/0 RunningHealthy [pi-0-driver pi-0]: Application is running healthy.",
			},
		},
		"a Pod that is ready without its main container being so was never started": {
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
		"a started driver that is not ready is waited for until it is late": {
			record: startedAt.Obj(), policy: plain(), now: at(time.Minute), seen: Observation{Driver: startedDriver},
			want: Decision{LookAgain: at(time.Second + 6*time.Minute)},
		},
		"an application that waits for executors is waited for until they are late": {
			record: submitted().Requested().In(DriverReady).After(time.Minute).In(InitializedBelowThresholdExecutors).Obj(),
			policy: plain(), now: at(2 * time.Minute), seen: Observation{Driver: readyDriver},
			want: Decision{LookAgain: at(8 * time.Minute)},
		},
		"a running application waits for its driver alone": {
			record: runningApp, policy: plain(), now: at(24 * time.Hour), seen: Observation{Driver: readyDriver},
		},
		"a running application whose driver is not ready any more runs on": {
			record: runningApp, policy: plain(), now: at(time.Hour), seen: Observation{Driver: startedDriver},
		},
		"a running application whose driver is not seen proves nothing": {
			record: runningApp, policy: plain(), now: at(time.Hour),
		},
		"a suspension does not stop a driver": {
			record: runningApp, policy: plain(suspended), now: at(time.Hour), seen: Observation{Driver: readyDriver},
		},
		"a driver that somebody deletes is waited for, and that is told": {
			record: runningApp, policy: plain(), now: at(time.Hour), seen: Observation{Driver: terminating(at(time.Minute))},
			want: Decision{Held: HeldDriverTerminating},
		},
		"a running application whose driver succeeded ends": {
			record: runningApp, policy: plain(), now: at(time.Hour),
			seen: Observation{Driver: ended(Succeeded, Cause{Message: "Spark application completed successfully."})},
			news: []string{"6/0 Succeeded [pi-0-driver pi-0]: Spark application completed successfully. | ended Succeeded"},
			want: Decision{Effect: Release},
		},
		"a driver that had completed when it was first seen only succeeded": {
			record: requested.Obj(), policy: plain(), now: at(time.Hour),
			seen: Observation{Driver: ended(Succeeded, Cause{Message: "Spark application completed successfully."})},
			news: []string{"3/0 Succeeded [pi-0-driver pi-0]: Spark application completed successfully. | ended Succeeded"},
			want: Decision{Effect: Release},
		},
		"a driver that had failed when it was first seen failed once": {
			record: requested.Obj(), policy: plain(), now: at(time.Hour), seen: Observation{Driver: ended(Failed, appFailure)},
			news: []string{"3/0 Failed [pi-0-driver pi-0]: It broke. | ended Failed, application, Error, exit 1"},
			want: Decision{Effect: Release},
		},
		"a driver that was evicted ends the attempt so": {
			record: startedAt.Obj(), policy: plain(), now: at(time.Minute),
			seen: Observation{Driver: ended(DriverEvicted, Cause{Class: ClassEviction, Reason: "Evicted", Message: "Low on memory."})},
			news: []string{"4/0 DriverEvicted [pi-0-driver pi-0]: Low on memory. | ended Failed, eviction, Evicted"},
			want: Decision{Effect: Release},
		},
		"a driver that is gone failed, and nothing is left to release": {
			record: runningApp, policy: plain(), now: at(time.Hour), seen: Observation{DriverGone: true},
			news: []string{
				"6/0 Failed [pi-0-driver pi-0]: " + lostMessage + " | ended Failed, infrastructure, DriverLost",
				"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed",
			},
		},
		"a driver that is gone and was last seen to succeed succeeded": {
			record: runningApp, policy: plain(), now: at(time.Hour),
			seen: Observation{DriverGone: true, Driver: ended(Succeeded, Cause{})},
			news: []string{
				"6/0 Succeeded [pi-0-driver pi-0] | ended Succeeded",
				"7/0 ResourceReleased [pi-0-driver pi-0] | final Succeeded",
			},
		},
		"a driver that somebody deleted after its end needs no release": {
			record: runningApp, policy: plain(), now: at(time.Hour),
			seen: Observation{Driver: &Driver{End: &End{State: Succeeded}, Stopped: true, Terminating: true}},
			news: []string{
				"6/0 Succeeded [pi-0-driver pi-0] | ended Succeeded",
				"7/0 ResourceReleased [pi-0-driver pi-0] | final Succeeded",
			},
		},
		"a running state is not told to a sink that is 64 transitions behind": {
			record: submitted().Requested().In(DriverStarted).With(func(r *v1alpha1.Record) { r.Sequence = 63 }).Obj(),
			policy: plain(), now: at(time.Minute), seen: Observation{Driver: readyDriver},
			news: []string{"64/0 DriverReady [pi-0-driver pi-0]: Driver has reached ready state."},
		},
		"a running state is told to a sink that is 63 transitions behind": {
			record: submitted().Requested().In(DriverReady).With(func(r *v1alpha1.Record) { r.Sequence, r.Acknowledged = 64, 1 }).Obj(),
			policy: plain(), now: at(time.Minute), seen: Observation{Driver: readyDriver},
			news: []string{"65/0 RunningHealthy [pi-0-driver pi-0]: Application is running healthy."},
		},
		"an end is told however far the sink is behind": {
			record: submitted().Running().With(func(r *v1alpha1.Record) { r.Sequence = 500 }).Obj(),
			policy: plain(), now: at(time.Minute), seen: Observation{Driver: ended(Failed, appFailure)},
			news: []string{"501/0 Failed [pi-0-driver pi-0]: It broke. | ended Failed, application, Error, exit 1"},
			want: Decision{Effect: Release},
		},
	})
}

func TestDecideOnTimeouts(t *testing.T) {
	requested := submitted().Requested()
	unbounded := func(p *Policy) { p.Timeouts = Timeouts{} }
	negative := func(p *Policy) { p.Timeouts = Timeouts{DriverStart: -1, DriverReady: -1, ExecutorStart: -1} }
	runDecideCases(t, map[string]decideCase{
		"a driver is not late an instant before its time": {
			record: requested.Obj(), policy: plain(), now: at(5*time.Minute - time.Nanosecond),
			want: Decision{LookAgain: at(5 * time.Minute)},
		},
		"a driver that has not started in time is released": {
			record: requested.Obj(), policy: plain(), now: at(5 * time.Minute),
			news: []string{"3/0 DriverStartTimedOut [pi-0-driver pi-0]: " + slowDriver + " | ended Failed, timeout, DriverStartTimedOut"},
			want: Decision{Effect: Release},
		},
		"a driver that has not started in time tells what held it": {
			record: requested.Obj(), policy: plain(), now: at(5 * time.Minute),
			seen: Observation{Driver: &Driver{Waiting: &Cause{
				Class: ClassScheduling, Reason: "Unschedulable", Message: "Driver Pod cannot be scheduled."}}},
			news: []string{"3/0 DriverStartTimedOut [pi-0-driver pi-0]: " + slowDriver +
				" Driver Pod cannot be scheduled. | ended Failed, timeout, Unschedulable"},
			want: Decision{Effect: Release},
		},
		"a driver that starts when it is late has started": {
			record: requested.Obj(), policy: plain(), now: at(time.Hour), seen: Observation{Driver: startedDriver},
			news: []string{"3/0 DriverStarted [pi-0-driver pi-0]: Driver has started running."},
			want: Decision{LookAgain: at(time.Hour + 6*time.Minute)},
		},
		"a driver that is not ready in time is released": {
			record: submitted().Requested().After(time.Minute).In(DriverStarted).Obj(), policy: plain(), now: at(7 * time.Minute),
			seen: Observation{Driver: startedDriver},
			news: []string{"4/0 DriverReadyTimedOut [pi-0-driver pi-0]: " + slowDriver + " | ended Failed, timeout, DriverReadyTimedOut"},
			want: Decision{Effect: Release},
		},
		"executors that have not come in time end the attempt": {
			record: submitted().Requested().In(DriverReady).In(InitializedBelowThresholdExecutors).Obj(), policy: plain(),
			now: at(7 * time.Minute), seen: Observation{Driver: readyDriver},
			news: []string{"4/0 ExecutorsStartTimedOut [pi-0-driver pi-0]: " + slowExecutors + " | ended Failed, timeout, ExecutorsStartTimedOut"},
			want: Decision{Effect: Release},
		},
		"no time bounds a running application": {
			record: submitted().Running().Obj(), policy: plain(), now: at(1e6 * time.Hour), seen: Observation{Driver: startedDriver},
		},
		"a time of zero is no bound": {
			record: requested.Obj(), policy: plain(unbounded), now: at(1e6 * time.Hour), seen: Observation{Driver: requestedDriver},
		},
		"a time below zero is no bound": {
			record: requested.In(DriverStarted).Obj(), policy: plain(negative), now: at(1e6 * time.Hour),
			seen: Observation{Driver: startedDriver},
		},
		"a driver that has not started in time may be followed by another": {
			record: submitted().Requested().Obj(), policy: plain(restarts(RestartOnInfrastructureFailure)), now: at(5 * time.Minute),
			news: []string{"3/0 DriverStartTimedOut [pi-0-driver pi-0]: " + slowDriver + " | ended Failed, timeout, DriverStartTimedOut, restartable"},
			want: Decision{Awaits: AwaitsVerdict},
		},
	})
}

func TestDecideOnTheVerdict(t *testing.T) {
	always := plain(restarts(RestartAlways))
	failed := submitted().Running().EndedRestartable(Failed)
	stopped := Observation{Driver: ended(Failed, appFailure), ReleaseAccepted: true}
	runDecideCases(t, map[string]decideCase{
		"an end that may be followed awaits a verdict, and its driver stays until then": {
			record: failed.Obj(), policy: always, now: at(time.Hour), seen: Observation{Driver: ended(Failed, appFailure)},
			want: Decision{Awaits: AwaitsVerdict},
		},
		"a success may be followed too": {
			record: submitted().Running().Obj(), policy: always, now: at(time.Hour),
			seen: Observation{Driver: ended(Succeeded, Cause{})},
			news: []string{"6/0 Succeeded [pi-0-driver pi-0] | ended Succeeded, restartable"},
			want: Decision{Awaits: AwaitsVerdict},
		},
		"a verdict on an earlier attempt is no verdict": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Restarting().
				Running().EndedRestartable(Failed).Obj(),
			policy: always, now: at(time.Hour), seen: stopped,
			want: Decision{Awaits: AwaitsVerdict},
		},
		"a verdict on a later attempt is no verdict": {
			record: submitted().Running().EndedRestartable(Failed).
				With(func(r *v1alpha1.Record) { r.Verdict = &v1alpha1.Verdict{Attempt: 1, Restart: true} }).Obj(),
			policy: always, now: at(time.Hour), seen: stopped,
			want: Decision{Awaits: AwaitsVerdict},
		},
		"a verdict for a restart has the driver released first": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: always, now: at(time.Hour), seen: Observation{Driver: ended(Failed, appFailure)},
			want: Decision{Effect: Release},
		},
		"a verdict for a restart has the driver released, retained or not": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: plain(restarts(RestartAlways), retains(RetainAlways, -1)), now: at(time.Hour),
			seen: Observation{Driver: ended(Failed, appFailure)},
			want: Decision{Effect: Release},
		},
		"a verdict for a restart is followed once the driver stopped and its deletion is accepted": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, at(time.Hour+time.Minute), "").Obj(),
			policy: always, now: at(time.Hour), seen: stopped,
			news: []string{"7/1 ScheduledToRestart"},
			want: Decision{LookAgain: at(time.Hour + time.Minute)},
		},
		"a verdict for a restart is followed once the driver is gone": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: always, now: at(time.Hour), seen: Observation{DriverGone: true},
			news: []string{"7/1 ScheduledToRestart"},
			want: Decision{Effect: Launch},
		},
		"a verdict for a restart of a suspended application is followed, and the launch is held": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: plain(restarts(RestartAlways), suspended), now: at(time.Hour), seen: stopped,
			news: []string{"7/1 ScheduledToRestart"},
			want: Decision{Held: HeldSuspended},
		},
		"a verdict holds although the spec was edited meanwhile": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: plain(), now: at(time.Hour), seen: stopped,
			news: []string{"7/1 ScheduledToRestart"},
			want: Decision{Effect: Launch},
		},
		"a restart into a spec that is refused ends the application": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: plain(restarts(RestartAlways), refused), now: at(time.Hour), seen: stopped,
			news: []string{
				"7/1 ScheduledToRestart",
				"8/1 Failed: Client mode is not supported yet. | ended Failed, application, ClientModeUnsupported",
				"9/1 ResourceReleased | final Failed",
			},
		},
		"one container of several that ended does not let the next attempt start beside the others": {
			record: submitted().Running().EndedRestartable(Succeeded).Verdict(true, time.Time{}, "").Obj(),
			policy: always, now: at(time.Hour),
			seen: Observation{ReleaseAccepted: true, Driver: &Driver{Started: true, End: &End{State: Succeeded}}},
			want: Decision{Held: HeldDriverTerminating, LookAgain: at(time.Hour + 8*time.Minute)},
		},
		"a verdict against a restart ends the application with its reason": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(false, time.Time{}, "Not worth it.").Obj(),
			policy: always, now: at(time.Hour), seen: stopped,
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0]: Not worth it. | final Failed"},
		},
		"a verdict against a restart releases the driver first": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(false, time.Time{}, "").Obj(),
			policy: always, now: at(time.Hour), seen: Observation{Driver: ended(Failed, appFailure)},
			want: Decision{Effect: Release},
		},
		"a verdict against a restart retains the last driver": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(false, time.Time{}, "").Obj(),
			policy: plain(restarts(RestartAlways), retains(RetainOnFailure, -1)), now: at(time.Hour),
			seen: Observation{Driver: ended(Failed, appFailure)},
			news: []string{"7/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: " + keptMessage + " | final Failed"},
		},
	})
}

func TestDecideOnTheEnd(t *testing.T) {
	failed, succeeded := submitted().Running().After(time.Hour).Ended(Failed), submitted().Running().After(time.Hour).Ended(Succeeded)
	gone := Observation{DriverGone: true}
	runDecideCases(t, map[string]decideCase{
		"a driver that ended is released": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour), want: Decision{Effect: Release},
		},
		"an application ends once the release of its stopped driver is accepted": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour),
			seen: Observation{Driver: ended(Failed, appFailure), ReleaseAccepted: true},
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed"},
		},
		"an application ends once its driver is gone": {
			record: succeeded.Obj(), policy: plain(), now: at(time.Hour), seen: gone,
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Succeeded"},
		},
		"a driver that was not seen any more is waited for": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour), seen: Observation{ReleaseAccepted: true},
			want: Decision{Held: HeldDriverTerminating, LookAgain: at(time.Hour + 8*time.Minute)},
		},
		"retention never does not retain": {
			record: failed.Obj(), policy: plain(retains(RetainNever, time.Hour)), now: at(time.Hour), seen: gone,
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed"},
		},
		"retention on failure does not retain a success": {
			record: succeeded.Obj(), policy: plain(retains(RetainOnFailure, -1)), now: at(time.Hour), seen: gone,
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Succeeded"},
		},
		"retention on failure retains a failure, with no bound": {
			record: failed.Obj(), policy: plain(retains(RetainOnFailure, -1)), now: at(time.Hour),
			news: []string{"7/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: " + keptMessage + " | final Failed"},
		},
		"retention always retains a success until its time is over": {
			record: succeeded.Obj(), policy: plain(retains(RetainAlways, time.Minute)), now: at(time.Hour),
			news: []string{"7/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: " + keptMessage + " | final Succeeded"},
			want: Decision{LookAgain: at(time.Hour + time.Minute)},
		},
		"a retention of zero is over at once": {
			record: failed.Obj(), policy: plain(retains(RetainAlways, 0)), now: at(time.Hour), seen: gone,
			news: []string{
				"7/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: " + keptMessage + " | final Failed",
				"8/0 ResourceReleased [pi-0-driver pi-0]: " + expiredMessage,
			},
		},
		"a limit that denies the restart is told": {
			record: submitted().Running().With(func(r *v1alpha1.Record) { r.Attempt.Restarts = 3 }).Ended(Failed).Obj(),
			policy: plain(restarts(RestartAlways)), now: at(time.Hour), seen: gone,
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0]: The maximum number of restart attempts (3) has been exceeded. | final Failed"},
		},
		"a limit that denies the restart is told of a retained driver too": {
			record: submitted().Running().With(func(r *v1alpha1.Record) { r.Attempt.Restarts = 3 }).Ended(Failed).Obj(),
			policy: plain(restarts(RestartAlways), retains(RetainAlways, -1)), now: at(time.Hour), seen: gone,
			news: []string{"7/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: " +
				"The maximum number of restart attempts (3) has been exceeded. | final Failed"},
		},
	})
}

func TestDecideOnRetention(t *testing.T) {
	kept := submitted().Running().After(time.Hour).Ended(Failed).Retained()
	stopped := ended(Failed, appFailure)
	runDecideCases(t, map[string]decideCase{
		"a retained driver without a bound stays": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, -1)), now: at(1e6 * time.Hour), seen: Observation{Driver: stopped},
		},
		"a retained driver stays until its time is over": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour)), now: at(2*time.Hour - time.Nanosecond),
			want: Decision{LookAgain: at(2 * time.Hour)},
		},
		"a retained driver is released when its time is over": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour)), now: at(2 * time.Hour),
			want: Decision{Effect: Release},
		},
		"a time to live that is shorter than the retention bounds it": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour), ttl(time.Minute)), now: at(time.Hour),
			want: Decision{LookAgain: at(time.Hour + time.Minute)},
		},
		"a time to live that is longer than the retention does not": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour), ttl(24*time.Hour)), now: at(time.Hour),
			want: Decision{LookAgain: at(2 * time.Hour)},
		},
		"a time to live bounds a retention without a bound": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, -1), ttl(time.Minute)), now: at(time.Hour),
			want: Decision{LookAgain: at(time.Hour + time.Minute)},
		},
		"a retained driver that is released ends the retention, and the end is not told again": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour)), now: at(2 * time.Hour),
			seen: Observation{Driver: stopped, ReleaseAccepted: true},
			news: []string{"8/0 ResourceReleased [pi-0-driver pi-0]: " + expiredMessage},
		},
		"a retained driver that somebody deleted is retained until its time is over": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour)), now: at(90 * time.Minute),
			seen: Observation{DriverGone: true},
			want: Decision{LookAgain: at(2 * time.Hour)},
		},
		"a retained driver that does not go is forced, from the end of the retention on": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour)), now: at(2*time.Hour + 8*time.Minute),
			seen: Observation{Driver: terminating(at(2 * time.Hour))},
			want: Decision{Effect: ForceRelease, Held: HeldDriverTerminating},
		},
	})
}

func TestDecideOnTheTimeToLive(t *testing.T) {
	ended := submitted().Running().After(time.Hour).Ended(Failed).After(time.Minute)
	released := ended.Released()
	keptAndReleased := submitted().Running().Ended(Failed).After(time.Hour).Retained().After(time.Hour).Released()
	runDecideCases(t, map[string]decideCase{
		"an application without a time to live stays for ever": {
			record: released.Obj(), policy: plain(), now: at(1e6 * time.Hour),
		},
		"an application lives on from its end, not from its release": {
			record: released.Obj(), policy: plain(ttl(time.Hour)), now: at(2*time.Hour - time.Nanosecond),
			want: Decision{LookAgain: at(2 * time.Hour)},
		},
		"the time to live of a retained application begins with the retention": {
			record: keptAndReleased.Obj(), policy: plain(ttl(90 * time.Minute)), now: at(2 * time.Hour),
			want: Decision{LookAgain: at(150 * time.Minute)},
		},
		"an application whose time is over awaits its deletion since then": {
			record: released.Obj(), policy: plain(ttl(time.Hour)), now: at(3 * time.Hour),
			want: Decision{Awaits: AwaitsDeletion, AwaitsSince: at(2 * time.Hour)},
		},
		"a time to live of zero is over at once": {
			record: released.Obj(), policy: plain(ttl(0)), now: at(time.Hour + time.Minute),
			want: Decision{Awaits: AwaitsDeletion, AwaitsSince: at(time.Hour)},
		},
		"an application that was deleted awaits nothing more": {
			record: released.Obj(), policy: plain(ttl(0)), now: at(3 * time.Hour), seen: Observation{Deleted: at(2 * time.Hour)},
		},
		"a record of the release alone counts from there": {
			record: released.With(func(r *v1alpha1.Record) { r.Transitions = r.Transitions[len(r.Transitions)-1:] }).Obj(),
			policy: plain(ttl(time.Hour)), now: at(time.Hour + time.Minute),
			want: Decision{LookAgain: at(2*time.Hour + time.Minute)},
		},
	})
}

func TestDecideOnDeletion(t *testing.T) {
	deleted := Observation{Deleted: at(time.Hour)}
	gone := Observation{Deleted: at(time.Hour), DriverGone: true}
	now := at(time.Hour)
	restartable := plain(restarts(RestartAlways))
	released := func(sequence, outcome string) []string {
		return []string{sequence + " ResourceReleased [pi-0-driver pi-0]: " + deletedMessage + outcome}
	}
	tests := map[string]decideCase{
		"an application that was deleted before it was looked at": {
			policy: plain(), seen: deleted, now: now,
			news: []string{
				"1/0 Submitted: Spark application has been created on Kubernetes Cluster.",
				"2/0 ResourceReleased: " + deletedMessage + " | final Deleted",
			},
		},
		"before the launch nothing is to be released": {
			record: submitted().Obj(), policy: plain(), seen: deleted, now: now,
			news: []string{"2/0 ResourceReleased: " + deletedMessage + " | final Deleted"},
		},
		"a suspended application is let go": {
			record: submitted().Obj(), policy: plain(suspended), seen: deleted, now: now,
			news: []string{"2/0 ResourceReleased: " + deletedMessage + " | final Deleted"},
		},
		"a spec that is refused is let go": {
			record: submitted().Obj(), policy: plain(refused), seen: deleted, now: now,
			news: []string{"2/0 ResourceReleased: " + deletedMessage + " | final Deleted"},
		},
		"a launch that was fenced may have left a driver": {
			record: submitted().Fenced().Obj(), policy: plain(), seen: deleted, now: now,
			want: Decision{Effect: Release},
		},
		"a launch that was fenced and left no driver": {
			record: submitted().Fenced().Obj(), policy: plain(), seen: gone, now: now,
			news: released("2/0", " | final Deleted"),
		},
		"a launch that came back while the application was deleted keeps the driver's uid for the release": {
			record: submitted().Fenced().Obj(), policy: plain(), now: now,
			seen:    Observation{Deleted: at(time.Hour), Launched: driverUID},
			changed: true, want: Decision{Effect: Release},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID},
		},
		"a launch that was refused while the application was deleted left nothing": {
			record: submitted().Fenced().Obj(), policy: plain(), now: now,
			seen: Observation{Deleted: at(time.Hour), LaunchRefused: &quota},
			news: released("2/0", " | final Deleted"),
		},
		"a driver whose release is accepted is waited for until it is forced": {
			record: submitted().Running().Obj(), policy: plain(), now: now,
			seen: Observation{Deleted: at(time.Hour), Driver: readyDriver, ReleaseAccepted: true},
			want: Decision{Held: HeldDriverTerminating, LookAgain: at(time.Hour + 8*time.Minute)},
		},
		"a driver that stopped and whose release is accepted is let go": {
			record: submitted().Running().Obj(), policy: plain(), now: now,
			seen: Observation{Deleted: at(time.Hour), Driver: ended(Failed, appFailure), ReleaseAccepted: true},
			news: released("6/0", " | final Deleted"),
		},
		"an attempt that ended keeps its outcome": {
			record: submitted().Running().Ended(Succeeded).Obj(), policy: plain(), seen: gone, now: now,
			news: released("7/0", " | final Succeeded"),
		},
		"an attempt that awaits a verdict keeps its outcome, and awaits no more": {
			record: submitted().Running().EndedRestartable(Failed).Obj(), policy: restartable, seen: gone, now: now,
			news: released("7/0", " | final Failed"),
		},
		"an attempt that is to be restarted is not": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: restartable, seen: gone, now: now,
			news: released("7/0", " | final Failed"),
		},
		"a restart that waits for its instant is called off": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, at(2*time.Hour), "").Restarting().Obj(),
			policy: restartable, seen: deleted, now: now,
			news: []string{"8/1 ResourceReleased: " + deletedMessage + " | final Deleted"},
		},
		"a retained driver is released": {
			record: submitted().Running().Ended(Failed).Retained().Obj(), policy: plain(retains(RetainAlways, -1)),
			seen: deleted, now: now,
			want: Decision{Effect: Release},
		},
		"a retained application's end is not told again": {
			record: submitted().Running().Ended(Failed).Retained().Obj(), policy: plain(retains(RetainAlways, -1)),
			seen: gone, now: now,
			news: released("8/0", ""),
		},
		"an application that was released is let go without a word": {
			record: submitted().Running().Ended(Failed).Released().Obj(), policy: plain(), seen: deleted, now: now,
		},
	}
	for _, state := range States {
		switch {
		case state == ResourceReleased, state == TerminatedWithoutReleaseResources:
			continue // above, with their histories
		default:
			tests["a driver is released first in state "+string(state)] = decideCase{
				record: submitted().Requested().In(state).Obj(), policy: restartable, seen: deleted, now: now,
				want: Decision{Effect: Release},
			}
			tests["a driver that is gone ends the application in state "+string(state)] = decideCase{
				record: submitted().Requested().In(state).Obj(), policy: restartable, seen: gone, now: now,
				news: released("4/0", " | final Deleted"),
			}
		}
	}
	runDecideCases(t, tests)
}

func TestDecideOnADriverThatDoesNotGo(t *testing.T) {
	failed := submitted().Running().After(time.Hour).Ended(DriverReadyTimedOut)
	patient := plain(func(p *Policy) { p.Timeouts.ForceTermination = 0 })
	runDecideCases(t, map[string]decideCase{
		"it is waited for until the grace is over": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + 8*time.Minute - time.Nanosecond),
			seen: Observation{Driver: terminating(at(time.Hour))},
			want: Decision{Held: HeldDriverTerminating, LookAgain: at(time.Hour + 8*time.Minute)},
		},
		"it is forced when the grace is over": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + 8*time.Minute),
			seen: Observation{Driver: terminating(at(time.Hour))},
			want: Decision{Held: HeldDriverTerminating, Effect: ForceRelease},
		},
		"it is not forced twice in a row": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + 8*time.Minute),
			seen: Observation{Driver: terminating(at(time.Hour)), ReleaseAccepted: true},
			want: Decision{Held: HeldDriverTerminating},
		},
		"its grace begins with its deletion, where that came long after the end": {
			record: failed.Obj(), policy: plain(), now: at(5 * time.Hour),
			seen: Observation{Driver: terminating(at(5*time.Hour - time.Minute))},
			want: Decision{Held: HeldDriverTerminating, LookAgain: at(5*time.Hour + 7*time.Minute)},
		},
		"its grace begins now, where its deletion was accepted just now": {
			record: failed.Obj(), policy: plain(), now: at(5 * time.Hour),
			seen: Observation{Driver: startedDriver, ReleaseAccepted: true},
			want: Decision{Held: HeldDriverTerminating, LookAgain: at(5*time.Hour + 8*time.Minute)},
		},
		"its grace begins with the end, where somebody deleted it before": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + time.Minute),
			seen: Observation{Driver: terminating(at(time.Minute))},
			want: Decision{Held: HeldDriverTerminating, LookAgain: at(time.Hour + 8*time.Minute)},
		},
		"it is waited for without a bound where there is no grace": {
			record: failed.Obj(), policy: patient, now: at(1e6 * time.Hour),
			seen: Observation{Driver: terminating(at(time.Hour))},
			want: Decision{Held: HeldDriverTerminating},
		},
		"a deleted application's driver is forced from the deletion on": {
			record: submitted().Running().Obj(), policy: plain(), now: at(2*time.Hour + 8*time.Minute),
			seen: Observation{Driver: terminating(at(2 * time.Hour)), Deleted: at(2 * time.Hour)},
			want: Decision{Held: HeldDriverTerminating, Effect: ForceRelease},
		},
		"it lets the application end as soon as it stopped": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + time.Minute),
			seen: Observation{Driver: &Driver{Stopped: true, Terminating: true, TerminatingSince: at(time.Hour)}},
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed"},
		},
	})
}

func TestDecideOnARecordThatCannotBeUnderstood(t *testing.T) {
	always := plain(restarts(RestartAlways))
	const sorry = "Cannot process application status."
	runDecideCases(t, map[string]decideCase{
		"a record without transitions fails for good": {
			record: &v1alpha1.Record{}, policy: always, now: start,
			news: []string{
				"1/0 Failed: " + sorry + " | ended Failed, infrastructure, UnknownState",
				"2/0 ResourceReleased | final Failed",
			},
		},
		"a record without transitions releases the driver that it names": {
			record: &v1alpha1.Record{Launch: &v1alpha1.Launch{DriverPod: "p", DriverUID: driverUID}}, policy: always, now: start,
			news: []string{"1/0 Failed [p ]: " + sorry + " | ended Failed, infrastructure, UnknownState"},
			want: Decision{Effect: Release},
		},
		"a state that nobody knows fails for good, whatever the restart policy": {
			record: submitted().Requested().In("Dreaming").Obj(), policy: always, now: start, seen: Observation{DriverGone: true},
			news: []string{
				"4/0 Failed [pi-0-driver pi-0]: " + sorry + " | ended Failed, infrastructure, UnknownState",
				"5/0 ResourceReleased [pi-0-driver pi-0] | final Failed",
			},
		},
		"a requested driver without a launch fails for good": {
			record: submitted().In(DriverRequested).Obj(), policy: always, now: start,
			news: []string{
				"3/0 Failed: " + sorry + " | ended Failed, infrastructure, UnknownLaunch",
				"4/0 ResourceReleased | final Failed",
			},
		},
		"a running driver without a launch fails for good": {
			record: submitted().In(RunningHealthy).Obj(), policy: always, now: start,
			news: []string{
				"3/0 Failed: " + sorry + " | ended Failed, infrastructure, UnknownLaunch",
				"4/0 ResourceReleased | final Failed",
			},
		},
		"an end that does not say how fails for good": {
			record: submitted().Requested().In(Succeeded).Verdict(true, time.Time{}, "").Obj(), policy: always, now: start,
			news: []string{"4/0 Failed [pi-0-driver pi-0]: " + sorry + " | ended Failed, infrastructure, UnknownEnd"},
			want: Decision{Effect: Release},
		},
		"an end without an outcome is a failure": {
			record: submitted().Requested().Ended(Failed).
				With(func(r *v1alpha1.Record) { Current(r).End.Outcome = "" }).Obj(),
			policy: plain(), now: start, seen: Observation{DriverGone: true},
			news: []string{"4/0 ResourceReleased [pi-0-driver pi-0] | final Failed"},
		},
		"a sequence that fell behind its transitions catches up": {
			record: submitted().Fenced().With(func(r *v1alpha1.Record) { r.Sequence, r.Transitions[0].Sequence = 3, 7 }).Obj(),
			policy: plain(), now: start, seen: Observation{Launched: driverUID},
			news: []string{
				"7/0 Submitted",
				"8/0 DriverRequested [pi-0-driver pi-0]: Requested driver from resource scheduler.",
			},
			want: Decision{LookAgain: at(5 * time.Minute)},
		},
	})
}

func TestDecideNeverTakesAnAcknowledgementBeyondWhatWasTold(t *testing.T) {
	record := submitted().Requested().With(func(r *v1alpha1.Record) { r.Acknowledged = 99 }).Obj()
	got, _ := Decide(record, plain(), Observation{Driver: startedDriver}, start)
	if got.Sequence != 3 || got.Acknowledged != 2 {
		t.Errorf("transition %d is decided and %d acknowledged, want 3 and 2", got.Sequence, got.Acknowledged)
	}
}

func TestDecideKeepsTheDriversStatusOfAFailure(t *testing.T) {
	status := corev1.PodStatus{Phase: corev1.PodFailed, Message: "It broke."}
	broken := &Driver{End: &End{State: Failed, Cause: appFailure}, Stopped: true, Status: &status}
	finished := &Driver{End: &End{State: Succeeded}, Stopped: true, Status: &status}
	tests := map[string]struct {
		record *v1alpha1.Record
		seen   Observation
		now    time.Time
		want   *corev1.PodStatus
	}{
		"a failure keeps it":            {submitted().Running().Obj(), Observation{Driver: broken}, start, &status},
		"a success does not":            {submitted().Running().Obj(), Observation{Driver: finished}, start, nil},
		"a lost driver has none":        {submitted().Running().Obj(), Observation{DriverGone: true}, start, nil},
		"a driver's start has none yet": {submitted().Requested().Obj(), Observation{Driver: startedDriver}, start, nil},
		"a timeout keeps it": {submitted().Requested().Obj(), Observation{Driver: &Driver{Status: &status}},
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

func TestARecordSharesNothingWithWhatWasSeen(t *testing.T) {
	pod := driverPod().Phase(corev1.PodFailed).Container("driver", exited(1, "Error")).Obj()
	seen := Observation{Driver: ObserveDriver(pod, "")}
	got, _ := Decide(submitted().Running().Obj(), plain(), seen, start)
	end := news(submitted().Running().Obj(), got)[0]
	*end.End.ExitCode = 42
	end.DriverStatus.ContainerStatuses[0].Name = "changed"
	if *seen.Driver.End.Cause.ExitCode != 1 || pod.Status.ContainerStatuses[0].Name != "driver" {
		t.Error("what was seen changed with the record")
	}
}

// The upgrade of a stored record must not depend on when it was read back: what is decided is stored as decided.
func TestTimesAreKeptAsTheyAreStored(t *testing.T) {
	now := time.Date(2026, 3, 1, 13, 0, 0, 123456789, time.FixedZone("CET", 3600))
	want := time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)
	got, _ := Decide(nil, plain(), Observation{}, now)
	if got.Attempt.Since.Time != want {
		t.Errorf("the attempt is since %v, want %v", got.Attempt.Since.Time, want)
	}
	if got.Transitions[0].Time.Time != want {
		t.Errorf("the transition is of %v, want %v", got.Transitions[0].Time.Time, want)
	}
}

func TestCurrentAndLastEndOfNothing(t *testing.T) {
	for name, record := range map[string]*v1alpha1.Record{"no record": nil, "no transition": {}} {
		if diff := cmp.Diff(v1alpha1.Transition{}, Current(record)); diff != "" {
			t.Errorf("Current of %s (-want +got):\n%s", name, diff)
		}
		if end := LastEnd(record); end != nil {
			t.Errorf("LastEnd of %s is %v", name, end)
		}
	}
}

func TestLastEndIsOfTheCurrentAttempt(t *testing.T) {
	failed := submitted().Running().EndedRestartable(Failed)
	if got := LastEnd(failed.Obj()); got == nil || got.Sequence != 6 {
		t.Errorf("LastEnd is %v, want transition 6", got)
	}
	if got := LastEnd(failed.Restarting().Obj()); got != nil {
		t.Errorf("LastEnd of an attempt that lasts is %v", got)
	}
}

func TestExpiresAt(t *testing.T) {
	released := submitted().Running().After(time.Hour).Ended(Failed).After(time.Minute).Released().Obj()
	tests := map[string]struct {
		record *v1alpha1.Record
		policy Policy
		want   time.Time
		is     bool
	}{
		"no record does not expire":                      {nil, plain(ttl(0)), time.Time{}, false},
		"a running application does not expire":          {submitted().Running().Obj(), plain(ttl(0)), time.Time{}, false},
		"an application without a limit does not expire": {released, plain(), time.Time{}, false},
		"a retained application does not expire":         {submitted().Running().Ended(Failed).Retained().Obj(), plain(ttl(0)), time.Time{}, false},
		"a released application expires after its end":   {released, plain(ttl(time.Hour)), at(2 * time.Hour), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, is := ExpiresAt(test.record, test.policy)
			if is != test.is || !got.Equal(test.want) {
				t.Errorf("ExpiresAt = %v, %v, want %v, %v", got, is, test.want, test.is)
			}
		})
	}
}
