package schedule

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Decision says how a schedule stands at an instant.
type Decision struct {
	// Record is the schedule's, with what was missed settled. What runs is not part of the decision.
	Record *v1alpha1.ScheduleRecord
	// Due is the instant whose run is to be started; zero where none is.
	Due time.Time
	// Next is the instant whose run is the next to start: the one that is due, or else the first to come; zero where there
	// is none.
	Next time.Time
	// LookAgain is when time alone changes something; zero where it does not.
	LookAgain time.Time
}

// Decide settles what is missed and finds what is due.
func Decide(object Object, policy Policy, now time.Time) Decision {
	record := object.GetScheduleStatus().Firesteel.DeepCopy()
	if record == nil || policy.Clock == nil || record.Clock != policy.Clock.String() {
		record = begin(object, policy, now)
	}
	switch {
	case policy.Clock == nil:
		return Decision{Record: record}
	case policy.Suspended:
		record.Suspended, record.Held = true, nil
		return Decision{Record: record}
	}
	coming := policy.Clock.Next(later(now, record.SettledUntil.Time)) // what is settled does not come again
	decision := Decision{Record: record, LookAgain: coming}
	decision.Due = policy.Clock.Latest(record.SettledUntil.Time, now)
	if !decision.Due.IsZero() {
		decision.miss(policy, now)
	}
	record.Suspended = false
	if record.Held != nil && !record.Held.ScheduledTime.Time.Equal(decision.Due) {
		record.Held = nil
	}
	if decision.Next = decision.Due; decision.Due.IsZero() {
		decision.Next = coming
	}
	return decision
}

// miss settles the instants before the one that is due, and that one too where it is too late. What passed while the
// schedule was suspended was not missed.
func (d *Decision) miss(policy Policy, now time.Time) {
	record := d.Record
	if earlier := policy.Clock.Between(record.SettledUntil.Time, d.Due); earlier > 0 {
		if !record.Suspended {
			record.Missed += earlier
		}
		record.SettledUntil = seconds(just(d.Due))
	}
	if policy.StartingDeadline < 0 {
		return
	}
	deadline := d.Due.Add(policy.StartingDeadline)
	if !now.After(deadline) {
		if past := deadline.Add(time.Nanosecond); past.Before(d.LookAgain) {
			d.LookAgain = past
		}
		return
	}
	if !record.Suspended {
		record.Missed++
	}
	Settle(record, d.Due)
	d.Due = time.Time{}
}

// Settle has an instant settled, and all before it.
func Settle(record *v1alpha1.ScheduleRecord, instant time.Time) {
	record.SettledUntil, record.Held = seconds(instant), nil
}
