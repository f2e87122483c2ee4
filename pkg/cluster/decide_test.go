package cluster_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// plain needs two workers, and gives the master five minutes.
var plain = Policy{NeededWorkers: 2, MasterStartTimeout: 5 * time.Minute, Spec: hashed("one")}

// bounded is plain with a bound on the deletion.
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

// noted is the record's entry for such a spec.
func noted(hash string) *v1alpha1.AttemptSpec {
	return &v1alpha1.AttemptSpec{Hash: hash, HashVersion: spec.HashVersion}
}

// in is a record that went through these states, with the last one entered at the start.
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

// with is the plain policy with a change.
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

func TestAClusterIsCreatedRunsAndEndsAsObserved(t *testing.T) {
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
		seen.Reported = Readiness{Ready: true, Reason: "RunningHealthy"}
		return seen
	}
	going := &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: "NameNotFree", Message: "An object is terminating."}
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
		"a suspended cluster is not created": {
			policy:  suspended,
			entered: []State{Submitted}, held: lifecycle.HeldSuspended, reason: "Suspended",
		},
		"a cluster that is suspended after its creation goes on": {
			record: in(Submitted), policy: suspended, seen: Observation{Created: start},
			effect: Ensure, reason: "Submitted",
		},
		"a cluster whose spec is refused fails": {
			policy:  never,
			entered: []State{Submitted, Failed}, effect: Release, reason: "Invalid",
		},
		"a cluster with a refused object fails": {
			record: in(Submitted), seen: Observation{Ensured: true, Refused: refused},
			entered: []State{SchedulingFailure}, effect: Release, reason: "Forbidden",
		},
		"a created cluster polls its master": {
			record: in(Submitted), seen: made,
			ask: 2 * time.Second, again: at(30 * time.Second), reason: "Submitted",
		},
		"a master that does not answer yet is waited for": {
			record: in(Submitted), seen: withMaster(silentSince(start)), now: at(time.Second),
			ask: 2 * time.Second, again: at(30 * time.Second), reason: "Submitted",
		},
		"after a while the missing answer is reported": {
			record: in(Submitted), seen: withMaster(silentSince(start)), now: at(30 * time.Second),
			ask: 2 * time.Second, again: at(5 * time.Minute), reason: diagnosis.ReasonMasterNotAnswering,
		},
		"a master that never answers fails the cluster": {
			record: in(Submitted), seen: withMaster(silentSince(start)), now: at(5 * time.Minute),
			entered: []State{Failed}, effect: Release, reason: "MasterStartTimedOut",
		},
		"without a start timeout the master is waited for": {
			record: in(Submitted), policy: patient, seen: withMaster(silentSince(start)), now: at(time.Hour),
			ask: 2 * time.Second, reason: diagnosis.ReasonMasterNotAnswering,
		},
		"a master that stopped answering gets its start timeout again": {
			record: in(Submitted), seen: withMaster(silentSince(at(4 * time.Minute))), now: at(5 * time.Minute),
			ask: 2 * time.Second, again: at(9 * time.Minute), reason: diagnosis.ReasonMasterNotAnswering,
		},
		"a new leader polls the master before it fails a cluster": {
			record: in(Submitted), seen: made, now: at(time.Hour),
			ask: 2 * time.Second, reason: "Submitted",
		},
		"a master without workers does not fail the cluster": {
			record: in(Submitted), seen: withMaster(tooFew), now: at(time.Hour),
			ask: 2 * time.Second, reason: diagnosis.ReasonTooFewWorkers,
		},
		"a master that recovers is not ready": {
			record: in(Submitted), seen: withMaster(recovering), now: at(time.Minute),
			ask: 2 * time.Second, reason: diagnosis.ReasonMasterNotAlive,
		},
		"a master with its workers is ready": {
			record: in(Submitted), seen: withMaster(well),
			entered: []State{RunningHealthy}, ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"if the master does not show its workers, their ready Pods count": {
			record: in(Submitted), seen: Observation{Ensured: true, Created: start, Master: closed, ReadyWorkers: 2},
			entered: []State{RunningHealthy}, ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"too few ready Pods count as too few workers": {
			record: in(Submitted), seen: Observation{Ensured: true, Created: start, Master: closed, ReadyWorkers: 1}, now: at(time.Minute),
			ask: 2 * time.Second, reason: diagnosis.ReasonTooFewWorkers,
		},
		"a terminating object that blocks a name is waited for": {
			record: in(Submitted), seen: Observation{Awaited: going, RetryAt: at(time.Second)},
			again: at(time.Second), reason: "NameNotFree",
		},
		"a blocked name is tried again": {
			record: in(Submitted), seen: Observation{Awaited: going, RetryAt: at(time.Second)}, now: at(time.Second),
			effect: Ensure, reason: "NameNotFree",
		},
		"what keeps a Pod from starting is reported at once": {
			record: in(Submitted), seen: Observation{Ensured: true, Created: start, Obstacle: &lifecycle.Cause{Reason: "ImagePullFailed"}},
			ask: 2 * time.Second, again: at(30 * time.Second), reason: "ImagePullFailed",
		},
		"a status that is not understood is left alone": {record: in("Bewildered"), held: lifecycle.HeldNotUnderstood},
		"a record without a state begins again": {
			record: in(), entered: []State{Submitted}, effect: Ensure, reason: "Submitted",
		},

		"the objects of a running cluster are kept as its spec says": {
			record: running(), seen: Observation{Created: start, Master: well},
			effect: Ensure, ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"a new leader uses the reported readiness": {
			record: running(), seen: toldReady(made),
			ask: 2 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"an adopted cluster is not ready before its master was polled": {
			record: running(), seen: made,
			ask: 2 * time.Second, reason: diagnosis.ReasonMasterNotAsked,
		},
		"an adopted cluster is not ready while its master has never answered": {
			record: running(), seen: withMaster(silentSince(start)), now: at(time.Second),
			entered: []State{Degraded}, ask: 2 * time.Second, reason: diagnosis.ReasonMasterNotAnswering,
		},
		"an adopted cluster is ready when its master says so": {
			record: running(), seen: withMaster(well),
			ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},
		"a short time without an answer changes nothing": {
			record: running(), seen: toldReady(withMaster(silentSince(start))), now: at(19 * time.Second),
			ask: 2 * time.Second, again: at(20 * time.Second), ready: true, reason: "RunningHealthy",
		},
		"a long time without an answer degrades the cluster": {
			record: running(), seen: toldReady(withMaster(silentSince(start))), now: at(20 * time.Second),
			entered: []State{Degraded}, ask: 2 * time.Second, reason: diagnosis.ReasonMasterNotAnswering,
		},
		"too few workers degrade the cluster": {
			record: running(), seen: withMaster(tooFew),
			entered: []State{Degraded}, ask: 2 * time.Second, reason: diagnosis.ReasonTooFewWorkers,
		},
		"a degraded cluster stays degraded": {
			record: degraded(), seen: withMaster(silentSince(start)), now: at(24 * time.Hour),
			ask: 2 * time.Second, reason: diagnosis.ReasonMasterNotAnswering,
		},
		"in a degraded cluster any missing answer is reported": {
			record: degraded(), seen: withMaster(silentSince(start)),
			ask: 2 * time.Second, reason: diagnosis.ReasonMasterNotAnswering,
		},
		"a degraded cluster with unknown health stays degraded": {
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
		"an edit that waits for a terminating object leaves the cluster": {
			record: running(), seen: Observation{Created: start, Master: well, Awaited: going, RetryAt: at(time.Second)},
			ask: 10 * time.Second, again: at(time.Second), ready: true, reason: "RunningHealthy",
		},
		"a suspension leaves the cluster": {
			record: running(), policy: suspended, seen: withMaster(well),
			ask: 10 * time.Second, ready: true, reason: "RunningHealthy",
		},

		"deleted objects are waited for": {
			record: in(Submitted, Failed), seen: Observation{ReleaseAccepted: true},
			held: HeldReleasing, again: at(30 * time.Second), reason: "Forbidden",
		},
		"a failed cluster ends when no object is left": {
			record: in(Submitted, Failed), seen: Observation{Released: true},
			entered: []State{ResourceReleased}, reason: "Forbidden",
		},
		"a released cluster stays released": {record: released(), seen: Observation{Released: true, Master: well}, reason: "Forbidden"},
		"an object that is created late for a released cluster is deleted": {
			record: released(), seen: Observation{Created: start}, effect: Release, reason: "Forbidden",
		},
		"and waited for": {
			record: released(), seen: Observation{Created: start, ReleaseAccepted: true}, held: HeldReleasing, again: at(30 * time.Second), reason: "Forbidden",
		},
		"a released cluster starts again when its spec is edited": {
			record: released(), policy: edited,
			entered: []State{Submitted}, effect: Ensure, reason: "Submitted",
		},
		"a failed cluster that is edited is released first": {
			record: in(Submitted, Failed), policy: edited, seen: Observation{ReleaseAccepted: true},
			held: HeldReleasing, again: at(30 * time.Second), reason: "Forbidden",
		},
		"a released failed cluster starts again after the edit": {
			record: in(Submitted, Failed), policy: edited, seen: Observation{Released: true, Ensured: true, Refused: refused},
			entered: []State{ResourceReleased, Submitted}, effect: Ensure, reason: "Submitted",
		},

		"a deleted cluster is released": {
			record: running(), seen: toldReady(Observation{Deleted: start, Created: start, Master: well}),
			effect: Release, ready: true, reason: "RunningHealthy",
		},
		"a deleted cluster names the objects that are left": {
			record: running(), seen: toldReady(Observation{Deleted: start, ReleaseAccepted: true, Left: []string{"Pod c-worker-0"}}),
			held: HeldReleasing, again: at(30 * time.Second), reason: diagnosis.ReasonDeleting,
		},
		"the deletion waits within its bound": {
			record: running(), policy: bounded, seen: toldReady(Observation{Deleted: start, ReleaseAccepted: true, Left: []string{"Pod c-worker-0"}}),
			now: at(time.Minute - 1), held: HeldReleasing, again: at(time.Minute), reason: diagnosis.ReasonDeleting,
		},
		"after the bound the objects are left terminating": {
			record: running(), policy: bounded, seen: toldReady(Observation{Deleted: start, ReleaseAccepted: true, Left: []string{"Pod c-worker-0"}}),
			now: at(time.Minute), entered: []State{ResourceReleased}, reason: "ResourceReleased",
		},
		"the deletion of the objects is requested even after the bound": {
			record: running(), policy: bounded, seen: toldReady(Observation{Deleted: start, Created: start, Master: well}),
			now: at(time.Hour), effect: Release, ready: true, reason: "RunningHealthy",
		},
		"a cluster that is deleted while it starts is released": {
			record: in(Submitted), seen: Observation{Deleted: start, ReleaseAccepted: true},
			held: HeldReleasing, again: at(30 * time.Second), reason: diagnosis.ReasonDeleting,
		},
		"a deleted cluster ends when no object is left": {
			record: running(), seen: Observation{Deleted: start, Released: true},
			entered: []State{ResourceReleased}, reason: "ResourceReleased",
		},
		"a deleted cluster does not start again": {record: released(), policy: edited, seen: Observation{Deleted: start}, reason: "Forbidden"},
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
			if decision.Effect != test.effect || decision.PollInterval != test.ask || decision.Held != test.held {
				t.Errorf("effect %q, ask %s, held %q", decision.Effect, decision.PollInterval, decision.Held)
			}
			if !decision.RequeueAt.Equal(test.again) {
				t.Errorf("requeued for %s, want %s", decision.RequeueAt, test.again)
			}
			if decision.Ready.Ready != test.ready || decision.Ready.Reason != test.reason {
				t.Errorf("ready is %+v, want %t and %s", decision.Ready, test.ready, test.reason)
			}
		})
	}
}

func TestTheEndHasItsCause(t *testing.T) {
	got, _ := Decide(in(Submitted), plain, Observation{Ensured: true, Created: start, Master: silentSince(start),
		Obstacle: &lifecycle.Cause{Reason: "ImagePullFailed", Message: "Image x cannot be pulled."}}, at(time.Hour))
	want := &v1alpha1.AttemptEnd{Outcome: v1alpha1.OutcomeFailed, Class: lifecycle.ClassTimeout, Reason: "ImagePullFailed",
		Message: "The master has not answered within 5m0s: the connection is refused. Image x cannot be pulled."}
	if diff := cmp.Diff(want, outbox.LastEnd(got).End); diff != "" {
		t.Error(diff)
	}
	got, _ = Decide(in(Submitted), plain, Observation{Ensured: true, Refused: refused}, start)
	const message = "Failed to request Spark cluster from scheduler backend. StatefulSet pi-master: exceeded quota."
	if end := outbox.LastEnd(got); end.Message != message || end.End.Class != lifecycle.ClassScheduling {
		t.Errorf("the end is %+v", end)
	}
}

func TestTheEndHasItsOutcome(t *testing.T) {
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
			if !atRest(got, plain) {
				t.Error("a finished cluster is not at rest")
			}
		})
	}
}

// atRest reports whether a cluster has ended: only its deletion follows, unless a user edits its spec.
func atRest(record *v1alpha1.Record, policy Policy) bool {
	return Current(record) == ResourceReleased && policy.Spec.Since(record) != spec.Edited
}

func TestAnEditBeginsAnotherAttempt(t *testing.T) {
	edited := with(func(p *Policy) { p.Spec = hashed("two") })
	if atRest(released(), edited) {
		t.Error("a cluster that starts again is at rest")
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

// If the spec has another generation and this version cannot make its hash, it is unknown whether the spec was
// edited.
func TestASpecWithAnUnknownHashIsAdopted(t *testing.T) {
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

func TestAnEditRestartsTheStartTimeoutOfTheMaster(t *testing.T) {
	edited := with(func(p *Policy) { p.Spec = hashed("two") })
	got, decision := Decide(in(Submitted), edited, Observation{Ensured: true, Created: start, Master: silentSince(start)}, at(10*time.Minute))
	if Current(got) != Submitted || !decision.RequeueAt.Equal(at(10*time.Minute+30*time.Second)) {
		t.Errorf("%s, requeued for %s", Current(got), decision.RequeueAt)
	}
}

func TestAFullRecordBeginsNoAttempt(t *testing.T) {
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
		t.Errorf("%s after %d transitions without an acknowledgement, ready %+v", Current(record), record.Sequence, decision.Ready)
	}
}

func TestTheObjectsLeftOfADeletedClusterAreReportedOnce(t *testing.T) {
	seen := Observation{Deleted: start, ReleaseAccepted: true, Left: []string{"Pod c-worker-0", "Service c-master-svc"}}
	_, decision := Decide(running(), plain, seen, start)
	if want := "It is removed when these objects are gone: Pod c-worker-0, Service c-master-svc."; !strings.HasSuffix(decision.Ready.Message, want) {
		t.Errorf("readiness is %q", decision.Ready.Message)
	}
	seen.Reported, seen.Left = decision.Ready, seen.Left[:1]
	if _, again := Decide(running(), plain, seen, at(time.Minute)); again.Ready != decision.Ready {
		t.Errorf("then readiness is %+v", again.Ready)
	}
	seen.Reported, seen.Left = Readiness{}, make([]string, 13)
	if _, many := Decide(running(), plain, seen, start); !strings.HasSuffix(many.Ready.Message, "and 3 more.") {
		t.Errorf("with many objects readiness is %q", many.Ready.Message)
	}
}

func TestMissingWorkersAreReportedWithTheirObstacle(t *testing.T) {
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

func TestWarnsIfTheMasterDoesNotShowItsWorkers(t *testing.T) {
	_, decision := Decide(running(), plain, Observation{Ensured: true, Created: start, Master: closed, ReadyWorkers: 2}, start)
	if len(decision.Warnings) != 1 || !strings.Contains(decision.Warnings[0], "it answers 403") {
		t.Errorf("warnings are %q", decision.Warnings)
	}
}

func TestReadyNeedsTheMinimumOrAllThatAreAskedFor(t *testing.T) {
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
