package lifecycle_test

import (
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestDecideOnLaunch(t *testing.T) {
	runDecideCases(t, map[string]decideCase{
		"a new application is submitted and launched": {
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
		"a launch that was fenced is resumed even if the application is suspended now": {
			record: submitted().Fenced().Obj(), policy: plain(suspended), now: at(time.Second),
			want: Decision{Effect: Launch},
		},
		"a launch waits for an orphan driver to be gone": {
			record: submitted().Obj(), policy: plain(), now: at(time.Second), seen: Observation{HasOrphan: true},
			want: Decision{Held: HeldDriverTerminating},
		},
		"a resumed launch waits for an orphan driver to be gone": {
			record: submitted().Fenced().Obj(), policy: plain(), now: at(time.Second), seen: Observation{HasOrphan: true},
			want: Decision{Held: HeldDriverTerminating},
		},
		"a restart waits for an orphan driver to be gone": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, start, "").Obj(), policy: plain(), now: start,
			seen: Observation{DriverGone: true, HasOrphan: true},
			news: []string{"7/1 ScheduledToRestart"},
			want: Decision{Held: HeldDriverTerminating},
		},
		"a driver that was launched is requested, and its uid is recorded": {
			record: submitted().Fenced().Obj(), policy: plain(), now: at(time.Second),
			seen:   Observation{Launched: driverUID},
			news:   []string{"2/0 DriverRequested [pi-0-driver pi-0]: Requested driver from resource scheduler."},
			want:   Decision{RequeueAt: at(time.Second + 5*time.Minute)},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID},
		},
		"a launch that has to wait is not started": {
			policy: plain(), now: start, seen: Observation{LaunchHeld: &Cause{Reason: "PodTemplateUnavailable"}},
			news: []string{"1/0 Submitted: Spark application has been created on Kubernetes Cluster."},
			want: Decision{Obstacle: &Cause{Reason: "PodTemplateUnavailable"}},
		},
		"the warnings of a launch are recorded": {
			record: submitted().Fenced().Obj(), policy: plain(), now: at(time.Second),
			seen: Observation{Launched: driverUID, LaunchWarnings: []string{"No route."}},
			news: []string{"2/0 DriverRequested [pi-0-driver pi-0]: Requested driver from resource scheduler."},
			want: Decision{RequeueAt: at(time.Second + 5*time.Minute)},
			launch: &v1alpha1.Launch{
				ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID, Warnings: []string{"No route."},
			},
		},
		"the address of the UI is recorded": {
			record: submitted().Fenced().Obj(), policy: plain(), now: at(time.Second),
			seen: Observation{Launched: driverUID, UI: UI{Port: 4040, Host: "10.0.0.7", URL: "https://pi.example.com"}},
			news: []string{"2/0 DriverRequested [pi-0-driver pi-0]: Requested driver from resource scheduler."},
			want: Decision{RequeueAt: at(time.Second + 5*time.Minute)},
			launch: &v1alpha1.Launch{
				ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID,
				UIPort: 4040, UIHost: "10.0.0.7", UIURL: "https://pi.example.com",
			},
		},
		"a driver that already runs when first seen advances at once": {
			record: submitted().Fenced().Obj(), policy: plain(), now: at(time.Second),
			seen: Observation{Launched: driverUID, Driver: readyDriver},
			news: []string{
				"2/0 DriverRequested [pi-0-driver pi-0]: Requested driver from resource scheduler.",
				"3/0 DriverStarted [pi-0-driver pi-0]: Driver has started running.",
				"4/0 DriverReady [pi-0-driver pi-0]: Driver has reached ready state.",
				"5/0 RunningHealthy [pi-0-driver pi-0]: Application is running healthy.",
			},
		},
		"the observation of the previous attempt does not apply to the new driver": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, start, "").Restarting().Fenced().Obj(),
			policy: plain(), now: start,
			seen: Observation{Launched: "driver-1", DriverGone: true, ReleaseAccepted: true, Driver: &Driver{
				UID: "driver-0", End: &End{State: Failed, Cause: appFailure}, Stopped: true,
			}},
			news: []string{"8/1 DriverRequested [pi-1-driver pi-1]: Requested driver from resource scheduler."},
			want: Decision{RequeueAt: at(5 * time.Minute)},
		},
		"a driver that was launched without a fence is released first": {
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
		"a new suspended application is submitted and held": {
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
			want: Decision{RequeueAt: at(time.Minute)},
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
		"a launch that is refused and left a Pod releases it first": {
			record: submitted().Fenced().Obj(), policy: plain(), now: at(time.Second),
			seen:   Observation{LaunchRefused: &quota, Launched: driverUID},
			news:   []string{"2/0 SchedulingFailure [pi-0-driver pi-0]: exceeded quota | ended Failed, scheduling, Forbidden"},
			want:   Decision{Effect: Release},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID},
		},
		"an incomplete launch is released even with retention": {
			record: submitted().Fenced().Obj(), policy: plain(retains(RetainAlways, -1)), now: at(time.Second),
			seen: Observation{LaunchRefused: &quota, Launched: driverUID},
			news: []string{"2/0 SchedulingFailure [pi-0-driver pi-0]: exceeded quota | ended Failed, scheduling, Forbidden"},
			want: Decision{Effect: Release},
		},
		"a released incomplete launch leaves a retained application without a driver": {
			record: submitted().Requested().Ended(SchedulingFailure).Obj(), policy: plain(retains(RetainAlways, -1)),
			seen: Observation{DriverGone: true}, now: at(time.Second),
			news: []string{"4/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: " + keptMessage + " | final Failed"},
		},
		"a launch that is refused awaits a verdict if the spec allows a restart": {
			record: submitted().Fenced().Obj(), policy: plain(restarts(RestartOnInfrastructureFailure)), now: at(time.Second),
			seen: Observation{LaunchRefused: &quota},
			news: []string{"2/0 SchedulingFailure [pi-0-driver pi-0]: exceeded quota | ended Failed, scheduling, Forbidden, restartable"},
			want: Decision{Awaits: AwaitsVerdict},
		},
		"a refusal applies to one launch only, even if its verdict is already there": {
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
		"a spec that is refused after the fence releases the driver": {
			record: submitted().Fenced().Obj(), policy: plain(refused), now: start,
			news: []string{"2/0 Failed [pi-0-driver pi-0]: Client mode is not supported yet. | ended Failed, application, ClientModeUnsupported"},
			want: Decision{Effect: Release},
		},
		"a spec that is refused while its driver runs lets it run": {
			record: submitted().Running().Obj(), policy: plain(refused), seen: Observation{Driver: readyDriver}, now: start,
		},
	})
}
