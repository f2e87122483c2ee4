package lifecycle_test

import (
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

const (
	stoppedEnd     = "The application was stopped: wrong day (by anna). | ended Failed, stopped, Stopped"
	neverAfterStop = "No attempt follows: the application was stopped."
	stopResumed    = "The application is stopped: it runs no more."
)

// stop sets a policy of an application that a user stopped.
func stop(p *Policy) { p.Stop = StoppedCause("wrong day (by anna)") }

func stoppedRecord(b *recordBuilder) *recordBuilder {
	return b.Ended(Failed).With(func(r *v1alpha1.Record) {
		end := r.Transitions[len(r.Transitions)-1].End
		end.Class, end.Reason = ClassStopped, "Stopped"
	})
}

func TestDecideOnAStop(t *testing.T) {
	stopped := plain(stop, restarts(RestartAlways), retains(RetainAlways, -1))
	released := "ResourceReleased: " + neverAfterStop + " | final Failed"
	failure := "It broke. | ended Failed, application, Error, exit 1"
	runDecideCases(t, map[string]decideCase{
		"a new application ends without a driver": {
			policy: stopped, now: start,
			news: []string{"1/0 Submitted: " + createdMessage, "2/0 Failed: " + stoppedEnd, "3/0 " + released},
		},
		"an application that waits for its launch ends without a driver": {
			record: submitted().Obj(), policy: stopped, now: at(time.Hour),
			seen: Observation{LaunchHeld: &Cause{Reason: "WaitingForQuota"}, RetryLaunchAt: at(2 * time.Hour)},
			news: []string{"2/0 Failed: " + stoppedEnd, "3/0 " + released},
		},
		"a suspended application of an API that does not interrupt ends without a driver": {
			record: submitted().Obj(), policy: plain(stop, suspended), now: start,
			news: []string{"2/0 Failed: " + stoppedEnd, "3/0 " + released},
		},
		"a back-off ends at once": {
			record: submitted().Running().EndedRestartable(Failed).Restarting().Verdict(true, at(time.Hour), "").With(func(r *v1alpha1.Record) { r.Verdict.Attempt = 0 }).Obj(),
			policy: stopped, now: start,
			news: []string{"8/1 Failed: " + stoppedEnd, "9/1 " + released},
		},
		"a launch that was fenced is looked for first": {
			record: submitted().Fenced().Obj(), policy: stopped, now: start,
			news: []string{"2/0 Failed [pi-0-driver pi-0]: " + stoppedEnd}, want: Decision{Effect: Release},
		},
		"a driver that was created meanwhile is recorded, and deleted": {
			record: submitted().Fenced().Obj(), policy: stopped, now: start, seen: Observation{Launched: driverUID},
			news: []string{"2/0 DriverRequested [pi-0-driver pi-0]: Requested driver from resource scheduler.", "3/0 Failed [pi-0-driver pi-0]: " + stoppedEnd},
			want: Decision{Effect: Release}, launch: submitted().Requested().Obj().Launch,
		},
		"it waits until an orphan driver is gone": {
			record: submitted().Obj(), policy: stopped, now: start, seen: Observation{HasOrphan: true},
			want: Decision{Held: HeldDriverTerminating},
		},
		"a driver that is not scheduled is deleted": {
			record: submitted().Requested().Obj(), policy: stopped, now: start, seen: Observation{Driver: requestedDriver},
			news: []string{"3/0 Failed [pi-0-driver pi-0]: " + stoppedEnd}, want: Decision{Effect: Release},
		},
		"a driver that runs is deleted, whatever the policies of restart and retention": {
			record: submitted().Running().Obj(), policy: stopped, now: start, seen: Observation{Driver: readyDriver},
			news: []string{"6/0 Failed [pi-0-driver pi-0]: " + stoppedEnd}, want: Decision{Effect: Release},
		},
		"a driver that is gone counts as stopped": {
			record: submitted().Running().Obj(), policy: stopped, now: start, seen: Observation{DriverGone: true},
			news:   []string{"6/0 Failed [pi-0-driver pi-0]: " + stoppedEnd, "7/0 ResourceReleased [pi-0-driver pi-0]: " + neverAfterStop + " | final Failed"},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID, Released: true},
		},
		"it ends once the driver is gone, also if the annotation is not there any more": {
			record: stoppedRecord(submitted().Running()).Obj(), policy: plain(restarts(RestartAlways), retains(RetainAlways, -1)), now: start,
			seen:   Observation{DriverGone: true},
			news:   []string{"7/0 ResourceReleased [pi-0-driver pi-0]: " + neverAfterStop + " | final Failed"},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID, Released: true},
		},
		"a controller that crashed before the deletion deletes the driver": {
			record: stoppedRecord(submitted().Running()).Obj(), policy: stopped, now: start, seen: Observation{Driver: readyDriver},
			want: Decision{Effect: Release},
		},
		"it waits for the driver's grace period": {
			record: stoppedRecord(submitted().Running()).Obj(), policy: stopped, now: at(time.Second), seen: Observation{Driver: terminating(start)},
			want: Decision{Held: HeldDriverTerminating, RequeueAt: at(8 * time.Minute)},
		},
		"a driver that has ended by itself keeps its end, and is not restarted": {
			record: submitted().Running().Obj(), policy: plain(stop, restarts(RestartAlways)), now: start, seen: Observation{Driver: ended(Failed, appFailure)},
			news: []string{"6/0 Failed [pi-0-driver pi-0]: " + failure}, want: Decision{Effect: Release, ReleaseCanWait: true},
		},
		"an attempt that waits for its verdict is not restarted": {
			record: submitted().Running().EndedRestartable(Failed).Obj(), policy: plain(stop, restarts(RestartAlways)), now: start,
			seen:   Observation{DriverGone: true},
			news:   []string{"7/0 ResourceReleased [pi-0-driver pi-0]: " + neverAfterStop + " | final Failed"},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID, Released: true},
		},
		"a verdict that comes with it is not followed": {
			record: submitted().Running().EndedRestartable(Succeeded).Verdict(true, start, "").Obj(), policy: plain(stop, restarts(RestartAlways)), now: start,
			seen:   Observation{DriverGone: true},
			news:   []string{"7/0 ResourceReleased [pi-0-driver pi-0]: " + neverAfterStop + " | final Succeeded"},
			launch: &v1alpha1.Launch{ID: "launch-0", DriverPod: "pi-0-driver", ApplicationID: "pi-0", DriverUID: driverUID, Released: true},
		},
		"what is over stays as it is": {
			record: submitted().Running().Ended(Succeeded).Retained().Obj(), policy: stopped, now: start,
		},
		"the time to live counts on": {
			record: stoppedRecord(submitted().Running()).Released().Obj(), policy: plain(stop, func(p *Policy) { p.TTL = time.Hour }), now: start,
			want: Decision{RequeueAt: at(time.Hour)},
		},
		"a spec that can never run says so": {
			record: submitted().Obj(), policy: plain(stop, refused), now: start,
			news: []string{"2/0 Failed: Client mode is not supported yet. | ended Failed, application, ClientModeUnsupported", "3/0 ResourceReleased | final Failed"},
		},
		"a driver that the user started runs on": {
			record: submitted().Running().With(byUser).Obj(), policy: stopped, seen: Observation{Driver: readyDriver}, now: start,
		},
		"a driver that the user started is followed on": {
			record: submitted().Fenced().With(byUser).Obj(), policy: stopped, now: start, want: Decision{Effect: Launch},
		},
	})
}

func TestDecideOnAStopInAnAPIThatInterrupts(t *testing.T) {
	stopped := plain(interrupts, stop)
	released := "ResourceReleased: " + neverAfterStop + " | final Failed"
	runDecideCases(t, map[string]decideCase{
		"a suspended application ends without a driver": {
			record: ofSpec().In(Suspended).Obj(), policy: plain(interrupts, suspended, stop), now: start,
			news: []string{"3/1 Resuming: " + stopResumed, "4/1 Failed: " + stoppedEnd, "5/1 " + released},
		},
		"it is not suspended first": {
			record: ofSpec().Running().Obj(), policy: plain(interrupts, suspended, stop), now: start, seen: Observation{Driver: readyDriver},
			news: []string{"6/0 Failed [pi-0-driver pi-0]: " + stoppedEnd}, want: Decision{Effect: Release},
		},
		"a driver that is being suspended is awaited": {
			record: ofSpec().Running().In(Suspending).Obj(), policy: plain(interrupts, suspended, stop), now: start,
			want: Decision{Effect: Release},
		},
		"a driver in state Unknown is deleted": {
			record: ofSpec().Running().In(Unknown).Obj(), policy: stopped, now: start, seen: Observation{Driver: &Driver{Unknown: true}},
			news: []string{"7/0 Failed [pi-0-driver pi-0]: " + stoppedEnd}, want: Decision{Effect: Release},
		},
		"an edit does not run it anew": {
			record: stoppedRecord(ofSpec().With(of("old")).Running()).Released().Obj(), policy: stopped, now: start,
		},
		"an edit that comes with it does not delay it": {
			record: ofSpec().With(of("old")).Running().Obj(), policy: stopped, now: start, seen: Observation{Driver: readyDriver},
			news: []string{"6/0 Failed [pi-0-driver pi-0]: " + stoppedEnd}, want: Decision{Effect: Release},
		},
		"an edit runs it anew once the annotation is gone": {
			record: stoppedRecord(ofSpec().With(of("old")).Running()).Released().Obj(), policy: plain(interrupts), now: start,
			news: []string{"8/0 Invalidating [pi-0-driver pi-0]: " + invalidatedMessage, "9/1 ScheduledToRestart: " + restartedMessage},
			want: Decision{Effect: Launch},
		},
		"without an edit it stays stopped once the annotation is gone": {
			record: stoppedRecord(ofSpec().Running()).Released().Obj(), policy: plain(interrupts), now: start,
		},
		"a run anew that an edit began ends without a driver": {
			record: ofSpec().With(of("old")).In(Invalidating).Obj(), policy: stopped, now: start,
			news: []string{"3/1 ScheduledToRestart: " + restartedMessage, "4/1 Failed: " + stoppedEnd, "5/1 " + released},
		},
	})
}

// Handlers of users judge by what the built-in one says, too.
func TestJudgeDeniesARestartAfterAStop(t *testing.T) {
	record := submitted().Running().EndedRestartable(Failed).Obj()
	verdict, judged := Judge(record, plain(stop, restarts(RestartAlways)))
	if !judged || verdict.Restart || verdict.Reason != neverAfterStop {
		t.Errorf("judged is %v, and the verdict %+v", judged, verdict)
	}
}

func TestTheReasonOfAStopIsASentence(t *testing.T) {
	for given, want := range map[string]string{
		"":                    "The application was stopped.",
		"wrong day (by anna)": "The application was stopped: wrong day (by anna).",
		"Wrong day. ":         "The application was stopped: Wrong day.",
	} {
		if got := StoppedCause(given).Message; got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
