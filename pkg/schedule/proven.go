package schedule

import (
	"strconv"
	"strings"
	"time"
)

// DropUnprovenInstants returns the runs of a schedule without the instants that are not proven. Any user who may
// create applications can write an owner reference and an annotation, and a forged instant would settle all instants
// before it.
//
// The instant of a run is dropped unless the run has the name of a run, the schedule is its controlling owner, the
// instant is one of the schedule and not in the future, and the run was not created before it. The run itself stays:
// every owned run counts for the concurrency policy and the history.
func DropUnprovenInstants(object Object, policy Policy, runs []Run, now time.Time) []Run {
	for i := range runs {
		if !proven(object, policy, runs[i], now) {
			runs[i].Instant = time.Time{}
		}
	}
	return runs
}

// MaxClockSkew is how far the clocks of the API server and of the process that starts runs may differ.
const MaxClockSkew = time.Minute

func proven(object Object, policy Policy, run Run, now time.Time) bool {
	return run.Controller == object.GetUID() && isRunName(run, object.GetName()) && !run.Instant.After(now) &&
		!run.Created.Before(run.Instant.Add(-MaxClockSkew)) && policy.Clock != nil && policy.Clock.Fires(run.Instant)
}

// isRunName reports whether a run has a name that its schedule gives: Firesteel's name for its instant, or a name of
// the Kubeflow operator, which appends the time of the start.
func isRunName(run Run, schedule string) bool {
	if run.Name == RunName(schedule, run.Instant) {
		return true
	}
	digits, ok := strings.CutPrefix(run.Name, schedule+"-")
	number, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil {
		return false
	}
	// The operator's settings choose the unit.
	for _, started := range []time.Time{time.Unix(number, 0), time.UnixMilli(number), time.UnixMicro(number), time.Unix(0, number)} {
		if !started.Before(run.Instant) && !started.After(run.Created.Add(MaxClockSkew)) {
			return true
		}
	}
	return false
}
