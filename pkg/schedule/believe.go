package schedule

import (
	"strings"
	"time"
)

// Believe returns the runs of a schedule with only those instants that its clock may count by. Anybody who may create
// applications can write an owner reference and an annotation, and a forged instant would settle all instants before it.
//
// The instant of a run is dropped unless the run has the name of a run, the schedule is its controlling owner, and the
// instant is one of the schedule and not in the future. The run itself stays: for the concurrency policy and the history
// every owned run counts.
func Believe(object Object, policy Policy, runs []Run, now time.Time) []Run {
	for i := range runs {
		if !proven(object, policy, runs[i], now) {
			runs[i].Instant = time.Time{}
		}
	}
	return runs
}

func proven(object Object, policy Policy, run Run, now time.Time) bool {
	return run.Controller == object.GetUID() && isRunName(run.Name, object.GetName(), run.Instant) &&
		!run.Instant.After(now) && policy.Clock != nil && policy.Clock.Fires(run.Instant)
}

// isRunName reports whether a run of a schedule has this name: the one that Firesteel gives to the run for an instant, or
// one of the Kubeflow operator, which appends the time of the start in a unit that its settings choose.
func isRunName(name, schedule string, instant time.Time) bool {
	if name == RunName(schedule, instant) {
		return true
	}
	digits, ok := strings.CutPrefix(name, schedule+"-")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}
