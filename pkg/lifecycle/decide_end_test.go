package lifecycle_test

import (
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestDecideOnTheVerdict(t *testing.T) {
	always := plain(restarts(RestartAlways))
	stopped := Observation{Driver: ended(Failed, appFailure), ReleaseAccepted: true}
	runDecideCases(t, map[string]decideCase{
		"an end with a restart allowed awaits a verdict, and its driver stays until then": {
			record: submitted().Running().EndedRestartable(Failed).Obj(), policy: always, now: at(time.Hour),
			seen: Observation{Driver: ended(Failed, appFailure)},
			want: Decision{Awaits: AwaitsVerdict},
		},
		"a success may have a restart allowed": {
			record: submitted().Running().Obj(), policy: always, now: at(time.Hour),
			seen: Observation{Driver: ended(Succeeded, Cause{})},
			news: []string{"6/0 Succeeded [pi-0-driver pi-0] | ended Succeeded, restartable"},
			want: Decision{Awaits: AwaitsVerdict},
		},
		"a verdict on an earlier attempt is ignored": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Restarting().
				Running().EndedRestartable(Failed).Obj(),
			policy: always, now: at(time.Hour), seen: stopped,
			want: Decision{Awaits: AwaitsVerdict},
		},
		"a verdict on a later attempt is ignored": {
			record: submitted().Running().EndedRestartable(Failed).
				With(func(r *v1alpha1.Record) { r.Verdict = &v1alpha1.Verdict{Attempt: 1, Restart: true} }).Obj(),
			policy: always, now: at(time.Hour), seen: stopped,
			want: Decision{Awaits: AwaitsVerdict},
		},
		"a verdict for a restart releases the driver first": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: always, now: at(time.Hour), seen: Observation{Driver: ended(Failed, appFailure)},
			want: Decision{Effect: Release},
		},
		"a verdict for a restart releases the driver, even with retention": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: plain(restarts(RestartAlways), retains(RetainAlways, -1)), now: at(time.Hour),
			seen: Observation{Driver: ended(Failed, appFailure)},
			want: Decision{Effect: Release},
		},
		"a verdict for a restart is followed once the driver stopped and its deletion is accepted": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, at(time.Hour+time.Minute), "").Obj(),
			policy: always, now: at(time.Hour), seen: stopped,
			news: []string{"7/1 ScheduledToRestart"},
			want: Decision{RequeueAt: at(time.Hour + time.Minute)},
		},
		"a restart that releases a driver despite retention says so": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: plain(restarts(RestartAlways), retains(RetainAlways, -1)), now: at(time.Hour), seen: stopped,
			news: []string{"7/1 ScheduledToRestart: Application is configured to restart, resources created in current attempt would be force released."},
			want: Decision{Effect: Launch},
		},
		"a verdict for a restart is followed once the driver is gone": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: always, now: at(time.Hour), seen: Observation{DriverGone: true},
			news: []string{"7/1 ScheduledToRestart"},
			want: Decision{Effect: Launch},
		},
		"a verdict for a restart of a suspended application schedules the restart and holds the launch": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: plain(restarts(RestartAlways), suspended), now: at(time.Hour), seen: stopped,
			news: []string{"7/1 ScheduledToRestart"},
			want: Decision{Held: HeldSuspended},
		},
		"a verdict holds even if the spec was edited after it": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: plain(), now: at(time.Hour), seen: stopped,
			news: []string{"7/1 ScheduledToRestart"},
			want: Decision{Effect: Launch},
		},
		"a restart with a refused spec ends the application": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Obj(),
			policy: plain(restarts(RestartAlways), refused), now: at(time.Hour), seen: stopped,
			news: []string{
				"7/1 ScheduledToRestart",
				"8/1 Failed: Client mode is not supported yet. | ended Failed, application, ClientModeUnsupported",
				"9/1 ResourceReleased | final Failed",
			},
		},
		"the next attempt waits for all containers, not only for one that ended": {
			record: submitted().Running().EndedRestartable(Succeeded).Verdict(true, time.Time{}, "").Obj(),
			policy: always, now: at(time.Hour),
			seen: Observation{ReleaseAccepted: true, Driver: &Driver{Started: true, End: &End{State: Succeeded}}},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(time.Hour + 8*time.Minute)},
		},
		"a verdict against a restart ends the application with its reason": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(false, time.Time{}, "Not worth it.").Obj(),
			policy: always, now: at(time.Hour), seen: stopped,
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0]: Not worth it. | final Failed"},
		},
		"a verdict against a restart releases the driver first": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(false, time.Time{}, "").Obj(),
			policy: always, now: at(time.Hour), seen: Observation{Driver: ended(Failed, appFailure)},
			want: Decision{Effect: Release, ReleaseCanWait: true},
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
		"a driver that is not seen is waited for": {
			record: failed.Obj(), policy: plain(), now: at(time.Hour), seen: Observation{ReleaseAccepted: true},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(time.Hour + 8*time.Minute)},
		},
		"RetainNever does not retain": {
			record: failed.Obj(), policy: plain(retains(RetainNever, time.Hour)), now: at(time.Hour), seen: gone,
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Failed"},
		},
		"RetainOnFailure does not retain a success": {
			record: succeeded.Obj(), policy: plain(retains(RetainOnFailure, -1)), now: at(time.Hour), seen: gone,
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0] | final Succeeded"},
		},
		"RetainOnFailure retains a failure, with no bound": {
			record: failed.Obj(), policy: plain(retains(RetainOnFailure, -1)), now: at(time.Hour),
			news: []string{"7/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: " + keptMessage + " | final Failed"},
		},
		"RetainAlways retains a success until the retention is over": {
			record: succeeded.Obj(), policy: plain(retains(RetainAlways, time.Minute)), now: at(time.Hour),
			news: []string{"7/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: " + keptMessage + " | final Succeeded"},
			want: Decision{RequeueAt: at(time.Hour + time.Minute)},
		},
		"a retention of zero is over at once": {
			record: failed.Obj(), policy: plain(retains(RetainAlways, 0)), now: at(time.Hour), seen: gone,
			news: []string{
				"7/0 TerminatedWithoutReleaseResources [pi-0-driver pi-0]: " + keptMessage + " | final Failed",
				"8/0 ResourceReleased [pi-0-driver pi-0]: " + expiredMessage,
			},
		},
		"the limit that denies a restart is in the message": {
			record: submitted().Running().With(func(r *v1alpha1.Record) { r.Attempt.Restarts = 3 }).Ended(Failed).Obj(),
			policy: plain(restarts(RestartAlways)), now: at(time.Hour), seen: gone,
			news: []string{"7/0 ResourceReleased [pi-0-driver pi-0]: The maximum number of restart attempts (3) has been exceeded. | final Failed"},
		},
		"the limit that denies a restart is in the message of a retained application": {
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
		"a retained driver stays until the retention is over": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour)), now: at(2*time.Hour - time.Nanosecond),
			want: Decision{RequeueAt: at(2 * time.Hour)},
		},
		"a retained driver is released when the retention is over": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour)), now: at(2 * time.Hour),
			want: Decision{Effect: Release},
		},
		"a time to live that is shorter than the retention bounds it": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour), ttl(time.Minute)), now: at(time.Hour),
			want: Decision{RequeueAt: at(time.Hour + time.Minute)},
		},
		"a time to live that is longer than the retention does not": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour), ttl(24*time.Hour)), now: at(time.Hour),
			want: Decision{RequeueAt: at(2 * time.Hour)},
		},
		"a time to live bounds a retention without a bound": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, -1), ttl(time.Minute)), now: at(time.Hour),
			want: Decision{RequeueAt: at(time.Hour + time.Minute)},
		},
		"a retained driver that is released ends the retention, and the end is not published again": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour)), now: at(2 * time.Hour),
			seen: Observation{Driver: stopped, ReleaseAccepted: true},
			news: []string{"8/0 ResourceReleased [pi-0-driver pi-0]: " + expiredMessage},
		},
		"an application whose retained driver was deleted is retained until the retention is over": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour)), now: at(90 * time.Minute),
			seen: Observation{DriverGone: true}, changed: true,
			want:   Decision{RequeueAt: at(2 * time.Hour)},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID, Released: true},
		},
		"a removed retention is over": {
			record: kept.Obj(), policy: plain(retains(RetainNever, -1)), now: at(time.Hour + time.Minute),
			want: Decision{Effect: Release},
		},
		"a retention that no longer covers this end is over": {
			record: submitted().Running().After(time.Hour).Ended(Succeeded).Retained().Obj(),
			policy: plain(retains(RetainOnFailure, -1)), now: at(time.Hour + time.Minute),
			want: Decision{Effect: Release},
		},
		"a retention that was shortened below the elapsed time is over": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Second)), now: at(time.Hour + time.Minute),
			want: Decision{Effect: Release},
		},
		"a retained driver that stays terminating is deleted by force, counted from the end of the retention": {
			record: kept.Obj(), policy: plain(retains(RetainAlways, time.Hour)), now: at(2*time.Hour + 8*time.Minute),
			seen: Observation{Driver: terminating(at(2 * time.Hour))},
			want: Decision{Effect: ForceRelease, Held: HeldDriverTerminating},
		},
	})
}

func TestDecideOnTheTimeToLive(t *testing.T) {
	released := submitted().Running().After(time.Hour).Ended(Failed).After(time.Minute).Released()
	alone := released.Obj()
	alone.Transitions = alone.Transitions[len(alone.Transitions)-1:]
	keptAndReleased := submitted().Running().Ended(Failed).After(time.Hour).Retained().After(time.Hour).Released()
	runDecideCases(t, map[string]decideCase{
		"an application without a time to live stays for ever": {
			record: released.Obj(), policy: plain(), now: at(1e6 * time.Hour),
		},
		"an application lives on from its end, not from its release": {
			record: released.Obj(), policy: plain(ttl(time.Hour)), now: at(2*time.Hour - time.Nanosecond),
			want: Decision{RequeueAt: at(2 * time.Hour)},
		},
		"the time to live of a retained application begins with the retention": {
			record: keptAndReleased.Obj(), policy: plain(ttl(90 * time.Minute)), now: at(2 * time.Hour),
			want: Decision{RequeueAt: at(150 * time.Minute)},
		},
		"an application whose time to live is over awaits its deletion": {
			record: released.Obj(), policy: plain(ttl(time.Hour)), now: at(3 * time.Hour),
			want: Decision{Awaits: AwaitsDeletion, AwaitsSince: at(2 * time.Hour)},
		},
		"a time to live of zero is over at once": {
			record: released.Obj(), policy: plain(ttl(0)), now: at(time.Hour + time.Minute),
			want: Decision{Awaits: AwaitsDeletion, AwaitsSince: at(time.Hour)},
		},
		"a deleted application awaits nothing": {
			record: released.Obj(), policy: plain(ttl(0)), now: at(3 * time.Hour), seen: Observation{Deleted: at(2 * time.Hour)},
		},
		"a record with only the release counts from the release": {
			record: alone, policy: plain(ttl(time.Hour)), now: at(time.Hour + time.Minute),
			want: Decision{RequeueAt: at(2*time.Hour + time.Minute)},
		},
	})
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
			got, ok := ExpiresAt(test.record, test.policy)
			if ok != test.is || !got.Equal(test.want) {
				t.Errorf("ExpiresAt = %v, %v, want %v, %v", got, ok, test.want, test.is)
			}
		})
	}
}

func TestAnApplicationIsFinishedWhenNothingIsLeftToDo(t *testing.T) {
	for name, tt := range map[string]struct {
		record *v1alpha1.Record
		policy Policy
		want   bool
	}{
		"running":                  {submitted().Running().Obj(), plain(retains(RetainAlways, -1)), false},
		"ended, restart allowed":   {submitted().Running().EndedRestartable(Failed).Obj(), plain(retains(RetainAlways, -1)), false},
		"retained without a bound": {submitted().Running().Ended(Failed).Retained().Obj(), plain(retains(RetainAlways, -1)), true},
		"retained for a time":      {submitted().Running().Ended(Failed).Retained().Obj(), plain(retains(RetainAlways, time.Hour)), false},
		"retained, bounded by the time to live": {
			submitted().Running().Ended(Failed).Retained().Obj(), plain(retains(RetainAlways, -1), ttl(time.Hour)), false,
		},
		"released": {submitted().Running().Ended(Failed).Retained().Released().Obj(), plain(retains(RetainAlways, -1), ttl(time.Hour)), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Finished(tt.record, tt.policy); got != tt.want {
				t.Errorf("Finished is %t", got)
			}
		})
	}
}

// A handler deletes the application with the resourceVersion that it read: once the deletion is requested, nothing
// may write the object.
func TestAtRestUntilItsDeletionIsRequested(t *testing.T) {
	over := submitted().Running().Ended(Failed).Released().Obj()
	for name, tt := range map[string]struct {
		record *v1alpha1.Record
		policy Policy
		now    time.Time
		want   bool
	}{
		"finished, no time to live":         {over, plain(), at(1000 * time.Hour), true},
		"finished, within the time to live": {over, plain(ttl(time.Hour)), at(time.Hour - time.Second), true},
		"finished, time to live is over":    {over, plain(ttl(time.Hour)), at(time.Hour), false},
		"running":                           {submitted().Running().Obj(), plain(), start, false},
		"finished, time to live of zero":    {over, plain(ttl(0)), start, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := AtRest(tt.record, tt.policy, tt.now)
			if _, decision := Decide(tt.record, tt.policy, Observation{}, tt.now); got && decision.Awaits != AwaitsNothing {
				t.Errorf("handler %s is asked", decision.Awaits)
			}
			if got != tt.want {
				t.Errorf("AtRest is %t", got)
			}
		})
	}
}
