package schedule

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// The reasons why an instant has no run.
const (
	// ReasonRefused: the API server refused the application.
	ReasonRefused = "Refused"
	// ReasonNameTaken: an application of another owner has the run's name.
	ReasonNameTaken = "NameTaken"
)

// RecordRun records the result for an instant: a run that was started, or none.
func RecordRun(record *v1alpha1.ScheduleRecord, run v1alpha1.ScheduledRun) {
	Settle(record, run.ScheduledTime.Time)
	if last := record.Last; last != nil && last.Name == run.Name && last.UID == run.UID {
		run.Unknown = last.Unknown
	}
	record.Last = &run
	if run.UID == "" {
		record.Missed++
		return
	}
	activate(record, run)
}

// RecordLateRun records a run whose instant counts as missed, because the next one came before the run was recorded. It reports whether it
// did: if the record has this run or a later one already, it does nothing.
func RecordLateRun(record *v1alpha1.ScheduleRecord, run v1alpha1.ScheduledRun) bool {
	if last := record.Last; run.UID == "" || last != nil && !last.ScheduledTime.Before(&run.ScheduledTime) {
		return false
	}
	record.Last = &run
	record.Missed = max(record.Missed-1, 0)
	activate(record, run)
	return true
}

// activate adds a run that was started to the active ones.
func activate(record *v1alpha1.ScheduleRecord, run v1alpha1.ScheduledRun) {
	for _, known := range record.Active {
		if known.UID == run.UID {
			return
		}
	}
	record.Active = append(record.Active, v1alpha1.RunReference{Name: run.Name, UID: run.UID})
	record.Active = record.Active[max(len(record.Active)-maxActive, 0):]
}

// Settled reports whether an instant is settled.
func Settled(record *v1alpha1.ScheduleRecord, instant time.Time) bool {
	return !instant.After(record.SettledUntil.Time)
}

// RecordFound records a run that exists without being recorded: the process that started it stopped before recording
// it. The instants before it were missed.
func RecordFound(record *v1alpha1.ScheduleRecord, policy Policy, run Run) {
	if policy.Clock != nil && !record.Suspended {
		record.Missed += policy.Clock.Between(record.SettledUntil.Time, run.Instant)
	}
	RecordRun(record, v1alpha1.ScheduledRun{
		ScheduledTime: seconds(run.Instant), StartedAt: metav1.NewMicroTime(run.Created), Name: run.Name, UID: run.UID,
	})
}

// LatestUnrecorded returns the latest run for an instant that the record has not settled; nil if there is none.
func LatestUnrecorded(record *v1alpha1.ScheduleRecord, runs []Run) *Run {
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
