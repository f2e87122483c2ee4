package schedule

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// RunState is the state of a run.
type RunState string

// The states of a run.
const (
	RunActive    RunState = ""
	RunSucceeded RunState = "Succeeded"
	RunFailed    RunState = "Failed"
)

// Run is the application of a run.
type Run struct {
	Name    string
	UID     types.UID
	Created time.Time
	// Controller is the uid of its controlling owner; empty if it has none.
	Controller types.UID
	// Instant is the instant that the run claims to be for; zero if it claims none. DropUnprovenInstants drops claims that are not
	// proven.
	Instant time.Time
	State   RunState
	// Deleting reports whether its deletion was accepted.
	Deleting bool
}

// references returns a function that refers to a run, with the unknown fields that the record has for it.
func references(record *v1alpha1.ScheduleRecord) func(Run) v1alpha1.RunReference {
	unknown := map[types.UID]v1alpha1.UnknownFields{}
	for _, known := range slices.Concat(record.Active, record.Surplus) {
		if known.Unknown != "" {
			unknown[known.UID] = known.Unknown
		}
	}
	return func(run Run) v1alpha1.RunReference {
		return v1alpha1.RunReference{Name: run.Name, UID: run.UID, Unknown: unknown[run.UID]}
	}
}

// maxActive bounds the active runs in a record. If there are more, the oldest are forgotten.
const maxActive = 256

// Count writes the runs of settled instants into a record and a status: active, retained and surplus. uncached are the runs that the record has as active
// and that exist although the cache does not have them.
func Count(status *v1alpha1.ScheduleStatus, record *v1alpha1.ScheduleRecord, policy Policy, runs []Run, uncached []v1alpha1.RunReference) {
	runs = slices.Clone(runs)
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.Name, a.Name)) })
	reference := references(record)
	var active, surplus []v1alpha1.RunReference
	kept := map[RunState][]string{}
	limits := map[RunState]int{RunSucceeded: policy.KeepSuccessful, RunFailed: policy.KeepFailed}
	for _, run := range runs {
		switch {
		case !run.Instant.IsZero() && !Settled(record, run.Instant):
			// The process that started it is about to record it, and a write now would conflict.
		case run.State == RunActive:
			active = append(active, reference(run))
		case run.Deleting:
		case len(kept[run.State]) < limits[run.State]:
			kept[run.State] = append(kept[run.State], run.Name)
		default:
			surplus = append(surplus, reference(run))
		}
	}
	status.PastSuccessfulRunNames, status.PastFailedRunNames = kept[RunSucceeded], kept[RunFailed]
	active = append(active, uncached...)
	slices.SortFunc(active, byName)
	record.Active = active[max(len(active)-maxActive, 0):]
	slices.SortFunc(surplus, byName)
	record.Surplus = surplus[:min(len(surplus), maxActive)]
}

// byName also sorts by age: the names end with their times.
func byName(a, b v1alpha1.RunReference) int { return cmp.Compare(a.Name, b.Name) }
