package lifecycle_test

import (
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestDecideOnDeletion(t *testing.T) {
	deleted := Observation{Deleted: at(time.Hour)}
	gone := Observation{Deleted: at(time.Hour), DriverGone: true}
	now := at(time.Hour)
	restartable := plain(restarts(RestartAlways))
	released := func(sequence, outcome string) []string {
		return []string{sequence + " ResourceReleased [pi-0-driver pi-0]: " + deletedMessage + outcome}
	}
	tests := map[string]decideCase{
		"an application that was deleted before its first reconcile": {
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
		"an orphan driver is waited for before the application ends": {
			record: submitted().Obj(), policy: plain(), seen: Observation{Deleted: at(time.Hour), HasOrphan: true}, now: now,
			want: Decision{Held: HeldDriverTerminating},
		},
		"a suspended application ends": {
			record: submitted().Obj(), policy: plain(suspended), seen: deleted, now: now,
			news: []string{"2/0 ResourceReleased: " + deletedMessage + " | final Deleted"},
		},
		"an application with a refused spec ends": {
			record: submitted().Obj(), policy: plain(refused), seen: deleted, now: now,
			news: []string{"2/0 ResourceReleased: " + deletedMessage + " | final Deleted"},
		},
		"a launch that was fenced may have left a driver": {
			record: submitted().Fenced().Obj(), policy: plain(), seen: deleted, now: now,
			want: Decision{Effect: Release},
		},
		"a launch that was fenced and left no driver ends": {
			record: submitted().Fenced().Obj(), policy: plain(), seen: gone, now: now,
			news: released("2/0", " | final Deleted"),
		},
		"a launch that returns during a deletion records the driver's uid for the release": {
			record: submitted().Fenced().Obj(), policy: plain(), now: now,
			seen:    Observation{Deleted: at(time.Hour), Launched: driverUID},
			changed: true, want: Decision{Effect: Release},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID},
		},
		"a driver found at the release of a refused spec is recorded, so that it can be deleted by force": {
			record: submitted().Fenced().Ended(Failed).Obj(), policy: plain(), now: now,
			seen:    Observation{Launched: driverUID},
			changed: true, want: Decision{Effect: Release},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID},
		},
		"a launch that was refused while the application was deleted left nothing": {
			record: submitted().Fenced().Obj(), policy: plain(), now: now,
			seen: Observation{Deleted: at(time.Hour), LaunchRefused: &quota},
			news: released("2/0", " | final Deleted"),
		},
		"a driver whose release is accepted is waited for until it is deleted by force": {
			record: submitted().Running().Obj(), policy: plain(), now: now,
			seen: Observation{Deleted: at(time.Hour), Driver: readyDriver, ReleaseAccepted: true},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(time.Hour + 8*time.Minute)},
		},
		"a driver that stopped and whose release is accepted is released": {
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
		"an attempt with a verdict for a restart is not restarted": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: restartable, seen: gone, now: now,
			news: released("7/0", " | final Failed"),
		},
		"a restart that waits for its back-off is cancelled": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, at(2*time.Hour), "").Restarting().Obj(),
			policy: restartable, seen: deleted, now: now,
			news: []string{"8/1 ResourceReleased: " + deletedMessage + " | final Deleted"},
		},
		"a retained driver is released": {
			record: submitted().Running().Ended(Failed).Retained().Obj(), policy: plain(retains(RetainAlways, -1)),
			seen: deleted, now: now,
			want: Decision{Effect: Release},
		},
		"a retained application's end is not published again": {
			record: submitted().Running().Ended(Failed).Retained().Obj(), policy: plain(retains(RetainAlways, -1)),
			seen: gone, now: now,
			news: released("8/0", ""),
		},
		"a released application ends without a transition": {
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

func TestDecideOnATerminatingDriver(t *testing.T) {
	failed := submitted().Running().After(time.Hour).Ended(DriverReadyTimedOut)
	patient := plain(func(p *Policy) { p.Timeouts.ForceTermination = 0 })
	slow := terminating(at(time.Hour))
	slow.TerminatingUntil = at(2 * time.Hour)
	kept := withoutGrace(at(time.Hour))
	kept.Name, kept.Finalizers = "pi-0-driver", []string{"example.org/a"}
	runDecideCases(t, map[string]decideCase{
		"it is waited for until the force-termination limit": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + 8*time.Minute - time.Nanosecond),
			seen: Observation{Driver: terminating(at(time.Hour))},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(time.Hour + 8*time.Minute)},
		},
		"it is deleted by force at the force-termination limit": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + 8*time.Minute),
			seen: Observation{Driver: terminating(at(time.Hour))},
			want: Decision{Held: HeldDriverTerminating, Effect: ForceRelease},
		},
		"it is not deleted by force twice in a row": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + 8*time.Minute),
			seen: Observation{Driver: terminating(at(time.Hour)), ReleaseAccepted: true},
			want: Decision{Held: HeldDriverTerminating},
		},
		"the limit counts from its deletion, if that was long after the end": {
			record: failed.Obj(), policy: plain(), now: at(5 * time.Hour),
			seen: Observation{Driver: terminating(at(5*time.Hour - time.Minute))},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(5*time.Hour + 7*time.Minute)},
		},
		"the limit counts from now, if its deletion was accepted just now": {
			record: failed.Obj(), policy: plain(), now: at(5 * time.Hour),
			seen: Observation{Driver: startedDriver, ReleaseAccepted: true},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(5*time.Hour + 8*time.Minute)},
		},
		"the limit counts from the end, if it was deleted before": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + time.Minute),
			seen: Observation{Driver: terminating(at(time.Minute))},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(time.Hour + 8*time.Minute)},
		},
		"it is waited for without a bound if there is no limit": {
			record: failed.Obj(), policy: patient, now: at(1e6 * time.Hour),
			seen: Observation{Driver: terminating(at(time.Hour))},
			want: Decision{Held: HeldDriverTerminating},
		},
		"a deleted application's driver is deleted by force, counted from the deletion": {
			record: submitted().Running().Obj(), policy: plain(), now: at(2*time.Hour + 8*time.Minute),
			seen: Observation{Driver: terminating(at(2 * time.Hour)), Deleted: at(2 * time.Hour)},
			want: Decision{Held: HeldDriverTerminating, Effect: ForceRelease},
		},
		"it is never deleted by force within its own grace period": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + 59*time.Minute), seen: Observation{Driver: slow},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(2*time.Hour + killed)},
		},
		"it is deleted by force when its own grace period is over": {
			record: failed.Obj(), policy: plain(), now: at(2*time.Hour + killed), seen: Observation{Driver: slow},
			want: Decision{Held: HeldDriverTerminating, Effect: ForceRelease},
		},
		"it is deleted again if its deletion was interrupted": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + killed),
			seen: Observation{Driver: withoutGrace(at(time.Hour))},
			want: Decision{Held: HeldDriverTerminating, Effect: Release},
		},
		"it is deleted again if its deletion was interrupted, even without a force-termination limit": {
			record: failed.Obj(), policy: patient, now: at(time.Hour + killed),
			seen: Observation{Driver: withoutGrace(at(time.Hour))},
			want: Decision{Held: HeldDriverTerminating, Effect: Release},
		},
		"it is not deleted again at once": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour),
			seen: Observation{Driver: withoutGrace(at(time.Hour))},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(time.Hour + killed)},
		},
		"it is not deleted again twice in a row": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + killed),
			seen: Observation{Driver: withoutGrace(at(time.Hour)), ReleaseAccepted: true},
			want: Decision{Held: HeldDriverTerminating},
		},
		"it is not deleted again while its finalizers keep it": {
			record: failed.Obj(), policy: plain(), now: at(5 * time.Hour),
			seen: Observation{Driver: kept},
			want: Decision{Held: HeldDriverTerminating, HeldBy: kept.DescribeTerminating()},
		},
		"a deleted application's driver is deleted again if its deletion was interrupted": {
			record: submitted().Running().Obj(), policy: plain(), now: at(2*time.Hour + killed),
			seen: Observation{Driver: withoutGrace(at(2 * time.Hour)), Deleted: at(2 * time.Hour)},
			want: Decision{Held: HeldDriverTerminating, Effect: Release},
		},
		"the application ends as soon as it has stopped": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour + time.Minute),
			seen: Observation{Driver: &Driver{Stopped: true, Terminating: true, TerminatingSince: at(time.Hour)}},
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed"},
		},
	})
}
