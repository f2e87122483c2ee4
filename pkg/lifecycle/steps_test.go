package lifecycle_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	. "github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// TestStepsAreThoseOfTheSimulation decides on each state, with many policies and observations, and on the resulting
// records. The steps that happen must be exactly those of the table.
func TestStepsAreThoseOfTheSimulation(t *testing.T) {
	for name, interrupts := range map[string]bool{"an API that does not interrupt": false, "an API that interrupts": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[string]bool{}
			for _, from := range append([]State{""}, States...) {
				for _, to := range States {
					if Follows(from, to, interrupts) && (interrupts || !onlyInterrupting(from)) {
						want[step(from, to)] = true
					}
				}
			}
			if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(stepsThatHappen(interrupts)))); diff != "" {
				t.Errorf("steps (-in the table +that happen):\n%s", diff)
			}
		})
	}
}

// onlyInterrupting reports whether only APIs that interrupt have a state.
func onlyInterrupting(state State) bool {
	return slices.Contains([]State{Suspending, Suspended, Resuming, Invalidating, Unknown}, state)
}

// stepsThatHappen decides on the first record, and then on each resulting record of a new kind.
func stepsThatHappen(interrupts bool) map[string]bool {
	happened, known := map[string]bool{}, map[string]bool{}
	todo := []*v1alpha1.Record{nil}
	for len(todo) > 0 {
		record := todo[0]
		todo = todo[1:]
		for _, policy := range somePolicies(interrupts) {
			for _, given := range variants(record) {
				for _, seen := range someObservations(given) {
					for _, later := range []time.Duration{time.Second, time.Hour} {
						now := start
						if given != nil {
							now = outbox.Current(given).Time.Add(later)
						}
						next, decision := Decide(given, policy, seen, now)
						noteSteps(happened, given, next)
						if decision.Effect == Launch && next.Launch == nil {
							id := next.Attempt.ID
							next.Launch = &v1alpha1.Launch{ID: fmt.Sprint(id), DriverPod: fmt.Sprintf("pi-%d-driver", id)}
						}
						if kind := kindOf(next); !known[kind] {
							known[kind] = true
							todo = append(todo, next)
						}
					}
				}
			}
		}
	}
	return happened
}

// step names a step from one state to another.
func step(from, to State) string { return fmt.Sprintf("step from %q to %s", from, to) }

func noteSteps(happened map[string]bool, before, after *v1alpha1.Record) {
	from := CurrentState(before)
	for _, transition := range news(before, after) {
		happened[step(from, State(transition.State))] = true
		from = State(transition.State)
	}
}

// kindOf returns the parts of a record on which another decision may depend.
func kindOf(record *v1alpha1.Record) string {
	before, current := "", outbox.Current(record)
	if n := len(record.Transitions); n > 1 && current.State == string(Unknown) {
		before = record.Transitions[n-2].State
	}
	restart := current.End != nil && current.End.RestartAllowed
	launched, released, heldUp := "", false, ""
	if record.Launch != nil {
		launched, released, heldUp = string(record.Launch.DriverUID), record.Launch.Released, record.Launch.HeldUp
	}
	return fmt.Sprint(before, current.State, restart, record.Launch != nil, launched != "", released, heldUp != "", record.Attempt.WithoutEventLogs != "")
}

// variants returns a record, the same with a verdict, and the same whose executors were ready without room for the
// transition.
func variants(record *v1alpha1.Record) []*v1alpha1.Record {
	if record == nil {
		return []*v1alpha1.Record{nil}
	}
	records := []*v1alpha1.Record{record}
	if record.Launch != nil {
		wereReady := record.DeepCopy()
		wereReady.Launch.ExecutorsReady = true
		records = append(records, wereReady)
	}
	for _, restart := range []bool{true, false} {
		judged := record.DeepCopy()
		judged.Acknowledged, judged.Verdict = judged.Sequence, &v1alpha1.Verdict{Attempt: judged.Attempt.ID, Restart: restart}
		records = append(records, judged)
	}
	return records
}

func somePolicies(interrupts bool) []Policy {
	var policies []Policy
	for _, retain := range []Retain{RetainNever, RetainAlways} {
		policy := plain(restarts(RestartAlways), func(p *Policy) {
			p.Restart.MaxAttempts, p.Restart.Backoff, p.Retain, p.RetainFor = 10, 0, retain, time.Minute
			p.Timeouts = Timeouts{DriverStart: time.Minute, DriverReady: time.Minute, ExecutorStart: time.Minute}
			p.Executors = Executors{Init: 2, Min: 2, Max: 3}
			p.Interrupts, p.HasUnknown = interrupts, interrupts
			p.Spec = spec.Spec{Generation: 1, Hash: func(int64) string { return "spec" }}
		})
		suspended, edited, refused, late := policy, policy, policy, policy
		suspended.Suspend = true
		edited.Spec = spec.Spec{Generation: 2, Hash: func(int64) string { return "another spec" }}
		refused.Refused = &Cause{Class: ClassApplication, Reason: "InvalidSpec"}
		late.ExecutorsFromStart = true
		policies = append(policies, policy, suspended, refused)
		if interrupts {
			policies = append(policies, edited, late)
		}
	}
	return policies
}

// someObservations are observations of a record's launch, if it has one.
func someObservations(record *v1alpha1.Record) []Observation {
	uid := types.UID("driver")
	seen := []Observation{
		{}, {Launched: uid}, {DriverGone: true}, {ReleaseAccepted: true}, {LaunchRefused: &Cause{Class: ClassScheduling, Reason: "Refused"}},
	}
	if record == nil || record.Launch == nil {
		return seen
	}
	for _, driver := range []Driver{
		{}, {Started: true}, {Ready: true}, {Unknown: true}, {HeldUpSince: start.Add(-time.Hour)},
		{End: &End{State: Succeeded}}, {End: &End{State: Failed}}, {End: &End{State: DriverEvicted}},
	} {
		driver.UID = record.Launch.DriverUID
		seen = append(seen, Observation{Driver: &driver})
	}
	for executors := range 4 {
		ready := Driver{UID: record.Launch.DriverUID, Started: true, Ready: true}
		seen = append(seen, Observation{Driver: &ready, ReadyExecutors: executors})
	}
	return seen
}
