package cluster_test

import (
	"encoding/json"
	"math/rand"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/outbox/unknowntest"
)

// TestRandomSimulation runs clusters through simulations in which anything may be observed at any time. In each of
// them the history is legal, a cluster that waits is requeued, and the record stays small. Each settles once the
// simulation does.
func TestRandomSimulation(t *testing.T) {
	first, simulations := time.Now().UnixNano(), int64(400)
	if testing.Short() {
		simulations /= 10
	}
	t.Logf("seeds from %d on", first)
	met, steps := map[State]int{}, map[[2]State]int{}
	for seed := first; seed < first+simulations; seed++ {
		w := &simulation{T: t, seed: seed, rng: rand.New(rand.NewSource(seed)), now: start, policy: plain, met: met, steps: steps}
		if w.policy.DeletionGrace = time.Duration(w.rng.Intn(2)) * 5 * time.Minute; w.policy.DeletionGrace > 0 {
			w.stuck = w.one(2)
		}
		if w.one(4) { // taken over
			w.record = running()
		}
		w.newer = w.one(4)
		for range 20 + w.rng.Intn(100) {
			w.happen()
			w.decide()
		}
		w.rest()
		if t.Failed() {
			return
		}
	}
	for _, state := range States {
		if met[state] == 0 {
			t.Errorf("no simulation ran into %s", state)
		}
		for _, from := range append([]State{""}, States...) {
			// Few simulations delete a cluster early, so that the steps to the release are not counted.
			if Follows(from, state) && steps[[2]State{from, state}] == 0 && state != ResourceReleased && !testing.Short() {
				t.Errorf("in no simulation %s followed %q", state, from)
			}
		}
	}
}

type simulation struct {
	*testing.T
	seed   int64
	rng    *rand.Rand
	now    time.Time
	policy Policy
	seen   Observation
	record *v1alpha1.Record
	last   Decision
	met    map[State]int
	steps  map[[2]State]int
	edits  int
	deaf   bool
	// newer makes a newer version of Firesteel write the record as well, with fields of its own.
	newer bool
	// stuck makes deleted objects stay.
	stuck bool
	// answered reports whether the master has ever answered.
	answered bool
}

func (w *simulation) one(in int) bool { return w.rng.Intn(in) == 0 }

func (w *simulation) cause() *lifecycle.Cause {
	return &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: w.text(), Message: w.text()}
}

func (w *simulation) text() string { return strings.Repeat("<火\x01", w.rng.Intn(300)) }

// happen changes the observation and the spec.
func (w *simulation) happen() {
	w.now = w.now.Add(time.Duration(w.rng.Int63n(int64(40 * time.Second))))
	if due := w.last.RequeueAt; due.After(w.now) && w.one(3) {
		w.now = due
	}
	switch w.rng.Intn(12) {
	case 0:
		w.edits++
		w.policy.Spec = hashed(strconv.Itoa(w.edits))
	case 1:
		w.policy.Suspend = w.one(3)
	case 2:
		w.policy.NeededWorkers = int32(w.rng.Intn(3))
		w.policy.Refused = nil
		if w.one(8) {
			w.policy.Refused = w.cause()
		}
	case 3, 4, 5:
		w.seen.Master = w.master()
	case 6:
		w.seen.ReadyWorkers = int32(w.rng.Intn(3))
		w.seen.Obstacle = nil
		if w.one(3) {
			w.seen.Obstacle = w.cause()
		}
	case 7:
		if w.seen.Deleted.IsZero() && w.one(40) {
			w.seen.Deleted = w.now
		}
	case 8:
		w.deaf = w.one(2)
	case 9:
		if w.record != nil && !w.deaf {
			w.record.Acknowledged += w.rng.Int63n(w.record.Sequence - w.record.Acknowledged + 1)
		}
	}
	w.seen.Ensured, w.seen.Refused, w.seen.ReleaseAccepted = false, nil, false
}

func (w *simulation) master() *Master {
	kind := w.rng.Intn(6)
	w.answered = w.answered || kind > 1
	switch kind {
	case 0:
		return nil
	case 1:
		return &Master{FailingSince: w.now.Add(-time.Duration(w.rng.Intn(60)) * time.Second), Problem: w.text()}
	case 2:
		return &Master{Closed: true, Problem: "it answers 401"}
	default:
		return &Master{Alive: !w.one(8), Workers: int32(w.rng.Intn(4))}
	}
}

// decide decides and acts until nothing is left to do.
func (w *simulation) decide() {
	w.Helper()
	for range 8 {
		before := w.record
		if before != nil && w.newer {
			unknowntest.Fill(before)
		}
		w.record, w.last = Decide(before, w.policy, w.seen, w.now)
		w.seen.Reported = w.last.Ready
		w.check(before)
		if w.last.Effect == NoEffect {
			return
		}
		w.act()
	}
	w.fail("there is always something to do")
}

func (w *simulation) act() {
	switch w.last.Effect {
	case Ensure:
		w.seen.Awaited, w.seen.Ensured = nil, true
		switch awaited, refused := w.one(8), w.one(8); {
		case awaited:
			w.seen.Awaited, w.seen.RetryAt, w.seen.Ensured = w.cause(), w.now.Add(time.Second), false
		case refused:
			w.seen.Refused = w.cause()
		case w.seen.Created.IsZero():
			w.seen.Created, w.seen.Released = w.now, false
		}
	case Release:
		w.seen.ReleaseAccepted = true
		if w.seen.Created.IsZero() || w.one(3) && !w.stuck {
			w.seen.Created, w.seen.Master, w.seen.Released = time.Time{}, nil, true
		}
	}
}

// check asserts what must hold after each decision.
func (w *simulation) check(before *v1alpha1.Record) {
	w.Helper()
	var last v1alpha1.Transition
	if before != nil {
		last = outbox.Current(before)
		if lost := unknowntest.Lost(before, w.record); len(lost) > 0 {
			w.fail("fields of a newer version are lost: %q", lost)
		}
	}
	for _, t := range w.record.Transitions {
		if t.Sequence <= last.Sequence {
			continue
		}
		w.met[State(t.State)]++
		w.steps[[2]State{State(last.State), State(t.State)}]++
		if t.Sequence != last.Sequence+1 || !Follows(State(last.State), State(t.State)) {
			w.fail("%s %d is followed by %s %d", last.State, last.Sequence, t.State, t.Sequence)
		}
		if begins := last.State == string(ResourceReleased); t.Attempt != last.Attempt && !begins || begins && t.Attempt != last.Attempt+1 {
			w.fail("attempt %d is followed by %d", last.Attempt, t.Attempt)
		}
		if State(t.State).AttemptEnded() != (t.End != nil) || t.Final() != (t.State == string(ResourceReleased)) {
			w.fail("%s is told as %+v", t.State, t)
		}
		last = t
	}
	w.checkWait()
	w.checkEffect()
	text, err := json.Marshal(w.record)
	if err != nil || len(text) > 64*1024 {
		w.fail("the record takes %d bytes: %v", len(text), err)
	}
	if again, decision := Decide(w.record, w.policy, w.seen, w.now); w.last.Effect == NoEffect && decision.Changed {
		w.fail("the same again makes %s of %s", Current(again), Current(w.record))
	}
}

// checkWait asserts that a cluster that waits is requeued.
func (w *simulation) checkWait() {
	w.Helper()
	waitsForUser := w.last.Held == lifecycle.HeldSuspended || atRest(w.record, w.policy) || !w.seen.Deleted.IsZero() && Current(w.record) == ResourceReleased
	waits := w.last.Effect == NoEffect && w.last.PollInterval == 0 && w.last.RequeueAt.IsZero()
	if waits && !waitsForUser && w.last.Held != lifecycle.HeldEventsUndelivered {
		w.fail("%s waits for nothing", Current(w.record))
	}
	if due := w.last.RequeueAt; !due.IsZero() && !due.After(w.now) {
		w.fail("%s is requeued for the past", Current(w.record))
	}
}

// checkEffect asserts that nothing is created for an ended cluster, and nothing deleted of a running one.
func (w *simulation) checkEffect() {
	w.Helper()
	state := Current(w.record)
	over := !w.seen.Deleted.IsZero() || state.AttemptEnded()
	switch {
	case w.last.Effect == Ensure && (over || state == ResourceReleased),
		w.last.Effect == Release && !over && state != ResourceReleased:
		w.fail("%s of a cluster that is %s", w.last.Effect, state)
	case w.last.Ready.Ready && (!state.Running() || !w.answered):
		w.fail("%s is ready, and its master has answered: %t", state, w.answered)
	}
}

// rest makes everything work, and asserts that the cluster becomes ready or ends.
func (w *simulation) rest() {
	w.Helper()
	w.policy.Suspend, w.policy.Refused = false, nil
	for range 100 {
		w.now = w.now.Add(31 * time.Second)
		w.stuck = w.stuck && !w.seen.Deleted.IsZero()
		w.seen.Ensured, w.seen.Refused, w.seen.ReleaseAccepted = false, nil, false
		w.seen.Master, w.answered = &Master{Alive: true, Workers: w.policy.NeededWorkers}, true
		if w.record != nil {
			w.record.Acknowledged = w.record.Sequence
		}
		w.decide()
		if w.last.Ready.Ready && Current(w.record) == RunningHealthy && w.seen.Deleted.IsZero() || w.last.Effect == NoEffect &&
			Current(w.record) == ResourceReleased && (atRest(w.record, w.policy) || !w.seen.Deleted.IsZero()) {
			return
		}
	}
	w.fail("it does not settle")
}

func (w *simulation) fail(format string, values ...any) {
	w.Helper()
	w.Logf("states %v", states(w.record))
	w.Fatalf("seed %d: "+format, append([]any{w.seed}, values...)...)
}
