package schedule

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// RunState is how far a run is.
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
	// Instant is the instant that the run claims to be for; zero if it claims none. Believe drops claims that are not
	// proven.
	Instant time.Time
	State   RunState
	// Deleting says that its deletion was accepted.
	Deleting bool
}

// references makes references to runs, with the unknown fields of those that a record has.
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

// maxActive bounds what a record holds of the runs that have not ended. Of more, the oldest are forgotten.
const maxActive = 256

// Count notes in a record and a status how the runs of a schedule stand, of the instants that are settled. unseen are those that the record has as active
// and that were not seen to end, or to go.
func Count(status *v1alpha1.ScheduleStatus, record *v1alpha1.ScheduleRecord, policy Policy, runs []Run, unseen []v1alpha1.RunReference) {
	runs = slices.Clone(runs)
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.Name, a.Name)) })
	reference := references(record)
	var active, surplus []v1alpha1.RunReference
	kept := map[RunState][]string{}
	limits := map[RunState]int{RunSucceeded: policy.KeepSuccessful, RunFailed: policy.KeepFailed}
	for _, run := range runs {
		switch {
		case !run.Instant.IsZero() && !Settled(record, run.Instant):
			// Whoever started it is about to record it, and a write meanwhile would be in the way.
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
	active = append(active, unseen...)
	slices.SortFunc(active, byName)
	record.Active = active[max(len(active)-maxActive, 0):]
	slices.SortFunc(surplus, byName)
	record.Surplus = surplus[:min(len(surplus), maxActive)]
}

// byName sorts by age, too: the names end with their times.
func byName(a, b v1alpha1.RunReference) int { return cmp.Compare(a.Name, b.Name) }
