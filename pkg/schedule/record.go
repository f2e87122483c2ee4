package schedule

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// The reasons why there is no run for an instant.
const (
	// ReasonRefused is that the API server refused the application.
	ReasonRefused = "Refused"
	// ReasonNameTaken is that somebody else's application has the run's name.
	ReasonNameTaken = "NameTaken"
)

// Start notes in a record what became of an instant: a run that was started, or none.
func Start(record *v1alpha1.ScheduleRecord, run v1alpha1.ScheduledRun) {
	Settle(record, run.ScheduledTime.Time)
	if last := record.Last; last != nil && last.Name == run.Name && last.UID == run.UID {
		run.Unknown = last.Unknown
	}
	record.Last = &run
	if run.UID == "" {
		record.Missed++
		return
	}
	for _, known := range record.Active {
		if known.UID == run.UID {
			return
		}
	}
	record.Active = append(record.Active, v1alpha1.RunReference{Name: run.Name, UID: run.UID})
	record.Active = record.Active[max(len(record.Active)-maxActive, 0):]
}

// Settled says whether an instant is settled.
func Settled(record *v1alpha1.ScheduleRecord, instant time.Time) bool {
	return !instant.After(record.SettledUntil.Time)
}

// Found notes a run that exists and that the record does not know of: whoever started it came no further. The instants
// before it were missed.
func Found(record *v1alpha1.ScheduleRecord, policy Policy, run Run) {
	if policy.Clock != nil && !record.Suspended {
		record.Missed += policy.Clock.Between(record.SettledUntil.Time, run.Instant)
	}
	Start(record, v1alpha1.ScheduledRun{
		ScheduledTime: seconds(run.Instant), StartedAt: metav1.NewMicroTime(run.Created), Name: run.Name, UID: run.UID,
	})
}

// Unrecorded is the latest of the runs for instants that a record has not settled; nil where there is none.
func Unrecorded(record *v1alpha1.ScheduleRecord, runs []Run) *Run {
	var latest *Run
	for i := range runs {
		run := &runs[i]
		if run.Instant.IsZero() || Settled(record, run.Instant) || latest != nil && !run.Instant.After(latest.Instant) {
			continue
		}
		latest = run
	}
	return latest
}
