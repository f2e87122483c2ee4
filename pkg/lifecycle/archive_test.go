package lifecycle_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	lost := func() *v1alpha1.Record {
		return submitted().Running().Ended(Failed).With(func(r *v1alpha1.Record) { r.Launch.Released = true }).Obj()
	}
	late := func() *v1alpha1.Record { return submitted().Running().Ended(Failed).With(notArchived).Retained().Obj() }
	waiting := Decision{Awaits: AwaitsArchive, RequeueAt: at(wait)}
	runDecideCases(t, map[string]decideCase{
		"the release": {
			record: failed.Obj(), policy: once, now: at(time.Second), seen: Observation{Driver: archivedDriver("")}, want: waiting,
		},
		"the release, which follows the archive": {
			record: failed.Obj(), policy: once, now: at(time.Second), seen: Observation{Driver: archivedDriver(ArchivedWhole)},
			want: Decision{Effect: Release, ReleaseCanWait: true}, launch: launch("", false), // the write that follows says it
		},
		"the end, which says how much is archived": {
			record: failed.Obj(), policy: once, now: at(time.Second),
			seen: Observation{Driver: archivedDriver(ArchivedWhole), ReleaseAccepted: true},
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed"}, launch: launch(ArchivedWhole, true),
		},
		"the release, not beyond the bound": {
			record: failed.Obj(), policy: once, now: at(wait), seen: Observation{Driver: archivedDriver("")},
			want: Decision{Effect: Release, ReleaseCanWait: true}, launch: launch("", false),
		},
		"the end, which says that it was not in time": {
			record: failed.Obj(), policy: once, now: at(wait), seen: Observation{Driver: archivedDriver(""), ReleaseAccepted: true},
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed"}, launch: launch(ArchivedNot, true),
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
		"the end, for a moment, if the Pod is gone": {
			record: failed.Obj(), policy: once, now: at(time.Second), seen: Observation{Driver: archivedDriver(""), DriverGone: true},
			want: Decision{Awaits: AwaitsArchive, RequeueAt: at(3 * time.Second)},
		},
		"the end, not for long, if the Pod is gone": {
			record: failed.Obj(), policy: once, now: at(3 * time.Second), seen: Observation{DriverGone: true},
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed"}, launch: launch(ArchivedGone, true),
		},
		"the end, for a moment, if the Pod was lost": {
			record: lost(), policy: once, now: at(time.Second), want: Decision{Awaits: AwaitsArchive, RequeueAt: at(3 * time.Second)},
		},
		"the end, not for long, if the Pod was lost": {
			record: lost(), policy: once, now: at(3 * time.Second),
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed"}, launch: launch(ArchivedGone, true),
		},
		"the end of a driver that vanishes, for a moment": {
			record: submitted().Running().Obj(), policy: once, now: at(0), seen: Observation{DriverGone: true},
			news: []string{"6/0 Failed [pi-0-driver pi-0]: " + lostMessage + " | ended Failed, infrastructure, DriverLost"},
			want: Decision{Awaits: AwaitsArchive, RequeueAt: at(3 * time.Second)},
		},
		"nothing, if the Pod is gone after it was archived": {
			record: failed.Obj(), policy: once, now: at(time.Second), seen: Observation{Driver: archivedDriver(ArchivedWhole), DriverGone: true},
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed"}, launch: launch(ArchivedWhole, true),
		},
		"the retention": {
			record: failed.Obj(), policy: plain(archives(wait), retains(RetainAlways, -1)), now: at(time.Second),
			seen: Observation{Driver: archivedDriver("")}, want: waiting,
		},
		"a retained attempt that was not archived in time is archived late": {
			record: late(), policy: plain(archives(wait), retains(RetainAlways, -1)), now: at(10 * time.Minute),
			seen: Observation{Driver: archivedDriver("")}, want: Decision{Awaits: AwaitsArchive, RequeueAt: at(ArchiveLate)},
		},
		"a retained attempt, not for ever": {
			record: late(), policy: plain(archives(wait), retains(RetainAlways, -1)), now: at(ArchiveLate),
			seen: Observation{Driver: archivedDriver("")},
		},
		"a retained attempt that was archived late says so": {
			record: late(), policy: plain(archives(wait), retains(RetainAlways, -1)), now: at(10 * time.Minute),
			seen: Observation{Driver: archivedDriver(ArchivedWhole)}, changed: true, launch: launch(ArchivedWhole, false),
		},
		"the next attempt, once there is a verdict": {
			record: restarting.Obj(), policy: always, now: at(time.Second), seen: Observation{Driver: archivedDriver("")}, want: waiting,
		},
		"the verdict, which may be later than the wait is long": {
			record: submitted().Running().EndedRestartable(Failed).Obj(), policy: always, now: at(time.Second),
			seen: Observation{Driver: archivedDriver("")}, want: waiting,
		},
		"the verdict, not beyond the bound": {
			record: submitted().Running().EndedRestartable(Failed).Obj(), policy: always, now: at(wait),
			seen: Observation{Driver: archivedDriver("")}, want: Decision{Awaits: AwaitsVerdict},
		},
		"an archive that was late, before the verdict": {
			record: restarting.Obj(), policy: always, now: at(2 * wait), seen: Observation{Driver: archivedDriver(ArchivedWhole)},
			want: Decision{Effect: Release}, changed: true, launch: launch(ArchivedWhole, false),
		},
		"the next attempt, which follows the archive": {
			record: restarting.Obj(), policy: always, now: at(time.Second), seen: Observation{Driver: archivedDriver(ArchivedPartly)},
			want: Decision{Effect: Release}, changed: true, launch: launch(ArchivedPartly, false),
		},
		"the deletion after the end": {
			record: failed.Obj(), policy: once, now: at(time.Second), seen: Observation{Driver: archivedDriver(""), Deleted: at(time.Second)},
			want: waiting,
		},
		"the deletion of a driver that runs, for a moment": {
			record: submitted().Running().Obj(), policy: once, now: at(2 * time.Second), seen: Observation{Driver: readyDriver, Deleted: at(time.Second)},
			want: Decision{Awaits: AwaitsArchive, AwaitsSince: at(time.Second), RequeueAt: at(11 * time.Second)},
		},
		"the deletion of a driver that runs, not for long": {
			record: submitted().Running().Obj(), policy: once, now: at(11 * time.Second), seen: Observation{Driver: readyDriver, Deleted: at(time.Second)},
			want: Decision{Effect: Release}, changed: true, launch: launch(ArchivedNot, false),
		},
		"the suspension of a driver that runs, for a moment": {
			record: ofSpec().Running().In(Suspending).Obj(), policy: plain(interrupts, suspended, archives(wait)), now: at(time.Second),
			seen: Observation{Driver: readyDriver}, want: Decision{Awaits: AwaitsArchive, AwaitsSince: at(0), RequeueAt: at(10 * time.Second)},
		},
		"the suspension, which follows the archive": {
			record: ofSpec().Running().In(Suspending).Obj(), policy: plain(interrupts, suspended, archives(wait)), now: at(time.Second),
			seen: Observation{Driver: &Driver{Started: true, Ready: true, Archived: ArchivedPartly}},
			want: Decision{Effect: Release}, changed: true,
		},
		"an edit while the driver runs, for a moment": {
			record: ofSpec().Running().In(Invalidating).Obj(), policy: plain(interrupts, archives(wait)), now: at(time.Second),
			seen: Observation{Driver: readyDriver}, want: Decision{Awaits: AwaitsArchive, AwaitsSince: at(0), RequeueAt: at(10 * time.Second)},
		},
		"an attempt without a driver does not": {
			record: submitted().Ended(SchedulingFailure).Obj(), policy: once, now: at(time.Second),
			news: []string{"3/0 ResourceReleased | final Failed"},
		},
	})
}

// notArchived is an attempt that was not archived in time.
func notArchived(r *v1alpha1.Record) { r.Launch.Archived = string(ArchivedNot) }

func TestTheArchiveHandlerIsToldWhatIsDue(t *testing.T) {
	gone := func(r *v1alpha1.Record) { r.Launch.Archived, r.Launch.Released = string(ArchivedGone), true }
	whole := func(r *v1alpha1.Record) { r.Launch.Archived = string(ArchivedWhole) }
	deleted := metav1.NewTime(at(time.Hour))
	for name, test := range map[string]struct {
		record  *v1alpha1.Record
		deleted *metav1.Time
		want    State
	}{
		"no record":                                  {record: nil},
		"an attempt that runs":                       {record: submitted().Running().Obj()},
		"an attempt without a driver":                {record: submitted().Ended(SchedulingFailure).Obj()},
		"one that has ended":                         {record: submitted().Running().Ended(Failed).Obj(), want: Failed},
		"one that has ended and is archived":         {record: submitted().Running().Ended(Failed).With(whole).Obj()},
		"one that is being suspended":                {record: submitted().Running().In(Suspending).Obj(), want: Suspending},
		"one that runs an old spec":                  {record: submitted().Running().In(Invalidating).Obj(), want: Invalidating},
		"one whose application is deleted":           {record: submitted().Running().Obj(), deleted: &deleted, want: RunningHealthy},
		"one that waits for its driver":              {record: submitted().Fenced().Obj(), deleted: &deleted},
		"one that is suspended":                      {record: submitted().Running().In(Suspended).With(whole).Obj(), deleted: &deleted},
		"one that was not archived in time":          {record: submitted().Running().Ended(Succeeded).With(notArchived).Retained().Obj(), want: Succeeded},
		"one whose Pod was gone":                     {record: submitted().Running().Ended(Failed).With(gone).Released().Obj(), want: Failed},
		"one that ended before there was an archive": {record: submitted().Running().Ended(Succeeded).Retained().Obj()},
	} {
		t.Run(name, func(t *testing.T) {
			due := ToArchive(test.record, test.deleted)
			switch {
			case due == nil && test.want != "", due != nil && State(due.State) != test.want:
				t.Fatalf("due is %+v, want %s", due, test.want)
			case due != nil && test.deleted != nil && !due.Time.Time.Equal(test.deleted.Time):
				t.Errorf("it is due since %s, want the deletion", due.Time)
			}
		})
	}
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
