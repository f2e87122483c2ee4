package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/outbox/unknowntest"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// decide calls Decide and checks what must hold for each of its answers.
func (w *simulation) decide(seen Observation) (*v1alpha1.Record, Decision) {
	w.t.Helper()
	given := w.stored
	if w.rng.Intn(4) == 0 { // enough with thousands of simulations
		given = w.stored.DeepCopy()
	}
	record, decision := Decide(given, w.policy, seen, w.now)
	if given != w.stored && !reflect.DeepEqual(given, w.stored) {
		w.fail("Decide changed what it was given")
	}
	news := w.stored == nil || record.Sequence != w.stored.Sequence ||
		!reflect.DeepEqual(record.Launch, w.stored.Launch) || spec.Noted(record) != spec.Noted(w.stored) ||
		record.Attempt.WithoutEventLogs != w.stored.Attempt.WithoutEventLogs
	if news != decision.Changed {
		w.fail("there is news: %v, and changed is %v", news, decision.Changed)
	}
	if decision.Changed {
		w.logf("decided %s of attempt %d, %s", outbox.Current(record).State, record.Attempt.ID, summary(decision))
	}

	if w.stored != nil {
		if lost := unknowntest.Lost(w.stored, record); len(lost) > 0 {
			w.fail("fields of a newer version are lost: %q", lost)
		}
	}
	w.checkShown(given, record, decision)
	again := decision.Seen
	if decision.Effect != Persist && (decision.Changed || w.rng.Intn(4) == 0) {
		sameRecord, sameDecision := Decide(record, w.policy, again, w.now)
		expected := decision
		expected.Changed = false
		if !reflect.DeepEqual(record, sameRecord) || !sameDecisions(expected, sameDecision) {
			w.fail("asked again, Decide says otherwise: %s after %s, in %s", summary(sameDecision), summary(decision), outbox.Current(sameRecord).State)
		}
	}
	w.checkWait(record, decision, again)
	w.checkActive(record, decision)
	w.checkExecutors(record, again)
	w.checkLost(record, again)
	if _, judged := Judge(record, w.policy); decision.Awaits == AwaitsVerdict && !judged {
		w.fail("a verdict is awaited that the built-in handler does not give")
	}
	w.cover(fmt.Sprintf("effect %s", decision.Effect), fmt.Sprintf("awaits %s", decision.Awaits), fmt.Sprintf("held %s", decision.Held))
	if decision.Obstacle != nil {
		w.cover("obstacle " + decision.Obstacle.Reason)
	}
	return record, decision
}

func summary(d Decision) string {
	return fmt.Sprintf("effect %q awaits %q held %q look again %v", d.Effect, d.Awaits, d.Held, d.RequeueAt)
}

func sameDecisions(a, b Decision) bool {
	return a.Changed == b.Changed && a.Effect == b.Effect && a.Awaits == b.Awaits && a.Held == b.Held &&
		a.RequeueAt.Equal(b.RequeueAt) && a.AwaitsSince.Equal(b.AwaitsSince) && reflect.DeepEqual(a.Obstacle, b.Obstacle)
}

// checkShown checks that short-lived states are persisted before anything follows, if the API persists each state.
func (w *simulation) checkShown(given, record *v1alpha1.Record, decision Decision) {
	w.t.Helper()
	added := news(given, record)
	for i, transition := range added {
		state, last := State(transition.State), i == len(added)-1
		passing := state.AttemptEnded() || state == Suspending || state == Invalidating
		switch {
		case w.policy.PersistsEachState && passing && !last:
			w.fail("%s is not shown: %s follows in the same write", state, added[i+1].State)
		case last && (decision.Effect == Persist) != (w.policy.PersistsEachState && passing):
			w.fail("with %s, the effect is %q", state, decision.Effect)
		}
	}
	if decision.Effect == Persist && len(added) == 0 {
		w.fail("there is nothing to persist")
	}
}

// checkWait checks that an application never waits without a deadline, a requested handler, or a watched or published
// change.
func (w *simulation) checkWait(record *v1alpha1.Record, decision Decision, seen Observation) {
	w.t.Helper()
	state := State(outbox.Current(record).State)
	waits := func(format string, args ...any) {
		w.t.Helper()
		w.fail("in %s, with %s, %s", state, summary(decision), fmt.Sprintf(format, args...))
	}
	bounded := map[State]time.Duration{DriverRequested: w.policy.Timeouts.DriverStart, DriverStarted: w.policy.Timeouts.DriverReady}
	if w.interrupts {
		delete(bounded, DriverStarted)
	}
	if seen.ReadyExecutors < w.policy.Executors.Init && !executorsWereReady(record) { // with enough of them it runs, even without room in the record
		bounded[DriverReady] = w.policy.Timeouts.ExecutorStart
		bounded[InitializedBelowThresholdExecutors] = w.policy.Timeouts.ExecutorStart
		if w.interrupts {
			bounded[DriverStarted] = w.policy.Timeouts.ExecutorStart
		}
	}
	bound := bounded[state]
	driverLasts := record.Launch != nil && !seen.DriverGone && (seen.Driver == nil || seen.Driver.End == nil)
	switch {
	case !decision.RequeueAt.IsZero() && !decision.RequeueAt.After(w.now):
		waits("the instant to look again is over")
	case w.interrupts && decision.Effect == Launch && (w.policy.Suspend || spec.Noted(record).Hash != hashOf(w.policy.Spec)):
		waits("a launch is suspended, or is of another spec")
	case decision.Effect == Launch && (!state.Initializing() || record.Launch == nil && w.policy.Suspend || !w.deleted.IsZero()):
		waits("nothing is to be launched")
	case decision.Effect == Release && seen.ReleaseAccepted:
		waits("the release is accepted already")
	case decision.Effect != NoEffect && !decision.RequeueAt.IsZero():
		waits("there is an effect first")
	case w.policy.Stop != nil && (decision.Effect == Launch || decision.Awaits == AwaitsVerdict || decision.Held == HeldSuspended):
		waits("the application is stopped")
	case decision.Held == HeldSuspended && (!w.policy.Suspend || w.interrupts != (state == Suspended) || !w.interrupts && !state.Initializing()):
		waits("nothing suspends it")
	case decision.Held == HeldEventsUndelivered && record.Acknowledged == record.Sequence:
		waits("there is nothing to be delivered")
	case decision.Awaits == AwaitsVerdict && (!state.AttemptEnded() || !w.deleted.IsZero()):
		waits("there is nothing to judge")
	case decision.Awaits == AwaitsDeletion && (state != ResourceReleased || w.policy.TTL < 0 || decision.AwaitsSince.After(w.now)):
		waits("its time is not over")
	case bound > 0 && w.deleted.IsZero() && decision.Effect == NoEffect && decision.RequeueAt.IsZero():
		waits("nothing bounds the wait for the driver, or for its executors")
	case decision.Held == HeldDriverTerminating && !w.deleted.IsZero() && w.policy.Timeouts.Deletion > 0 &&
		decision.Effect == NoEffect && decision.RequeueAt.IsZero():
		waits("nothing bounds the deletion")
	case decision.Held == HeldDriverTerminating && w.policy.Timeouts.ForceTermination > 0 && !seen.ReleaseAccepted &&
		decision.Effect == NoEffect && decision.RequeueAt.IsZero() && (seen.Driver == nil || len(seen.Driver.Finalizers) == 0 || !seen.Driver.NoGraceLeft):
		waits("nothing bounds the wait for the driver to go")
	case decision.Effect != NoEffect, !decision.RequeueAt.IsZero(), decision.Awaits != AwaitsNothing, decision.Held != "":
		return
	case (state.Starting() || state.Running() || state == Unknown) && w.deleted.IsZero() && driverLasts:
		return // its Pod is watched
	case state.Initializing() && seen.LaunchHeld != nil:
		return // the object with the wanted name is watched
	case state == TerminatedWithoutReleaseResources && w.deleted.IsZero() && w.policy.RetainFor < 0 && w.policy.TTL < 0:
		return
	case state == ResourceReleased && (w.policy.TTL < 0 || !w.deleted.IsZero()):
		return
	default:
		waits("it waits for nothing")
	}
}

// checkActive checks with its own count that no application is active for longer than its deadline.
func (w *simulation) checkActive(record *v1alpha1.Record, decision Decision) {
	w.t.Helper()
	state, limit := State(outbox.Current(record).State), w.policy.ActiveDeadline
	spent, since := w.activeTime(record)
	left := limit - spent
	switch {
	case limit <= 0 || !w.deleted.IsZero():
		return
	case left <= 0 && decision.Effect == Launch:
		w.fail("a driver is launched after %s, with a deadline of %s", spent, limit)
	case since.IsZero():
		return
	}
	switch due := since.Add(left); {
	case !due.After(w.now):
		w.fail("it is %s since %s, with a deadline of %s and %s before", state, since, limit, spent)
	case decision.Effect == NoEffect && (decision.RequeueAt.IsZero() || decision.RequeueAt.After(due)):
		w.fail("it is %s until %s, and is due at %s", state, decision.RequeueAt, due)
	}
}

// activeTime returns how long an application was active before, and since when it is active now.
func (w *simulation) activeTime(record *v1alpha1.Record) (spent time.Duration, since time.Time) {
	for _, t := range append(slices.Clone(w.history), news(&v1alpha1.Record{Sequence: int64(len(w.history))}, record)...) {
		state := State(t.State)
		begins := state.Running() || state.Starting() && (state != DriverRequested || spent > 0)
		switch {
		case since.IsZero() && begins:
			since = t.Time.Time
		case !since.IsZero() && !state.Starting() && !state.Running() && state != Unknown:
			spent += max(t.Time.Sub(since).Truncate(time.Millisecond), time.Millisecond)
			since = time.Time{}
		}
		if state == Invalidating {
			spent = 0
		}
	}
	return spent, since
}

// checkExecutors checks that the state matches the number of executors, if the record has room for it.
func (w *simulation) checkExecutors(record *v1alpha1.Record, seen Observation) {
	w.t.Helper()
	state, ready, asked := State(outbox.Current(record).State), seen.ReadyExecutors, w.policy.Executors
	wereReady := executorsWereReady(record)
	if executorsWereReady(w.stored) && slices.ContainsFunc(news(w.stored, record), func(t v1alpha1.Transition) bool { return State(t.State) == ExecutorsStartTimedOut }) {
		w.fail("the executors' start timeout ended an attempt whose executors were ready")
	}
	if w.deleted.IsZero() && state.Starting() && CountsExecutors(state, w.policy) && ready >= asked.Init && !wereReady {
		w.fail("in %s it is not recorded that %d executors were ready", state, ready)
	}
	if state.Starting() && wereReady && ready < asked.Init {
		w.cover("executors that were ready and lost during a start")
	}
	if !CountsExecutors(state, w.policy) || !w.deleted.IsZero() || w.sinkFarBehind(record) {
		return
	}
	partial := !asked.Dynamic && ready < asked.Max
	wrong := map[State]bool{
		DriverReady:                        ready > 0 || wereReady,
		InitializedBelowThresholdExecutors: ready >= asked.Init || wereReady,
		RunningWithBelowThresholdExecutors: ready >= asked.Min,
		RunningWithPartialCapacity:         ready < asked.Min || !partial || asked.Min == 0,
		RunningHealthy:                     asked.Min > 0 && (ready < asked.Min || partial),
	}
	if wrong[state] {
		w.fail("in %s with %d ready executors", state, ready)
	}
}

// executorsWereReady reports whether the record's launch once had enough initial executors.
func executorsWereReady(record *v1alpha1.Record) bool {
	return record != nil && record.Launch != nil && record.Launch.ExecutorsReady
}

// sinkFarBehind reports whether the sink is so far behind that running states may be left out.
func (w *simulation) sinkFarBehind(record *v1alpha1.Record) bool {
	size := 0
	for _, t := range record.Transitions {
		if t.Sequence > record.Acknowledged {
			t.DriverStatus = nil
			encoded, _ := json.Marshal(t)
			size += len(encoded)
		}
	}
	return record.Sequence-record.Acknowledged >= 64 || size > 24*1024
}

// checkLost checks that a driver counts as lost only after its Pod's time was over.
func (w *simulation) checkLost(record *v1alpha1.Record, seen Observation) {
	w.t.Helper()
	ended := outbox.LastEnd(record)
	if ended == nil || ended.End.Reason != "NodeLost" || ended.Sequence <= int64(len(w.history)) {
		return
	}
	w.cover("a node that is lost")
	limit := w.policy.Timeouts.ForceTermination
	if driver := seen.Driver; driver == nil || !driver.Terminating || limit <= 0 || w.now.Before(driver.TerminatingSince.Add(limit)) ||
		w.now.Before(driver.TerminatingUntil) {
		w.fail("a driver counts as lost that may still stop")
	}
}

// checkHistory checks that stored transitions do not change, and that none is missing.
func (w *simulation) checkHistory(record *v1alpha1.Record) {
	w.t.Helper()
	next := record.Acknowledged + 1
	for _, transition := range record.Transitions {
		got := transition
		got.DriverStatus = nil
		known := int64(len(w.history))
		switch {
		case got.Sequence == known+1:
			w.checkStep(got)
			w.history = append(w.history, got)
			w.cover("state "+got.State, "outcome "+got.Outcome)
		case got.Sequence > known, !sameTransitions(got, w.history[got.Sequence-1]):
			w.fail("transition %d differs from what was stored: %v", got.Sequence, describe([]v1alpha1.Transition{got}))
		}
		if transition.Sequence == next {
			next++
		}
	}
	if next <= record.Sequence {
		w.fail("transition %d is not acknowledged, and lost", next)
	}
	if record.Sequence != int64(len(w.history)) {
		w.fail("the sequence is %d after %d transitions", record.Sequence, len(w.history))
	}
}

func sameTransitions(a, b v1alpha1.Transition) bool {
	sameTime, sameEnd := a.Time.Time.Equal(b.Time.Time), a.End == b.End || reflect.DeepEqual(a.End, b.End)
	a.Time, b.Time, a.End, b.End = metav1.MicroTime{}, metav1.MicroTime{}, nil, nil
	return a == b && sameTime && sameEnd
}

// follows reports whether a state may follow another in this simulation.
func (w *simulation) follows(from, to State) bool {
	if to == ResourceReleased && from != ResourceReleased && !w.deleted.IsZero() {
		return true
	}
	return Follows(from, to, w.interrupts)
}

func (w *simulation) checkStep(next v1alpha1.Transition) {
	w.t.Helper()
	var last v1alpha1.Transition
	if len(w.history) > 0 {
		last = w.history[len(w.history)-1]
	}
	from, to := State(last.State), State(next.State)
	attempt := last.Attempt
	switch {
	case to == ScheduledToRestart && from == DriverRequested:
		w.cover("a driver that its sidecar held up")
		if slices.ContainsFunc(w.history, func(t v1alpha1.Transition) bool {
			return strings.Contains(t.Message, "once more") && t.Attempt == attempt
		}) {
			w.fail("a driver is launched in place of another one twice")
		}
	case to == ScheduledToRestart, to == Resuming:
		attempt++
	}
	if last.End != nil && last.End.Reason == "ActiveDeadlineExceeded" {
		w.cover("a deadline that is over")
		if to != ResourceReleased && to != Invalidating {
			w.fail("%s follows the active deadline", to)
		}
	}
	if last.End != nil && last.End.Class == ClassStopped {
		w.cover("a stop")
		if to != ResourceReleased && to != Invalidating {
			w.fail("%s follows a stop", to)
		}
	}
	switch {
	case !w.follows(from, to):
		w.fail("%s follows %s", to, from)
	case next.Attempt != attempt:
		w.fail("%s of attempt %d follows %s of attempt %d", to, next.Attempt, from, last.Attempt)
	case next.Time.Before(&last.Time):
		w.fail("%s is of an earlier time than %s", to, from)
	case (next.End != nil) != to.AttemptEnded():
		w.fail("%s ends an attempt: %v", to, next.End != nil)
	case next.Outcome != "" && !to.Terminated():
		w.fail("%s ends the application", to)
	}
}

// checkEnd checks that an application ended once, and left no driver that may still work.
func (w *simulation) checkEnd() {
	w.t.Helper()
	finals := 0
	for _, transition := range w.history {
		if transition.Final() {
			finals++
		}
		if transition.State == string(Invalidating) { // what ended runs again
			finals = 0
		}
	}
	state, want := State(outbox.Current(w.stored).State), 0
	if state.Terminated() {
		want = 1
	}
	if finals != want {
		w.fail("%d final transitions in %s", finals, state)
	}
	for _, pod := range w.pods {
		limit := w.policy.Timeouts.Deletion
		left := !w.deleted.IsZero() && limit > 0 && pod.DeletionTimestamp != nil && !w.now.Before(w.deleted.Add(limit))
		if (state == ResourceReleased && !left || state == Suspended) && pod.alive() {
			w.fail("%s is alive in %s", pod.UID, state)
		}
	}
}

// checkSpec checks that an application ended with its current spec, if edits matter.
func (w *simulation) checkSpec() {
	w.t.Helper()
	if w.interrupts && w.policy.Stop == nil && w.deleted.IsZero() && spec.Noted(w.stored).Hash != hashOf(w.policy.Spec) {
		w.fail("the application ended with %s, and its spec is %s", spec.Noted(w.stored).Hash, hashOf(w.policy.Spec))
	}
}
