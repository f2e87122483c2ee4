package schedule

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	boundUnknown(record)
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
	coming := policy.Clock.Next(later(now, record.SettledUntil.Time)) // what is settled does not come again
	decision := Decision{Record: record, LookAgain: coming}
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

// maxAhead bounds how far a record may be settled ahead of the clock, as after a clock was set back. A record that is
// further ahead, such as by an earlier version that believed a forged run, would keep the schedule asleep until then.
const maxAhead = 7 * 24 * time.Hour

// BegunHolds is for how long a run that was begun with is awaited. Whoever creates it has to give up before that.
const BegunHolds = 30 * time.Second

// begun says that a run was begun with and may exist already: whatever comes meanwhile, it is the one that is due.
func (d *Decision) begun(now time.Time) bool {
	begun := d.Record.Begun
	if begun == nil {
		return false
	}
	until := begun.At.Add(BegunHolds)
	if !now.Before(until) {
		d.Record.Begun = nil
		return false
	}
	d.Due = begun.ScheduledTime.UTC()
	if until.Before(d.LookAgain) {
		d.LookAgain = until
	}
	return true
}

// Begin notes in a record that the creation of a run is begun with.
func Begin(record *v1alpha1.ScheduleRecord, instant, now time.Time) {
	begun := &v1alpha1.BegunRun{ScheduledTime: metav1.NewTime(instant), At: metav1.NewMicroTime(now)}
	if before := record.Begun; before != nil && before.ScheduledTime.Time.Equal(instant) {
		begun.Unknown = before.Unknown
	}
	record.Begun = begun
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
	record.SettledUntil, record.Held, record.Begun = seconds(instant), nil, nil
}
