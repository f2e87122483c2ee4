package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// malformed are records that Firesteel never writes. An editor, a backup or a newer version may leave them.
var malformed = []string{
	`null`,
	`{}`,
	`{"launch":{}}`,
	`{"launch":{"id":"l","driverPod":"p","driverUID":"u"}}`,
	`{"sequence":9223372036854775807,"acknowledged":9223372036854775807,"attempt":{"id":9223372036854775807}}`,
	`{"sequence":-5,"acknowledged":7,"attempt":{"id":-9223372036854775808,"restarts":-9223372036854775808}}`,
	`{"transitions":[{"state":""}]}`,
	`{"transitions":[{"state":"Dreaming"}],"launch":{"id":"l","driverPod":"p"}}`,
	`{"transitions":[{"state":"Suspended"}]}`,
	`{"transitions":[{"state":"Failed"}],"verdict":{"attempt":0,"restart":true}}`,
	`{"transitions":[{"state":"Failed","end":{}}],"launch":{"id":"l","driverPod":"p"}}`,
	`{"transitions":[{"state":"Failed","end":{"restartAllowed":true}}],"verdict":{"attempt":0,"restart":true},"launch":{"id":"l"}}`,
	`{"transitions":[{"state":"Failed","attempt":3,"end":{"outcome":"Failed"}}]}`,
	`{"transitions":[{"state":"Succeeded","end":{"outcome":"Exploded"}}]}`,
	`{"transitions":[{"state":"DriverRequested"}]}`,
	`{"transitions":[{"state":"DriverRequested","time":"9999-12-31T23:59:59.999999Z"}],"launch":{"id":"l","driverPod":"p"}}`,
	`{"transitions":[{"state":"RunningHealthy"}],"launch":{"id":"l","driverPod":"p","driverUID":"u","released":true}}`,
	`{"transitions":[{"state":"Submitted"}],"launch":{"id":"l","driverPod":"p","driverUID":"u","released":true}}`,
	`{"transitions":[{"state":"ScheduledToRestart"}],"verdict":{"attempt":-1,"restart":false,"notBefore":"9999-12-31T23:59:59.999999Z"}}`,
	`{"transitions":[{"state":"TerminatedWithoutReleaseResources"}],"launch":{"id":"l","driverPod":"p"}}`,
	`{"transitions":[{"state":"ResourceReleased"}],"launch":{"id":"l","driverPod":"p"}}`,
	`{"sequence":1,"acknowledged":1,"attempt":{"id":7},"transitions":[{"sequence":1,"state":"ResourceReleased"}]}`,
	`{"transitions":[{"sequence":9,"state":"Submitted"},{"sequence":3,"state":"DriverReady"}],"launch":{"id":"l","driverPod":"p"}}`,
}

// FuzzDecide asserts that no record makes Decide panic, and that it fails safely on what it does not understand. It
// never launches beside a driver that may be alive, never launches an ended application, and always stops deciding.
func FuzzDecide(f *testing.F) {
	for seed, record := range malformed {
		f.Add([]byte(record), int64(seed))
	}
	for seed, state := range States {
		for _, story := range []*recordBuilder{
			submitted().In(state), submitted().Fenced().In(state), submitted().Requested().In(state),
			submitted().Requested().ended(state, true), submitted().Requested().Ended(Failed).Retained().In(state),
			submitted().Requested().EndedRestartable(Failed).Verdict(true, start, "").Restarting().In(state),
		} {
			encoded, err := json.Marshal(story.Obj())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(encoded, int64(seed))
		}
	}
	f.Fuzz(func(t *testing.T, encoded []byte, seed int64) {
		var record *v1alpha1.Record
		if err := json.Unmarshal(encoded, &record); err != nil {
			t.Skip()
		}
		if outOfRange(record) {
			Decide(record, plain(), Observation{}, start) // and does not panic
			return
		}
		newArbitraryApplication(t, record, seed).run()
	})
}

// outOfRange reports whether a record has numbers that no application reaches and that overflow.
func outOfRange(record *v1alpha1.Record) bool {
	const limit = 1 << 53
	beyond := func(n int64) bool { return n > limit || n < -limit }
	return record != nil && (beyond(record.Sequence) || beyond(record.Attempt.ID) ||
		slices.ContainsFunc(record.Transitions, func(t v1alpha1.Transition) bool { return beyond(t.Sequence) }))
}

// arbitraryApplication is an application with an arbitrary record. Its driver may be alive unless the record says
// otherwise.
type arbitraryApplication struct {
	*simulation
	record *v1alpha1.Record
	seen   Observation
	alive  bool
	// mustNotLaunch is set if the application must never be launched.
	mustNotLaunch bool
}

func newArbitraryApplication(t *testing.T, record *v1alpha1.Record, seed int64) *arbitraryApplication {
	s := &arbitraryApplication{simulation: newSimulation(t, seed), record: record}
	s.alive = record != nil && record.Launch != nil && !record.Launch.Released
	state := State(outbox.Current(record).State)
	active := state.Starting() || state.Running()
	s.mustNotLaunch = record != nil && !s.interrupts && (state.Terminated() || !state.Initializing() && !active && !state.AttemptEnded() ||
		active && record.Launch == nil || state.AttemptEnded() && outbox.LastEnd(record) == nil)
	return s
}

func (s *arbitraryApplication) run() {
	s.t.Helper()
	for range 40 {
		decision := s.decide()
		s.carryOut(decision)
		s.now = s.now.Add(pick(s.simulation, 0, time.Second, time.Hour))
		if due := decision.RequeueAt; due.After(s.now) && s.oneIn(2) {
			s.now = due
		}
		if s.oneIn(30) {
			s.seen.Deleted = s.now
		}
		if s.oneIn(20) {
			s.policy = s.anyPolicy()
		}
	}
}

// decide calls Decide, and calls it again to check that the second answer is the same.
func (s *arbitraryApplication) decide() Decision {
	s.t.Helper()
	given := s.record.DeepCopy()
	record, decision := Decide(s.record, s.policy, s.seen, s.now)
	if !reflect.DeepEqual(given, s.record) {
		s.fail("Decide changed what it was given")
	}
	added := news(s.record, record)
	restarted := slices.ContainsFunc(added, func(t v1alpha1.Transition) bool {
		return t.State == string(ScheduledToRestart) || t.State == string(Resuming)
	})
	launches := decision.Effect == Launch
	changed := len(added) > 0 || !reflect.DeepEqual(launchOf(s.record), launchOf(record)) || spec.Noted(s.record) != spec.Noted(record)
	switch {
	case len(added) > 12:
		s.fail("Decide goes on and on: %v", describe(added))
	case changed != decision.Changed:
		s.fail("changed is %v after %d transitions", decision.Changed, len(added))
	case s.mustNotLaunch && (launches || restarted):
		s.fail("what is hopeless is launched: %s", summary(decision))
	case s.alive && restarted:
		s.fail("an attempt begins beside a driver that may be alive: %v", describe(added))
	case s.alive && launches && record.Launch == nil:
		s.fail("a driver is launched beside one that may be alive")
	case launches && (!State(outbox.Current(record).State).Initializing() || !s.seen.Deleted.IsZero()):
		s.fail("a driver is launched in %s", outbox.Current(record).State)
	}
	again, _ := Decide(record, s.policy, decision.Seen, s.now)
	if decision.Effect != Persist && !reflect.DeepEqual(record, again) {
		s.fail("asked again, Decide says otherwise: %v after %v", describe(again.Transitions), describe(record.Transitions))
	}
	s.record = record
	return decision
}

func launchOf(record *v1alpha1.Record) *v1alpha1.Launch {
	if record == nil {
		return nil
	}
	return record.Launch
}

// carryOut carries out an effect and observes the result.
func (s *arbitraryApplication) carryOut(decision Decision) {
	seen := Observation{Deleted: s.seen.Deleted}
	switch decision.Effect {
	case Launch:
		s.launch(&seen)
	case Release, ForceRelease:
		seen.ReleaseAccepted = true
		s.alive = s.alive && s.oneIn(2)
	case NoEffect:
		s.alive = s.alive && !s.oneIn(8)
	}
	switch verdict, judged := Judge(s.record, s.policy); {
	case decision.Awaits == AwaitsVerdict && !judged:
		s.fail("a verdict is awaited that the built-in handler does not give")
	case judged:
		s.record.Verdict = &verdict
	}
	if s.seen = decision.Seen; decision.Effect != Persist || s.oneIn(4) {
		s.observePod(&seen)
		s.seen = seen
	}
}

func (s *arbitraryApplication) launch(seen *Observation) {
	if s.oneIn(4) {
		return // try again later
	}
	if s.record.Launch == nil {
		s.record.Launch = &v1alpha1.Launch{ID: fmt.Sprint("launch-", s.record.Attempt.ID), DriverPod: "driver"}
	}
	if s.oneIn(4) {
		seen.LaunchRefused = &quota
	}
	if seen.LaunchRefused != nil && !s.alive && s.oneIn(2) {
		return
	}
	seen.Launched = s.record.Launch.DriverUID
	if !s.alive || seen.Launched == "" {
		s.created++
		seen.Launched = types.UID(fmt.Sprint("pod-", s.created))
	}
	s.alive = true
}

func (s *arbitraryApplication) observePod(seen *Observation) {
	if s.record.Launch == nil || s.oneIn(3) {
		return
	}
	seen.ReadyExecutors = s.rng.Intn(5)
	end := &End{State: pick(s.simulation, Succeeded, Failed, DriverEvicted, "Dreaming"), Cause: appFailure}
	switch {
	case s.alive:
		seen.Driver = pick(s.simulation, requestedDriver, startedDriver, readyDriver, terminating(s.now), &Driver{Started: true, End: end})
	case s.oneIn(2):
		seen.Driver = &Driver{End: end, Stopped: true, Terminating: s.oneIn(2)}
	default:
		seen.DriverGone = true
	}
}

// TestArbitraryRecordsFailSafely does the same with records that are well-formed JSON and make no sense.
func TestArbitraryRecordsFailSafely(t *testing.T) {
	first, count := seedRange(t, 2000)
	for seed := first; seed < first+count; seed++ {
		newArbitraryApplication(t, newSimulation(t, seed).anyRecord(), seed).run()
	}
}

func (w *simulation) anyRecord() *v1alpha1.Record {
	number := func() int64 { return pick[int64](w, -1, 0, 0, 1, 1, 2, 3, 100) }
	instant := func() metav1.MicroTime {
		return pick(w, metav1.MicroTime{}, metav1.NewMicroTime(pick(w, start, at(time.Hour), at(-1e6*time.Hour))))
	}
	record := &v1alpha1.Record{
		Attempt:  v1alpha1.Attempt{ID: number(), Since: instant(), Restarts: number(), FailureRestarts: number()},
		Sequence: number(), Acknowledged: number(),
	}
	if !w.oneIn(3) {
		uid := pick[types.UID](w, "", "uid")
		record.Launch = &v1alpha1.Launch{ID: "launch", DriverPod: "driver", DriverUID: uid, Released: w.oneIn(3)}
	}
	if w.oneIn(2) {
		attempt, notBefore := pick(w, record.Attempt.ID, number()), pick(w, nil, ptrTo(instant()))
		record.Verdict = &v1alpha1.Verdict{Attempt: attempt, Restart: !w.oneIn(3), NotBefore: notBefore}
	}
	for range w.rng.Intn(5) {
		transition := v1alpha1.Transition{
			Sequence: number(), Time: instant(), Attempt: pick(w, record.Attempt.ID, number()),
			State: string(pick(w, append(States, "", "Dreaming")...)), Outcome: pick(w, "", "", v1alpha1.OutcomeFailed),
		}
		if !w.oneIn(3) {
			transition.End = &v1alpha1.AttemptEnd{Outcome: pick(w, "", "Failed", "Exploded"), RestartAllowed: !w.oneIn(3)}
		}
		record.Transitions = append(record.Transitions, transition)
	}
	return record
}
