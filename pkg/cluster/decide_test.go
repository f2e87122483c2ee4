package cluster_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// plain asks for two workers, and gives the master five minutes.
var plain = Policy{NeededWorkers: 2, MasterStartTimeout: 5 * time.Minute, Spec: hashed("one")}

// bounded is plain with a bound of the deletion.
var bounded = Policy{NeededWorkers: 2, MasterStartTimeout: 5 * time.Minute, DeletionGrace: time.Minute, Spec: hashed("one")}

var (
	well       = &Master{Alive: true, Workers: 2}
	tooFew     = &Master{Alive: true, Workers: 1}
	recovering = &Master{Workers: 2}
	closed     = &Master{Closed: true, Problem: "it answers 403"}
	refused    = &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: "Forbidden", Message: "StatefulSet pi-master: exceeded quota."}
)

func silentSince(since time.Time) *Master {
	return &Master{FailingSince: since, Problem: "the connection is refused"}
}

// hashed is a spec with a hash.
func hashed(hash string) spec.Spec { return spec.Spec{Hash: func(int64) string { return hash }} }

// noted is what a record says of such a spec.
func noted(hash string) *v1alpha1.AttemptSpec {
	return &v1alpha1.AttemptSpec{Hash: hash, HashVersion: spec.HashVersion}
}

// in is a record that came into these states, the last of them at the start.
func in(states ...State) *v1alpha1.Record {
	record := &v1alpha1.Record{Attempt: v1alpha1.Attempt{Since: outbox.RecordTime(start), Spec: noted("one")}}
	for _, state := range states {
		t := v1alpha1.Transition{State: string(state), Message: "Once."}
		if state.AttemptEnded() {
			t.End = &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed, Reason: "Forbidden", Message: "No."}
		}
		outbox.Append(record, t, start)
	}
	return record
}

func running() *v1alpha1.Record  { return in(Submitted, RunningHealthy) }
func degraded() *v1alpha1.Record { return in(Submitted, RunningHealthy, Degraded) }
func released() *v1alpha1.Record { return in(Submitted, Failed, ResourceReleased) }

// with is a policy but for a change.
func with(change func(*Policy)) Policy {
	policy := plain
	change(&policy)
	return policy
}

func states(record *v1alpha1.Record) []State {
	var all []State
	for _, t := range record.Transitions {
		all = append(all, State(t.State))
	}
	return all
}

func at(after time.Duration) time.Time { return start.Add(after) }

func TestDecide(t *testing.T) {
	made := Observation{Ensured: true, Created: start}
	withMaster := func(master *Master) Observation {
		seen := made
		seen.Master = master
		return seen
	}
	edited := with(func(p *Policy) { p.Spec = hashed("two") })
	suspended := with(func(p *Policy) { p.Suspend = true })
	never := with(func(p *Policy) {
		p.Refused = &lifecycle.Cause{Class: lifecycle.ClassApplication, Reason: "Invalid", Message: "min above max."}
	})
	toldReady := func(seen Observation) Observation {
		seen.Told = Readiness{Ready: true, Reason: "RunningHealthy"}
		return seen
	}
	going := &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: "NameNotFree", Message: "Something is on its way out."}
	patient := with(func(p *Policy) { p.MasterStartTimeout = 0 })
	for name, test := range map[string]struct {
		record *v1alpha1.Record
		policy Policy
		seen   Observation
		now    time.Time

		entered []State
		effect  Effect
		ask     time.Duration
		again   time.Time
		held    lifecycle.Held
		ready   bool
		reason  string
	}{
		"a new cluster is created": {
			entered: []State{Submitted}, effect: Ensure, reason: "Submitted",
		},
		"a suspended one is not": {
			policy:  suspended,
			entered: []State{Submitted}, held: lifecycle.HeldSuspended, reason: "Suspended",
		},
		"what is suspended after it was created goes on": {
			record: in(Submitted), policy: suspended, seen: Observation{Created: start},
			effect: Ensure, reason: "Submitted",
		},
		"one that can never run fails": {
			policy:  never,
			entered: []State{Submitted, Failed}, effect: Release, reason: "Invalid",
		},
		"one that is refused fails": {
			record: in(Submitted), seen: Observation{Ensured: true, Refused: refused},
			entered: []State{SchedulingFailure}, effect: Release, reason: "Forbidden",
		},
		"a created one asks its master": {
			record: in(Submitted), seen: made,
			ask: 2 * time.Second, again: at(30 * time.Second), reason: "Submitted",
		},
		"a master that does not answer yet is waited for": {
			record: in(Submitted), seen: withMaster(silentSince(start)), now: at(time.Second),
			ask: 2 * time.Second, again: at(30 * time.Second), reason: "Submitted",
		},
		"after a while it is told": {
			record: in(Submitted), seen: withMaster(silentSince(start)), now: at(30 * time.Second),
			ask: 2 * time.Second, again: at(5 * time.Minute), reason: ReasonMasterNotAnswering,
		},
		"a master that never answers fails the cluster": {
			record: in(Submitted), seen: withMaster(silentSince(start)), now: at(5 * time.Minute),
			entered: []State{Failed}, effect: Release, reason: "MasterStartTimedOut",
		},
		"a master may be given for ever": {
			record: in(Submitted), policy: patient, seen: withMaster(silentSince(start)), now: at(time.Hour),
			ask: 2 * time.Second, reason: ReasonMasterNotAnswering,
		},
		"a master that stopped to answer has its time again": {
			record: in(Submitted), seen: withMaster(silentSince(at(4 * time.Minute))), now: at(5 * time.Minute),
			ask: 2 * time.Second, again: at(9 * time.Minute), reason: ReasonMasterNotAnswering,
		},
		"a new leader asks before it fails a cluster": {
			record: in(Submitted), seen: made, now: at(time.Hour),
			ask: 2 * time.Second, reason: "Submitted",
		},
		"a master without workers fails nothing": {
			record: in(Submitted), seen: withMaster(tooFew), now: at(time.Hour),
			ask: 2 * time.Second, reason: ReasonTooFewWorkers,
		},
		"a master that recovers is not ready": {
			record: in(Submitted), seen: withMaster(recovering), now: at(time.Minute),
			ask: 2 * time.Second, reason: ReasonMasterNotAlive,
		},
		"a master with its workers is ready": {
			record: in(Submitted), seen: withMaster(well),
			entered: []State{RunningHealthy}, ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"what a master does not tell its workers' Pods tell": {
			record: in(Submitted), seen: Observation{Ensured: true, Created: start, Master: closed, ReadyWorkers: 2},
			entered: []State{RunningHealthy}, ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"and tell of too few": {
			record: in(Submitted), seen: Observation{Ensured: true, Created: start, Master: closed, ReadyWorkers: 1}, now: at(time.Minute),
			ask: 2 * time.Second, reason: ReasonTooFewWorkers,
		},
		"what has an object's name is waited for": {
			record: in(Submitted), seen: Observation{Awaited: going, TryAgain: at(time.Second)},
			again: at(time.Second), reason: "NameNotFree",
		},
		"and tried again": {
			record: in(Submitted), seen: Observation{Awaited: going, TryAgain: at(time.Second)}, now: at(time.Second),
			effect: Ensure, reason: "NameNotFree",
		},
		"what keeps a Pod from starting is told at once": {
			record: in(Submitted), seen: Observation{Ensured: true, Created: start, Obstacle: &lifecycle.Cause{Reason: "ImagePullFailed"}},
			ask: 2 * time.Second, again: at(30 * time.Second), reason: "ImagePullFailed",
		},
		"a status that is not understood is left alone": {record: in("Bewildered"), held: lifecycle.HeldNotUnderstood},
		"a record without a state begins anew": {
			record: in(), entered: []State{Submitted}, effect: Ensure, reason: "Submitted",
		},

		"a cluster that runs is kept as its spec says": {
			record: running(), seen: Observation{Created: start, Master: well},
			effect: Ensure, ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"a new leader knows of a cluster what was told": {
			record: running(), seen: toldReady(made),
			ask: 2 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"what is taken over is not ready before its master was asked": {
			record: running(), seen: made,
			ask: 2 * time.Second, reason: ReasonMasterNotAsked,
		},
		"nor while its master has never answered": {
			record: running(), seen: withMaster(silentSince(start)), now: at(time.Second),
			entered: []State{Degraded}, ask: 2 * time.Second, reason: ReasonMasterNotAnswering,
		},
		"what is taken over is ready when its master says so": {
			record: running(), seen: withMaster(well),
			ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"a short silence is nothing": {
			record: running(), seen: toldReady(withMaster(silentSince(start))), now: at(19 * time.Second),
			ask: 2 * time.Second, again: at(20 * time.Second), ready: true, reason: "RunningHealthy",
		},
		"a long one is a degradation": {
			record: running(), seen: toldReady(withMaster(silentSince(start))), now: at(20 * time.Second),
			entered: []State{Degraded}, ask: 2 * time.Second, reason: ReasonMasterNotAnswering,
		},
		"as are too few workers": {
			record: running(), seen: withMaster(tooFew),
			entered: []State{Degraded}, ask: 2 * time.Second, reason: ReasonTooFewWorkers,
		},
		"a degraded cluster stays so": {
			record: degraded(), seen: withMaster(silentSince(start)), now: at(24 * time.Hour),
			ask: 2 * time.Second, reason: ReasonMasterNotAnswering,
		},
		"of a degraded cluster any silence is told": {
			record: degraded(), seen: withMaster(silentSince(start)),
			ask: 2 * time.Second, reason: ReasonMasterNotAnswering,
		},
		"a degraded cluster of which nothing is known stays so": {
			record: degraded(), seen: made,
			ask: 2 * time.Second, reason: "Degraded",
		},
		"a degraded cluster recovers": {
			record: degraded(), seen: withMaster(well),
			entered: []State{RunningHealthy}, ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"an edit that is refused leaves the cluster": {
			record: running(), policy: edited, seen: Observation{Ensured: true, Refused: refused, Created: start, Master: well},
			ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"an edit that can never run leaves the cluster": {
			record: running(), policy: never, seen: Observation{Created: start, Master: well},
			ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"as does one that waits for an object to go": {
			record: running(), seen: Observation{Created: start, Master: well, Awaited: going, TryAgain: at(time.Second)},
			ask: 10 * time.Second, again: at(time.Second), ready: true, reason: "RunningHealthy",
		},
		"a suspension leaves the cluster": {
			record: running(), policy: suspended, seen: withMaster(well),
			ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},

		"what was deleted is waited for": {
			record: in(Submitted, Failed), seen: Observation{ReleaseAccepted: true},
			held: HeldReleasing, again: at(30 * time.Second), reason: "Forbidden",
		},
		"a failed cluster is over when nothing is left": {
			record: in(Submitted, Failed), seen: Observation{Released: true},
			entered: []State{ResourceReleased}, reason: "Forbidden",
		},
		"a released cluster stays so": {record: released(), seen: Observation{Created: start, Master: well}, reason: "Forbidden"},
		"until its spec is edited": {
			record: released(), policy: edited,
			entered: []State{Submitted}, effect: Ensure, reason: "Submitted",
		},
		"a failed cluster that is edited is released first": {
			record: in(Submitted, Failed), policy: edited, seen: Observation{ReleaseAccepted: true},
			held: HeldReleasing, again: at(30 * time.Second), reason: "Forbidden",
		},
		"and then begins anew": {
			record: in(Submitted, Failed), policy: edited, seen: Observation{Released: true, Ensured: true, Refused: refused},
			entered: []State{ResourceReleased, Submitted}, effect: Ensure, reason: "Submitted",
		},

		"a deleted cluster is released": {
			record: running(), seen: toldReady(Observation{Deleted: start, Created: start, Master: well}),
			effect: Release, ready: true, reason: "RunningHealthy",
		},
		"and says so while anything is left": {
			record: running(), seen: toldReady(Observation{Deleted: start, ReleaseAccepted: true, Left: []string{"Pod c-worker-0"}}),
			held: HeldReleasing, again: at(30 * time.Second), reason: ReasonDeleting,
		},
		"within the bound that there is": {
			record: running(), policy: bounded, seen: toldReady(Observation{Deleted: start, ReleaseAccepted: true, Left: []string{"Pod c-worker-0"}}),
			now: at(time.Minute - 1), held: HeldReleasing, again: at(time.Minute), reason: ReasonDeleting,
		},
		"after which what does not go is left": {
			record: running(), policy: bounded, seen: toldReady(Observation{Deleted: start, ReleaseAccepted: true, Left: []string{"Pod c-worker-0"}}),
			now: at(time.Minute), entered: []State{ResourceReleased}, reason: "ResourceReleased",
		},
		"though not before its deletion is asked for": {
			record: running(), policy: bounded, seen: toldReady(Observation{Deleted: start, Created: start, Master: well}),
			now: at(time.Hour), effect: Release, ready: true, reason: "RunningHealthy",
		},
		"as does one that is deleted while it starts": {
			record: in(Submitted), seen: Observation{Deleted: start, ReleaseAccepted: true},
			held: HeldReleasing, again: at(30 * time.Second), reason: ReasonDeleting,
		},
		"and is over when nothing is left": {
			record: running(), seen: Observation{Deleted: start, Released: true},
			entered: []State{ResourceReleased}, reason: "ResourceReleased",
		},
		"what is deleted does not begin anew": {record: released(), policy: edited, seen: Observation{Deleted: start}, reason: "Forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			policy, now := test.policy, test.now
			if policy.Spec.Hash == nil {
				policy = plain
			}
			if now.IsZero() {
				now = start
			}
			before := test.record.DeepCopy()
			got, decision := Decide(test.record, policy, test.seen, now)
			if diff := cmp.Diff(before, test.record); diff != "" {
				t.Errorf("the record given was changed:\n%s", diff)
			}
			var was []State
			if test.record != nil {
				was = states(test.record)
			}
			if want := slices.Concat(was, test.entered); !slices.Equal(states(got), want) {
				t.Errorf("the states are %v, want %v", states(got), want)
			}
			if decision.Changed != (len(test.entered) > 0 || spec.Noted(test.record) != spec.Noted(got)) {
				t.Errorf("changed is %t", decision.Changed)
			}
			if decision.Effect != test.effect || decision.Ask != test.ask || decision.Held != test.held {
				t.Errorf("effect %q, ask %s, held %q", decision.Effect, decision.Ask, decision.Held)
			}
			if !decision.LookAgain.Equal(test.again) {
				t.Errorf("looks again at %s, want %s", decision.LookAgain, test.again)
			}
			if decision.Ready.Ready != test.ready || decision.Ready.Reason != test.reason {
				t.Errorf("ready is %+v, want %t and %s", decision.Ready, test.ready, test.reason)
			}
		})
	}
}

func TestTheEndSaysWhy(t *testing.T) {
	got, _ := Decide(in(Submitted), plain, Observation{Ensured: true, Created: start, Master: silentSince(start),
		Obstacle: &lifecycle.Cause{Reason: "ImagePullFailed", Message: "Image x cannot be pulled."}}, at(time.Hour))
	want := &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed, Class: lifecycle.ClassTimeout, Reason: "ImagePullFailed",
		Message: "The master has not answered within 5m0s: the connection is refused. Image x cannot be pulled."}
	if diff := cmp.Diff(want, outbox.LastEnd(got).End); diff != "" {
		t.Error(diff)
	}
	got, _ = Decide(in(Submitted), plain, Observation{Ensured: true, Refused: refused}, start)
	const told = "Failed to request Spark cluster from scheduler backend. StatefulSet pi-master: exceeded quota."
	if end := outbox.LastEnd(got); end.Message != told || end.End.Class != lifecycle.ClassScheduling {
		t.Errorf("the end is %+v", end)
	}
}

func TestTheTrueEndHasItsOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		record  *v1alpha1.Record
		deleted time.Time
		want    string
	}{
		"failed":                      {record: in(Submitted, Failed), want: v1alpha1.OutcomeFailed},
		"deleted":                     {record: running(), deleted: start, want: v1alpha1.OutcomeDeleted},
		"deleted while it is created": {record: in(Submitted), deleted: start, want: v1alpha1.OutcomeDeleted},
		"deleted after it failed":     {record: in(Submitted, SchedulingFailure), deleted: start, want: v1alpha1.OutcomeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := Decide(test.record, plain, Observation{Released: true, Deleted: test.deleted}, start)
			if end := outbox.Current(got); end.Outcome != test.want {
				t.Errorf("the end is %+v", end)
			}
			if !AtRest(got, plain) {
				t.Error("nothing follows, and it is not at rest")
			}
		})
	}
}

func TestAnEditBeginsAnotherAttempt(t *testing.T) {
	edited := with(func(p *Policy) { p.Spec = hashed("two") })
	if AtRest(released(), edited) {
		t.Error("what begins anew is at rest")
	}
	got, _ := Decide(released(), edited, Observation{}, at(time.Minute))
	if got.Attempt.ID != 1 || got.Attempt.Spec.Hash != "two" || !got.Attempt.Since.Time.Equal(at(time.Minute)) {
		t.Errorf("the attempt is %+v", got.Attempt)
	}
	if got.Previous == nil || got.Previous.ID != 0 {
		t.Errorf("the attempt before is %+v", got.Previous)
	}
	again, decision := Decide(got, edited, Observation{}, at(time.Hour))
	if decision.Changed || again.Attempt.ID != 1 {
		t.Errorf("the same spec is an edit again")
	}
}

// Of a spec of another generation, whose hash this version cannot make, nobody can tell whether it was edited.
func TestASpecThatNobodyCanTellIsAdopted(t *testing.T) {
	now := with(func(p *Policy) {
		p.Spec = spec.Spec{Generation: 2, Observed: 1, Hash: func(version int64) string {
			return map[int64]string{spec.HashVersion: "now", spec.HashVersionJSON: "json"}[version]
		}}
	})
	for name, test := range map[string]struct {
		noted           v1alpha1.Attempt
		adopted, edited bool
	}{
		"another version":                    {noted: v1alpha1.Attempt{Spec: &v1alpha1.AttemptSpec{Hash: "was", HashVersion: 99, Generation: 1}}, adopted: true},
		"another version of this generation": {noted: v1alpha1.Attempt{Spec: &v1alpha1.AttemptSpec{Hash: "was", HashVersion: 99, Generation: 2}}},
		"the version before":                 {noted: v1alpha1.Attempt{Spec: &v1alpha1.AttemptSpec{Hash: "json", HashVersion: 1, Generation: 1}}},
		"an earlier record":                  {noted: v1alpha1.Attempt{SpecHash: "json"}},
		"an earlier record, edited":          {noted: v1alpha1.Attempt{SpecHash: "was"}, edited: true},
		"this version, edited":               {noted: v1alpha1.Attempt{Spec: &v1alpha1.AttemptSpec{Hash: "was", HashVersion: spec.HashVersion, Generation: 1}}, edited: true},
	} {
		record := released()
		record.Attempt = test.noted
		got, decision := Decide(record, now, Observation{}, start)
		if anew := got.Attempt.ID == 1; anew != test.edited || decision.SpecAdopted != test.adopted {
			t.Errorf("%s: attempt %d, adopted %t", name, got.Attempt.ID, decision.SpecAdopted)
		}
		if noted := got.Attempt.Spec; noted.Hash != "now" || noted.Generation != 2 || got.Attempt.SpecHash != "" {
			t.Errorf("%s: noted is %+v", name, got.Attempt)
		}
	}
}

func TestAnEditGivesAMasterThatDoesNotAnswerItsTimeAgain(t *testing.T) {
	edited := with(func(p *Policy) { p.Spec = hashed("two") })
	got, decision := Decide(in(Submitted), edited, Observation{Ensured: true, Created: start, Master: silentSince(start)}, at(10*time.Minute))
	if Current(got) != Submitted || !decision.LookAgain.Equal(at(10*time.Minute+30*time.Second)) {
		t.Errorf("%s, looks again at %s", Current(got), decision.LookAgain)
	}
}

func TestACrowdedRecordBeginsNothing(t *testing.T) {
	record := released()
	for range 40 {
		outbox.Append(record, v1alpha1.Transition{State: string(ResourceReleased), Message: strings.Repeat("x", 1000)}, start)
	}
	got, decision := Decide(record, with(func(p *Policy) { p.Spec = hashed("two") }), Observation{}, start)
	if got.Attempt.ID != 0 || decision.Held != lifecycle.HeldEventsUndelivered {
		t.Errorf("attempt %d, held %q", got.Attempt.ID, decision.Held)
	}
}

func TestReadinessDoesNotWaitForTheSink(t *testing.T) {
	record := running()
	for range 31 {
		record, _ = Decide(record, plain, Observation{Ensured: true, Created: start, Master: tooFew}, start)
		record, _ = Decide(record, plain, Observation{Ensured: true, Created: start, Master: well}, start)
	}
	record, decision := Decide(record, plain, Observation{Ensured: true, Created: start, Master: tooFew}, start)
	if Current(record) != RunningHealthy || decision.Ready.Ready {
		t.Errorf("%s after %d transitions that nobody took, ready %+v", Current(record), record.Sequence, decision.Ready)
	}
}

func TestWhatADeletedClusterWaitsForIsToldOnce(t *testing.T) {
	seen := Observation{Deleted: start, ReleaseAccepted: true, Left: []string{"Pod c-worker-0", "Service c-master-svc"}}
	_, decision := Decide(running(), plain, seen, start)
	if want := "goes when all of this is gone: Pod c-worker-0, Service c-master-svc."; !strings.HasSuffix(decision.Ready.Message, want) {
		t.Errorf("it is told %q", decision.Ready.Message)
	}
	seen.Told, seen.Left = decision.Ready, seen.Left[:1]
	if _, again := Decide(running(), plain, seen, at(time.Minute)); again.Ready != decision.Ready {
		t.Errorf("then it is told %+v", again.Ready)
	}
	seen.Told, seen.Left = Readiness{}, make([]string, 13)
	if _, many := Decide(running(), plain, seen, start); !strings.HasSuffix(many.Ready.Message, "and 3 more.") {
		t.Errorf("of many it is told %q", many.Ready.Message)
	}
}

func TestALackIsToldWithWhatIsKnownOfIt(t *testing.T) {
	seen := Observation{Ensured: true, Created: start, Master: tooFew, Obstacle: refused}
	_, decision := Decide(degraded(), plain, seen, start)
	if !strings.HasSuffix(decision.Ready.Message, "needed are 2. "+refused.Message) || decision.Obstacle != refused {
		t.Errorf("ready is %+v, the obstacle %+v", decision.Ready, decision.Obstacle)
	}
	seen.Master = well
	if _, decision = Decide(running(), plain, seen, start); !decision.Ready.Ready || decision.Obstacle != refused {
		t.Errorf("ready is %+v, the obstacle %+v", decision.Ready, decision.Obstacle)
	}
}

func TestWarnsWhereTheMasterDoesNotTell(t *testing.T) {
	_, decision := Decide(running(), plain, Observation{Ensured: true, Created: start, Master: closed, ReadyWorkers: 2}, start)
	if len(decision.Warnings) != 1 || !strings.Contains(decision.Warnings[0], "it answers 403") {
		t.Errorf("warnings are %q", decision.Warnings)
	}
}

func TestNeeded(t *testing.T) {
	for _, test := range []struct{ minimum, asked, want int32 }{
		{minimum: 2, asked: 3, want: 2},
		{minimum: 0, asked: 3, want: 1},
		{minimum: 3, asked: 1, want: 1}, // scaled below its minimum
		{minimum: 3, asked: 0, want: 0},
		{minimum: 0, asked: 0, want: 0},
	} {
		if got := Needed(test.minimum, test.asked); got != test.want {
			t.Errorf("of at least %d and %d asked for, %d are needed, want %d", test.minimum, test.asked, got, test.want)
		}
	}
}
