package schedule

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Decision is what follows for a schedule at an instant.
type Decision struct {
	// Record is the record with missed instants settled. The state of the runs is not part of the decision.
	Record *v1alpha1.ScheduleRecord
	// Due is the instant whose run is to be started; zero if there is none.
	Due time.Time
	// Next is the instant of the next run: the due one, or else the first in the future; zero if there is none.
	Next time.Time
	// RequeueAt is when the next change happens by time alone; zero if there is none.
	RequeueAt time.Time
}

// Current returns a copy of a schedule's record. If there is none, or if it is about another clock, Current returns a new one.
func Current(object Object, policy Policy, now time.Time) *v1alpha1.ScheduleRecord {
	record := object.GetScheduleStatus().Firesteel.DeepCopy()
	if record == nil || policy.Clock == nil || record.Clock != policy.Clock.String() {
		record = begin(object, policy, now)
	}
	boundUnknown(record)
	return record
}

// Decide settles the missed instants of a schedule and finds the due one.
func Decide(object Object, policy Policy, now time.Time) Decision {
	return DecideOn(Current(object, policy, now), policy, now)
}

// DecideOn is Decide for a record of Current. The decision has that record, changed.
func DecideOn(record *v1alpha1.ScheduleRecord, policy Policy, now time.Time) Decision {
	switch {
	case policy.Clock == nil:
		return Decision{Record: record}
	case policy.Suspended:
		record.Suspended, record.Held = true, nil
		return Decision{Record: record}
	}
	if record.SettledUntil.After(now.Add(maxAhead)) {
		record.SettledUntil = seconds(now)
	}
	coming := policy.Clock.Next(later(now, record.SettledUntil.Time)) // a settled instant is not due again
	decision := Decision{Record: record, RequeueAt: coming}
	decision.Due = policy.Clock.Latest(record.SettledUntil.Time, now)
	if !decision.begun(now) && !decision.Due.IsZero() {
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

// maxAhead bounds how far a record may be settled ahead of the clock, for example after the clock was set back. A
// record further ahead, for example from an earlier version that accepted a forged run, would stop the schedule until
// then.
const maxAhead = 7 * 24 * time.Hour

// BegunTimeout is how long a run whose creation has begun is waited for. The process that creates it must give up
// before that.
const BegunTimeout = 30 * time.Second

// begun reports whether the creation of a run has begun. The run may exist already, so it stays the due one, even if
// another instant passes.
func (d *Decision) begun(now time.Time) bool {
	begun := d.Record.Begun
	if begun == nil {
		return false
	}
	until := begun.At.Add(BegunTimeout)
	if !now.Before(until) {
		d.Record.Begun = nil
		return false
	}
	d.Due = begun.ScheduledTime.UTC()
	if until.Before(d.RequeueAt) {
		d.RequeueAt = until
	}
	return true
}

// RecordBegun records that the creation of a run begins.
func RecordBegun(record *v1alpha1.ScheduleRecord, instant, now time.Time) {
	begun := &v1alpha1.BegunRun{ScheduledTime: metav1.NewTime(instant), At: metav1.NewMicroTime(now)}
	if before := record.Begun; before != nil && before.ScheduledTime.Time.Equal(instant) {
		begun.Unknown = before.Unknown
	}
	record.Begun = begun
}

// miss settles the instants before the due one, and the due one if its deadline has passed. Instants during a
// suspension do not count as missed.
func (d *Decision) miss(policy Policy, now time.Time) {
	record := d.Record
	if earlier := policy.Clock.Between(record.SettledUntil.Time, d.Due); earlier > 0 {
		if !record.Suspended {
			record.Missed += earlier
		}
		record.SettledUntil = seconds(secondBefore(d.Due))
	}
	if policy.StartingDeadline < 0 {
		return
	}
	deadline := d.Due.Add(policy.StartingDeadline)
	if !now.After(deadline) {
		if past := deadline.Add(time.Nanosecond); past.Before(d.RequeueAt) {
			d.RequeueAt = past
		}
		return
	}
	if !record.Suspended {
		record.Missed++
	}
	Settle(record, d.Due)
	d.Due = time.Time{}
}

// Settle settles an instant and all before it.
func Settle(record *v1alpha1.ScheduleRecord, instant time.Time) {
	record.SettledUntil, record.Held, record.Begun = seconds(instant), nil, nil
}
