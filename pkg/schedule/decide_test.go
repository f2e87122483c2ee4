package schedule_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

func TestRunsAreDueMissedAndScheduled(t *testing.T) {
	const second = time.Second
	never := time.Time{}
	for name, test := range map[string]struct {
		schedule *builder
		now      time.Time
		due      time.Time
		next     time.Time
		missed   int64
		look     time.Time
	}{
		"a new one is not due when it is created":           {hourly(), created, never, hour(1), 0, hour(1)},
		"a new one is due from its first instant on":        {hourly(), hour(1), hour(1), hour(1), 0, hour(2)},
		"a new one that was reconciled late is made up":     {hourly(), hour(3).Add(second), hour(3), hour(3), 2, hour(4)},
		"just before its time it is not due":                {following(hour(5)), hour(6).Add(-1), never, hour(6), 0, hour(6)},
		"at its time it is due":                             {following(hour(5)), hour(6), hour(6), hour(6), 0, hour(7)},
		"a settled instant is not due again":                {following(hour(6)), hour(6), never, hour(7), 0, hour(7)},
		"late it is still due":                              {following(hour(5)), hour(7).Add(-1), hour(6), hour(6), 0, hour(7)},
		"the latest is made up, earlier ones are not":       {following(hour(5)), hour(9).Add(second), hour(9), hour(9), 3, hour(10)},
		"a clock that was set back makes nothing due again": {following(hour(6)), hour(4), never, hour(7), 0, hour(7)},

		"within its deadline it is made up":      {following(hour(5)).Deadline(60), hour(6).Add(time.Minute), hour(6), hour(6), 0, hour(6).Add(time.Minute + 1)},
		"beyond its deadline it is missed":       {following(hour(5)).Deadline(60), hour(6).Add(time.Minute + 1), never, hour(7), 1, hour(7)},
		"and so are those before it":             {following(hour(5)).Deadline(60), hour(8).Add(2 * time.Minute), never, hour(9), 3, hour(9)},
		"a deadline of zero requires it at once": {following(hour(5)).Deadline(0), hour(6), hour(6), hour(6), 0, hour(6).Add(1)},
		"a deadline may be very long":            {following(hour(5)).Deadline(1 << 62), hour(7).Add(-1), hour(6), hour(6), 0, hour(7)},
		"a deadline beyond the next is the next": {following(hour(5)).Deadline(7200), hour(6), hour(6), hour(6), 0, hour(7)},

		"suspended it is not due":                             {following(hour(5)).Suspended(), hour(6), never, never, 0, never},
		"an invalid schedule is not due":                      {following(hour(5)).Schedule("whenever"), hour(6), never, never, 0, never},
		"an unknown policy is not due":                        {following(hour(5)).Concurrency("Perhaps"), hour(6), never, never, 0, never},
		"an edit counts from when it is seen":                 {following(hour(5)).Schedule("30 * * * *"), hour(8), never, hour(8).Add(30 * time.Minute), 0, hour(8).Add(30 * time.Minute)},
		"so does an edit of the zone":                         {following(hour(5)).Zone("Asia/Kathmandu"), hour(8), never, hour(8).Add(15 * time.Minute), 0, hour(8).Add(15 * time.Minute)},
		"@every counts from the creation":                     {hourly().Schedule("@every 50m"), hour(1), created.Add(50 * time.Minute), created.Add(50 * time.Minute), 0, created.Add(100 * time.Minute)},
		"the Kubeflow operator's continues at its next time":  {hourly().Left(hour(2), hour(3)), hour(2).Add(second), never, hour(3), 0, hour(3)},
		"if that time is past, it is made up":                 {hourly().Left(hour(2), hour(3)), hour(4).Add(second), hour(4), hour(4), 1, hour(5)},
		"an edit that it did not see takes effect now":        {hourly().Left(hour(2), hour(20)), hour(4).Add(second), never, hour(5), 0, hour(5)},
		"its @every keeps its time":                           {hourly().Schedule("@every 1h").Left(hour(2), hour(3).Add(7*second)), hour(2).Add(30 * second), never, hour(3).Add(7 * second), 0, hour(3).Add(7 * second)},
		"its @every that was shortened takes effect now":      {hourly().Schedule("@every 5m").Left(hour(2), hour(3)), hour(2).Add(second), never, hour(2).Add(5*time.Minute + second), 0, hour(2).Add(5*time.Minute + second)},
		"a schedule that it refused begins now":               {hourly().Left(never, never), hour(9), never, hour(10), 0, hour(10)},
		"a schedule that it suspended stays suspended":        {hourly().Left(hour(2), hour(3)).Suspended(), hour(9), never, never, 0, never},
		"a schedule that stopped after its first run goes on": {hourly().Left(hour(1), hour(2)), hour(2).Add(second), hour(2), hour(2), 0, hour(3)},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.schedule.decide(t, test.now)
			if !got.Due.Equal(test.due) || !got.Next.Equal(test.next) || got.Record.Missed != test.missed || !got.RequeueAt.Equal(test.look) {
				t.Errorf("due %s, next %s, missed %d, to be looked at again %s", got.Due, got.Next, got.Record.Missed, got.RequeueAt)
			}
		})
	}
}

// A missed run is counted once, however often Decide is called.
func TestMissedRunsAreCountedOnce(t *testing.T) {
	b := following(hour(5))
	for n := 9; n < 12; n++ {
		for range 3 {
			decision := b.decide(t, hour(n).Add(time.Second))
			if want := int64(n - 6); decision.Record.Missed != want || !decision.Due.Equal(hour(n)) {
				t.Errorf("at %s missed %d, want %d, and %s is due", hour(n), decision.Record.Missed, want, decision.Due)
			}
			b.s.Status.Firesteel = decision.Record
		}
	}
}

func TestRunsDuringASuspensionAreNotMissed(t *testing.T) {
	b := following(hour(5)).Suspended()
	b.s.Status.Firesteel = b.decide(t, hour(5).Add(time.Minute)).Record
	no := false
	b.s.Spec.Suspend = &no
	decision := b.decide(t, hour(9).Add(time.Minute))
	if decision.Record.Missed != 0 || !decision.Due.Equal(hour(9)) || decision.Record.Suspended {
		t.Errorf("resumed, %s is due, and the record is %+v", decision.Due, decision.Record)
	}
}

func TestAHeldRunIsHeldOnlyForItsInstant(t *testing.T) {
	held := func(r *v1alpha1.ScheduleRecord) {
		r.Held = &v1alpha1.HeldRun{ScheduledTime: metav1.NewTime(hour(6)), Policy: v1alpha1.ConcurrencyForbid}
	}
	for name, test := range map[string]struct {
		schedule *builder
		now      time.Time
		held     bool
		missed   int64
	}{
		"until the next":      {following(hour(5)), hour(7).Add(-1), true, 0},
		"when the next comes": {following(hour(5)), hour(7), false, 1},
		"when it is suspended": {
			following(hour(5)).Suspended(), hour(6).Add(1), false, 0,
		},
		"when it is edited": {following(hour(5)).Schedule("30 * * * *"), hour(6).Add(1), false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			record := test.schedule.Record(held).decide(t, test.now).Record
			if (record.Held != nil) != test.held || record.Missed != test.missed {
				t.Errorf("held %v, missed %d", record.Held, record.Missed)
			}
		})
	}
}

// A run whose creation has begun may exist already. No other is started before that is known.
func TestARunWhoseCreationHasBegunStaysDue(t *testing.T) {
	begun := func(r *v1alpha1.ScheduleRecord) { schedule.RecordBegun(r, hour(6), hour(7).Add(-time.Second)) }
	void := hour(7).Add(-time.Second).Add(schedule.BegunTimeout)
	for name, test := range map[string]struct {
		schedule *builder
		now      time.Time
		due      time.Time
		missed   int64
		look     time.Time
	}{
		"when the next instant has come":        {following(hour(5)), hour(7), hour(6), 0, void},
		"beyond its deadline":                   {following(hour(5)).Deadline(60), hour(7), hour(6), 0, void},
		"until the creation began too long ago": {following(hour(5)), void, hour(7), 1, hour(8)},
		"unless the schedule was edited":        {following(hour(5)).Schedule("30 * * * *"), hour(7), time.Time{}, 0, hour(7).Add(30 * time.Minute)},
		"and not while the schedule is stopped": {following(hour(5)).Suspended(), hour(7), time.Time{}, 0, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.schedule.Record(begun).decide(t, test.now)
			if !got.Due.Equal(test.due) || got.Record.Missed != test.missed || !got.RequeueAt.Equal(test.look) {
				t.Errorf("due %s, missed %d, requeued for %s", got.Due, got.Record.Missed, got.RequeueAt)
			}
		})
	}
	record := following(hour(5)).Record(begun).Obj().Status.Firesteel
	schedule.RecordRun(record, v1alpha1.ScheduledRun{ScheduledTime: metav1.NewTime(hour(6)), Name: "pi-6", UID: "6"})
	if record.Begun != nil {
		t.Error("after it is recorded its creation is still begun")
	}
}

func TestRecordRun(t *testing.T) {
	record := following(hour(5)).Obj().Status.Firesteel
	record.Held = &v1alpha1.HeldRun{ScheduledTime: metav1.NewTime(hour(6))}
	run := v1alpha1.ScheduledRun{ScheduledTime: metav1.NewTime(hour(6)), Name: "pi-6", UID: "6"}
	schedule.RecordRun(record, run)
	schedule.RecordRun(record, run)
	want := &v1alpha1.ScheduleRecord{
		Clock: "0 * * * * UTC", Since: metav1.NewTime(created), SettledUntil: metav1.NewTime(hour(6)), Last: &run,
		Active: []v1alpha1.RunReference{{Name: "pi-6", UID: "6"}},
	}
	if diff := cmp.Diff(want, record); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	refused := v1alpha1.ScheduledRun{ScheduledTime: metav1.NewTime(hour(7)), Name: "pi-7", Reason: schedule.ReasonRefused}
	schedule.RecordRun(record, refused)
	if record.Missed != 1 || len(record.Active) != 1 || !schedule.Settled(record, hour(7)) || schedule.Settled(record, hour(8)) {
		t.Errorf("after a refusal the record is %+v", record)
	}
}

// A process that created a run and stopped before recording it has started the run, even if the run was deleted
// since.
func TestLatestUnrecorded(t *testing.T) {
	b := following(hour(5))
	record := b.Obj().Status.Firesteel
	runs := []schedule.Run{
		{Name: "pi-5", Instant: hour(5)}, {Name: "by hand"}, {Name: "pi-8", UID: "8", Instant: hour(8), Created: hour(8).Add(time.Second)},
	}
	found := schedule.LatestUnrecorded(record, runs)
	if found == nil || found.Name != "pi-8" {
		t.Fatalf("found %v", found)
	}
	schedule.RecordFound(record, schedule.PolicyOf(b.Obj(), hour(9)), *found)
	if record.Missed != 2 || !schedule.Settled(record, hour(8)) || record.Last.UID != "8" {
		t.Errorf("the record is %+v", record)
	}
	if schedule.LatestUnrecorded(record, runs) != nil {
		t.Error("it is found again")
	}
}
