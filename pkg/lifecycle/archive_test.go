package lifecycle_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func archives(wait time.Duration) func(*Policy) {
	return func(p *Policy) { p.ArchiveWait = wait }
}

func archivedDriver(how Archived) *Driver {
	driver := ended(Failed, appFailure)
	driver.Archived = how
	return driver
}

func TestWhatFollowsAnAttemptWaitsForTheArchive(t *testing.T) {
	const wait = 2 * time.Minute
	once, always := plain(archives(wait)), plain(restarts(RestartAlways), archives(wait))
	launch := func(how Archived, released bool) *v1alpha1.Launch {
		return &v1alpha1.Launch{
			ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID, Archived: string(how), Released: released,
		}
	}
	failed := submitted().Running().Ended(Failed)
	restarting := submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "")
	waiting := Decision{Awaits: AwaitsArchive, RequeueAt: at(wait)}
	runDecideCases(t, map[string]decideCase{
		"the release": {
			record: failed.Obj(), policy: once, now: at(time.Second), seen: Observation{Driver: archivedDriver("")}, want: waiting,
		},
		"the release, which follows the archive": {
			record: failed.Obj(), policy: once, now: at(time.Second), seen: Observation{Driver: archivedDriver(ArchivedWhole)},
			want: Decision{Effect: Release, ReleaseCanWait: true}, changed: true, launch: launch(ArchivedWhole, false),
		},
		"the release, not beyond the bound": {
			record: failed.Obj(), policy: once, now: at(wait), seen: Observation{Driver: archivedDriver("")},
			want: Decision{Effect: Release, ReleaseCanWait: true}, changed: true, launch: launch(ArchivedNot, false),
		},
		"the release of a driver that runs on, for a moment": {
			record: stoppedRecord(submitted().Running()).Obj(), policy: plain(archives(wait), stop), now: at(9 * time.Second), seen: Observation{Driver: readyDriver},
			want: Decision{Awaits: AwaitsArchive, RequeueAt: at(10 * time.Second)},
		},
		"the release of a driver that runs on, not for long": {
			record: stoppedRecord(submitted().Running()).Obj(), policy: plain(archives(wait), stop), now: at(10 * time.Second), seen: Observation{Driver: readyDriver},
			want: Decision{Effect: Release}, changed: true, launch: launch(ArchivedNot, false),
		},
		"the release of a driver that runs on, not longer than others wait": {
			record: stoppedRecord(submitted().Running()).Obj(), policy: plain(archives(time.Second), stop), now: at(0), seen: Observation{Driver: readyDriver},
			want: Decision{Awaits: AwaitsArchive, RequeueAt: at(time.Second)},
		},
		"the release of a driver whose sidecars run on": {
			record: failed.Obj(), policy: once, now: at(10 * time.Second), seen: Observation{Driver: &Driver{End: &End{State: Failed, Cause: appFailure}}},
			want: waiting,
		},
		"nothing, without an archive": {
			record: failed.Obj(), policy: plain(), now: at(time.Second), seen: Observation{Driver: archivedDriver("")},
			want: Decision{Effect: Release, ReleaseCanWait: true}, launch: launch("", false),
		},
		"nothing, if the Pod is gone": {
			record: failed.Obj(), policy: once, now: at(time.Second), seen: Observation{Driver: archivedDriver(""), DriverGone: true},
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed"}, launch: launch(ArchivedNot, true),
		},
		"the retention": {
			record: failed.Obj(), policy: plain(archives(wait), retains(RetainAlways, -1)), now: at(time.Second),
			seen: Observation{Driver: archivedDriver("")}, want: waiting,
		},
		"the next attempt, once there is a verdict": {
			record: restarting.Obj(), policy: always, now: at(time.Second), seen: Observation{Driver: archivedDriver("")}, want: waiting,
		},
		"the verdict does not": {
			record: submitted().Running().EndedRestartable(Failed).Obj(), policy: always, now: at(time.Second),
			seen: Observation{Driver: archivedDriver("")}, want: Decision{Awaits: AwaitsVerdict},
		},
		"the next attempt, which follows the archive": {
			record: restarting.Obj(), policy: always, now: at(time.Second), seen: Observation{Driver: archivedDriver(ArchivedPartly)},
			want: Decision{Effect: Release}, changed: true, launch: launch(ArchivedPartly, false),
		},
		"the deletion after the end": {
			record: failed.Obj(), policy: once, now: at(time.Second), seen: Observation{Driver: archivedDriver(""), Deleted: at(time.Second)},
			want: waiting,
		},
		"the deletion of a driver that runs does not": {
			record: submitted().Running().Obj(), policy: once, now: at(time.Second),
			seen: Observation{Driver: readyDriver, Deleted: at(time.Second)}, want: Decision{Effect: Release},
		},
		"an attempt without a driver does not": {
			record: submitted().Ended(SchedulingFailure).Obj(), policy: once, now: at(time.Second),
			news: []string{"3/0 ResourceReleased | final Failed"},
		},
	})
}

func TestAnnotationsOfOtherPodsShowNoArchive(t *testing.T) {
	for value, want := range map[string]Archived{
		"whole." + string(driverUID): ArchivedWhole, "partly." + string(driverUID): ArchivedPartly, "not." + string(driverUID): "",
		"whole.another": "", "whole": "", "": "", "true": "",
	} {
		pod := driverPod().Obj()
		pod.Annotations = map[string]string{ArchivedAnnotation: value}
		if got := ObserveDriver(pod, "").Archived; got != want {
			t.Errorf("%q is %q, want %q", value, got, want)
		}
	}
	pod := &corev1.Pod{}
	pod.UID = types.UID("x")
	pod.Annotations = map[string]string{ArchivedAnnotation: ArchivedValue(ArchivedPartly, pod)}
	if got := ObserveDriver(pod, "").Archived; got != ArchivedPartly {
		t.Errorf("the own annotation is %q", got)
	}
}
