package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// attempts drives an application from end to end with the built-in handler's verdicts. Launches succeed at once, and
// a deleted driver is gone at once.
type attempts struct {
	t      *testing.T
	record *v1alpha1.Record
	policy Policy
	now    time.Time
}

// run lets the application run for a while and end, and follows the verdicts and back-offs. If the application
// restarts, it stops at the next attempt's running driver.
func (a *attempts) run(length time.Duration, state State) {
	a.t.Helper()
	a.settle(Observation{})
	a.now = a.now.Add(length)
	switch {
	case State(outbox.Current(a.record).State).Terminated():
		a.t.Fatalf("%s after the application ended", state)
	case state == SchedulingFailure:
		a.settle(Observation{LaunchRefused: &quota})
	default:
		a.settle(Observation{Driver: ended(state, appFailure)})
	}
	a.settle(Observation{DriverGone: true})
}

// settle decides until only a launch follows.
func (a *attempts) settle(seen Observation) {
	for range 10 {
		var decision Decision
		a.record, decision = Decide(a.record, a.policy, seen, a.now)
		verdict, due := Judge(a.record, a.policy)
		switch {
		case due:
			a.record.Verdict = &verdict
		case !decision.RequeueAt.IsZero() && State(outbox.Current(a.record).State) == ScheduledToRestart:
			a.now = decision.RequeueAt
		default:
			return
		}
	}
	a.t.Fatal("no end of decisions")
}

// launch makes the requested driver run.
func (a *attempts) launch() {
	id := a.record.Attempt.ID
	a.record.Launch = &v1alpha1.Launch{ID: fmt.Sprint(id), DriverPod: fmt.Sprintf("pi-%d-driver", id)}
	a.record, _ = Decide(a.record, a.policy, Observation{Launched: driverUID, Driver: readyDriver}, a.now)
}

// letters abbreviate ends.
var letters = map[rune]State{
	'F': Failed, 'S': Succeeded, 'Q': SchedulingFailure, 'E': DriverEvicted, 'T': DriverStartTimedOut, 'R': DriverReadyTimedOut,
}

func TestRestartSequences(t *testing.T) {
	unlimited := Restart{Policy: RestartAlways, MaxAttempts: 100, ResetAfter: -1}
	type counters struct{ Restarts, Failures, SchedulingFailures int64 }
	with := func(change func(*Restart)) Restart {
		restart := unlimited
		change(&restart)
		return restart
	}
	on := func(policy RestartPolicy) Restart { return with(func(r *Restart) { r.Policy = policy }) }
	failuresUpTo := func(total, failures int64) Restart {
		return with(func(r *Restart) { r.MaxAttempts, r.OnFailure.MaxAttempts = total, &failures })
	}
	tests := map[string]struct {
		restart Restart
		// ends are the ends of the attempts: (F)ailed, (S)ucceeded, scheduling failure (Q), (E)victed, start (T)imed
		// out, (R)eady timed out. Each attempt takes a minute.
		ends string
		// want are the counters of the attempt that follows; nil if the application ended.
		want *counters
		// stop is the message of the application's end.
		stop string
	}{
		"never does not restart":                {on(RestartNever), "F", nil, ""},
		"an unset policy does not restart":      {on(""), "F", nil, ""},
		"always restarts a success":             {on(RestartAlways), "S", &counters{1, 0, 0}, ""},
		"always restarts a failure":             {on(RestartAlways), "F", &counters{1, 1, 0}, ""},
		"failure does not restart a success":    {on(RestartOnFailure), "S", nil, ""},
		"failure restarts a failure":            {on(RestartOnFailure), "F", &counters{1, 1, 0}, ""},
		"failure restarts an eviction":          {on(RestartOnFailure), "E", &counters{1, 1, 0}, ""},
		"failure restarts a late readiness":     {on(RestartOnFailure), "R", &counters{1, 1, 0}, ""},
		"failure restarts a scheduling failure": {on(RestartOnFailure), "Q", &counters{1, 1, 1}, ""},

		"infrastructure failure does not restart a success":        {on(RestartOnInfrastructureFailure), "S", nil, ""},
		"infrastructure failure does not restart a failure":        {on(RestartOnInfrastructureFailure), "F", nil, ""},
		"infrastructure failure does not restart an eviction":      {on(RestartOnInfrastructureFailure), "E", nil, ""},
		"infrastructure failure does not restart a late readiness": {on(RestartOnInfrastructureFailure), "R", nil, ""},
		"infrastructure failure restarts a late start":             {on(RestartOnInfrastructureFailure), "T", &counters{1, 1, 0}, ""},
		"infrastructure failure restarts a scheduling failure":     {on(RestartOnInfrastructureFailure), "Q", &counters{1, 1, 1}, ""},

		"three restarts make four attempts": {with(func(r *Restart) { r.MaxAttempts = 3 }), "SSS", &counters{3, 0, 0}, ""},
		"the fourth restart is denied": {with(func(r *Restart) { r.MaxAttempts = 3 }), "SSSS", nil,
			"The maximum number of restart attempts (3) has been exceeded."},
		"a limit of zero allows no restart": {with(func(r *Restart) { r.MaxAttempts = 0 }), "F", nil,
			"The maximum number of restart attempts (0) has been exceeded."},

		// The sequences of the Apache operator's documentation: maxRestartAttempts=5, maxRestartOnFailure=2.
		"two failures in a row go on": {failuresUpTo(5, 2), "FF", &counters{2, 2, 0}, ""},
		"three failures in a row stop": {failuresUpTo(5, 2), "FFF", nil,
			"The maximum number of restart attempts on consecutive failures (2) has been exceeded."},
		"failures between successes go on": {failuresUpTo(5, 2), "FSFSF", &counters{5, 1, 0}, ""},
		"failures between successes stop at the general limit": {failuresUpTo(5, 2), "FSFSFS", nil,
			"The maximum number of restart attempts (5) has been exceeded."},
		"a success ends a row of failures": {failuresUpTo(5, 2), "FFSF", &counters{4, 1, 0}, ""},
		"the general limit is reported first": {failuresUpTo(2, 2), "FFF", nil,
			"The maximum number of restart attempts (2) has been exceeded."},
		"an eviction counts as a failure": {failuresUpTo(5, 2), "FEF", nil,
			"The maximum number of restart attempts on consecutive failures (2) has been exceeded."},

		"scheduling failures in a row are counted apart": {unlimited, "FQQ", &counters{3, 3, 2}, ""},
		"another failure ends a row of scheduling failures": {
			unlimited, "QQF", &counters{3, 3, 0}, ""},
		"a success ends both rows": {unlimited, "QQS", &counters{3, 0, 0}, ""},
		"scheduling failures have their own limit": {
			with(func(r *Restart) { r.OnSchedulingFailure.MaxAttempts = ptr.To[int64](1) }), "QQ", nil,
			"The maximum number of restart attempts on consecutive scheduling failures (1) has been exceeded."},
		"the limit on scheduling failures takes the place of that on failures": {
			with(func(r *Restart) {
				r.OnSchedulingFailure.MaxAttempts, r.OnFailure.MaxAttempts = ptr.To[int64](3), ptr.To[int64](1)
			}), "QQQ", &counters{3, 3, 3}, ""},
		"scheduling failures count as failures": {
			with(func(r *Restart) {
				r.OnSchedulingFailure.MaxAttempts, r.OnFailure.MaxAttempts = ptr.To[int64](3), ptr.To[int64](1)
			}), "QF", nil,
			"The maximum number of restart attempts on consecutive failures (1) has been exceeded."},
		"without a limit of their own scheduling failures are failures": {failuresUpTo(5, 1), "QQ", nil,
			"The maximum number of restart attempts on consecutive failures (1) has been exceeded."},

		"an attempt that was long enough resets the counters": {
			with(func(r *Restart) { r.ResetAfter = time.Minute }), "FFF", &counters{1, 0, 0}, ""},
		"an attempt that was too short does not": {
			with(func(r *Restart) { r.ResetAfter = time.Minute + time.Microsecond }), "FFF", &counters{3, 3, 0}, ""},
		"a reset at any length always resets": {
			with(func(r *Restart) { r.ResetAfter, r.MaxAttempts = 0, 1 }), "FFFFF", &counters{1, 0, 0}, ""},
		"the length of an attempt includes its back-off": {
			with(func(r *Restart) { r.ResetAfter, r.Backoff = 2*time.Minute, time.Minute }), "FF", &counters{1, 0, 0}, ""},
		"a reset does not allow a restart with a limit of zero": {
			with(func(r *Restart) { r.ResetAfter, r.MaxAttempts = 0, 0 }), "F", nil,
			"The maximum number of restart attempts (0) has been exceeded."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := &attempts{t: t, policy: plain(func(p *Policy) { p.Restart = test.restart }), now: start}
			for i, letter := range test.ends {
				a.settle(Observation{})
				if letters[letter] != SchedulingFailure {
					a.launch()
				}
				a.run(time.Minute, letters[letter])
				if got := a.record.Attempt.ID; i < len(test.ends)-1 && got != int64(i+1) {
					t.Fatalf("attempt %d follows %s, want %d:\n%s", got, test.ends[:i+1], i+1, strings.Join(describe(a.record.Transitions), "\n"))
				}
			}
			current := outbox.Current(a.record)
			if test.want == nil {
				if current.State != string(ResourceReleased) || current.Message != test.stop {
					t.Errorf("the application is %s with %q, want ResourceReleased with %q", current.State, current.Message, test.stop)
				}
				return
			}
			attempt := a.record.Attempt
			got := &counters{attempt.Restarts, attempt.FailureRestarts, attempt.SchedulingFailureRestarts}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("counters (-want +got):\n%s", diff)
			}
			if current.State != string(ScheduledToRestart) {
				t.Errorf("the application is %s, want ScheduledToRestart", current.State)
			}
		})
	}
}

// A history as the Apache operator writes it, including the previous attempt.
func TestARestartRecordsThePreviousAttempt(t *testing.T) {
	a := &attempts{t: t, policy: plain(restarts(RestartAlways)), now: start}
	for range 2 {
		a.settle(Observation{})
		a.launch()
		a.run(time.Minute, Failed)
	}
	want := []string{
		"1/0 Submitted: Spark application has been created on Kubernetes Cluster.",
		"2/0 DriverRequested [pi-0-driver ]: Requested driver from resource scheduler.",
		"3/0 DriverStarted [pi-0-driver ]: Driver has started running.",
		"4/0 DriverReady [pi-0-driver ]: Driver has reached ready state.",
		"5/0 RunningHealthy [pi-0-driver ]: Application is running healthy.",
		"6/0 Failed [pi-0-driver ]: It broke. | ended Failed, application, Error, exit 1, restartable",
		"7/1 ScheduledToRestart",
		"8/1 DriverRequested [pi-1-driver ]: Requested driver from resource scheduler.",
		"9/1 DriverStarted [pi-1-driver ]: Driver has started running.",
		"10/1 DriverReady [pi-1-driver ]: Driver has reached ready state.",
		"11/1 RunningHealthy [pi-1-driver ]: Application is running healthy.",
		"12/1 Failed [pi-1-driver ]: It broke. | ended Failed, application, Error, exit 1, restartable",
		"13/2 ScheduledToRestart",
	}
	if diff := cmp.Diff(want, describe(a.record.Transitions)); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
	// One minute of the first attempt, 30 s of back-off, one minute of the second: then the third waits.
	since := func(d time.Duration) metav1.MicroTime { return metav1.NewMicroTime(at(d)) }
	wantAttempt := v1alpha1.Attempt{ID: 2, Since: since(150 * time.Second), Restarts: 2, FailureRestarts: 2, Executions: 2, ActiveMillis: 120_000}
	wantPrevious := v1alpha1.Attempt{ID: 1, Since: since(60 * time.Second), Restarts: 1, FailureRestarts: 1, Executions: 1, ActiveMillis: 120_000}
	if diff := cmp.Diff([]v1alpha1.Attempt{wantAttempt, wantPrevious}, []v1alpha1.Attempt{a.record.Attempt, *a.record.Previous}); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}

	a.record.Acknowledged = a.record.Sequence
	a.record, _ = Decide(a.record, a.policy, Observation{}, a.now)
	if diff := cmp.Diff(want[6:], describe(a.record.Transitions)); diff != "" {
		t.Errorf("transitions once all is acknowledged (-want +got):\n%s", diff)
	}
}

func TestTheRestartPolicyJudgesEachEnd(t *testing.T) {
	always := plain(restarts(RestartAlways))
	end := func(state State) *v1alpha1.Record {
		return submitted().Running().After(time.Hour).EndedRestartable(state).Obj()
	}
	with := func(change func(*Restart)) Policy {
		policy := always
		change(&policy.Restart)
		return policy
	}
	second := time.Second
	tests := map[string]struct {
		record *v1alpha1.Record
		policy Policy
		// notBefore is the expected back-off of a restart; below zero for no restart.
		notBefore time.Duration
		reason    string
		mute      bool
	}{
		"a new application is not judged": {
			policy: always, mute: true,
		},
		"a malformed record is not judged": {
			record: submitted().In(Failed).Obj(), policy: always, mute: true,
		},
		"an attempt that lasts is not judged": {
			record: submitted().Running().Obj(), policy: always, mute: true,
		},
		"an end that allows no restart is not judged": {
			record: submitted().Running().Ended(Failed).Obj(), policy: always, mute: true,
		},
		"an attempt that waits for its launch is not judged": {
			record: submitted().Running().EndedRestartable(Failed).Restarting().Obj(), policy: always, mute: true,
		},
		"an application that ended is not judged": {
			record: submitted().Running().EndedRestartable(Failed).Released().Obj(), policy: always, mute: true,
		},
		"an end that was judged is not judged again": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(false, time.Time{}, "").Obj(), policy: always, mute: true,
		},
		"a restart waits for the back-off from the end on": {
			record: end(Failed), policy: always,
			notBefore: 30 * time.Second, reason: "Restart policy Always covers Failed.",
		},
		"a success waits for the general back-off": {
			record: end(Succeeded), policy: with(func(r *Restart) { r.OnFailure.Backoff = &second }),
			notBefore: 30 * time.Second, reason: "Restart policy Always covers Succeeded.",
		},
		"a failure may have its own back-off": {
			record: end(Failed), policy: with(func(r *Restart) { r.OnFailure.Backoff = &second }),
			notBefore: time.Second, reason: "Restart policy Always covers Failed.",
		},
		"a scheduling failure has the back-off of failures": {
			record: end(SchedulingFailure), policy: with(func(r *Restart) { r.OnFailure.Backoff = &second }),
			notBefore: time.Second, reason: "Restart policy Always covers SchedulingFailure.",
		},
		"a scheduling failure may have its own back-off": {
			record:    end(SchedulingFailure),
			policy:    with(func(r *Restart) { r.OnFailure.Backoff, r.OnSchedulingFailure.Backoff = &second, new(time.Duration) }),
			notBefore: 0, reason: "Restart policy Always covers SchedulingFailure.",
		},
		"a failure does not have the back-off of scheduling failures": {
			record: end(Failed), policy: with(func(r *Restart) { r.OnSchedulingFailure.Backoff = &second }),
			notBefore: 30 * time.Second, reason: "Restart policy Always covers Failed.",
		},
		"a linear back-off grows with the row of failures": {
			record: submitted().With(func(r *v1alpha1.Record) { r.Attempt.FailureRestarts = 2 }).Running().
				After(time.Hour).EndedRestartable(Failed).Obj(),
			policy:    with(func(r *Restart) { r.Linear, r.OnFailure.Backoff = true, &second }),
			notBefore: 3 * time.Second, reason: "Restart policy Always covers Failed.",
		},
		"a linear back-off of scheduling failures that are counted apart grows with their row": {
			record: submitted().With(func(r *v1alpha1.Record) { r.Attempt.FailureRestarts, r.Attempt.SchedulingFailureRestarts = 7, 1 }).
				Fenced().After(time.Hour).EndedRestartable(SchedulingFailure).Obj(),
			policy: with(func(r *Restart) {
				r.Linear, r.CountsApart, r.OnSchedulingFailure.Backoff = true, true, &second
			}),
			notBefore: 2 * time.Second, reason: "Restart policy Always covers SchedulingFailure.",
		},
		"a linear back-off never overflows": {
			record: submitted().With(func(r *v1alpha1.Record) { r.Attempt.FailureRestarts = 1e12 }).Running().
				After(time.Hour).EndedRestartable(Failed).Obj(),
			policy:    with(func(r *Restart) { r.Linear, r.Backoff = true, 100*365*24*time.Hour }),
			notBefore: 200 * 365 * 24 * time.Hour, reason: "Restart policy Always covers Failed.",
		},
		"a success has no row of failures, and waits for the general back-off": {
			record: submitted().With(func(r *v1alpha1.Record) { r.Attempt.FailureRestarts = 5 }).Running().
				After(time.Hour).EndedRestartable(Succeeded).Obj(),
			policy:    with(func(r *Restart) { r.Linear, r.Backoff, r.OnFailure.Backoff = true, 0, &second }),
			notBefore: 0, reason: "Restart policy Always covers Succeeded.",
		},
		"a policy that was edited since denies the restart": {
			record: end(Failed), policy: plain(),
			notBefore: -1, reason: "Restart policy Never does not cover Failed.",
		},
		"a limit that was edited since denies the restart": {
			record: end(Failed), policy: with(func(r *Restart) { r.MaxAttempts = 0 }),
			notBefore: -1, reason: "The maximum number of restart attempts (0) has been exceeded.",
		},
		"a verdict on an earlier attempt does not hold for this one": {
			record: submitted().Running().EndedRestartable(Failed).Verdict(true, time.Time{}, "").Restarting().
				Running().After(time.Hour).EndedRestartable(Failed).Obj(),
			policy: always, notBefore: 30 * time.Second, reason: "Restart policy Always covers Failed.",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := test.record.DeepCopy()
			got, ok := Judge(test.record, test.policy)
			if diff := cmp.Diff(before, test.record); diff != "" {
				t.Errorf("Judge changed the record (-before +after):\n%s", diff)
			}
			if ok == test.mute {
				t.Fatalf("Judge gives a verdict: %v, want %v", ok, !test.mute)
			}
			if test.mute {
				return
			}
			want := v1alpha1.Verdict{Attempt: test.record.Attempt.ID, Reason: test.reason}
			if test.notBefore >= 0 {
				due := metav1.NewMicroTime(at(time.Hour + test.notBefore))
				want.Restart, want.NotBefore = true, &due
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// When an attempt ends, the controller decides whether a restart is allowed; then the handler judges from the stored
// record. The lower precision of stored times must not make the two differ.
func TestTheEndAndItsVerdictAgree(t *testing.T) {
	policy := plain(restarts(RestartAlways), func(p *Policy) { p.Restart.ResetAfter, p.Restart.MaxAttempts = time.Minute, 1 })
	record := submitted().With(func(r *v1alpha1.Record) { r.Attempt.Restarts = 1 }).Running().Obj()
	record.Attempt.Since = metav1.NewMicroTime(start.Add(time.Microsecond))
	got, _ := Decide(record, policy, Observation{DriverGone: true}, at(time.Minute+999*time.Nanosecond))
	if outbox.LastEnd(got).End.RestartAllowed {
		t.Error("an attempt of less than a minute reset the counters")
	}
}

// Two launches fail before each of two runs that fail: each kind has its own row and its own limit.
func TestRestartsCountSchedulingFailuresSeparately(t *testing.T) {
	policy := plain(restarts(RestartOnFailure), func(p *Policy) {
		p.Restart.CountsApart, p.Restart.MaxAttempts, p.Restart.Backoff = true, Unlimited, 0
		p.Restart.OnFailure.MaxAttempts, p.Restart.OnSchedulingFailure.MaxAttempts = ptr.To[int64](1), ptr.To[int64](2)
	})
	a := &attempts{t: t, policy: policy, now: start}
	for range 2 {
		a.run(time.Second, SchedulingFailure)
		a.run(time.Second, SchedulingFailure)
		a.settle(Observation{})
		a.launch()
		a.run(time.Minute, Failed)
	}
	if end := outbox.LastEnd(a.record); end == nil || end.State != string(Failed) || end.End.RestartAllowed {
		t.Fatalf("the last end is %+v, want the second failure, for good", end)
	}
	want := v1alpha1.Attempt{
		ID: 5, Since: a.record.Attempt.Since, Restarts: 5, FailureRestarts: 1, SchedulingFailureRestarts: 2, Executions: 1, ActiveMillis: 120_000,
	}
	if diff := cmp.Diff(want, a.record.Attempt); diff != "" {
		t.Errorf("attempt (-want +got):\n%s", diff)
	}
	if executions, submissions := Executions(a.record), Submissions(a.record); executions != 2 || submissions != 3 {
		t.Errorf("%d executions and %d submissions, want 2 and 3", executions, submissions)
	}
}

func TestRestartsWithoutLimit(t *testing.T) {
	policy := plain(restarts(RestartAlways), func(p *Policy) { p.Restart.MaxAttempts = Unlimited })
	record := submitted().With(func(r *v1alpha1.Record) { r.Attempt.Restarts = 1e6 }).Running().Obj()
	got, _ := Decide(record, policy, Observation{Driver: ended(Succeeded, Cause{})}, start)
	if end := outbox.LastEnd(got); end == nil || !end.End.RestartAllowed {
		t.Errorf("no restart is allowed after %s", outbox.Current(got).State)
	}
}
