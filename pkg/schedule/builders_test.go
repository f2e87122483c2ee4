package schedule_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

// created is when the schedule of these tests was created; it is due each hour.
var created = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// hour is an instant of the hourly schedule, some hours after its creation.
func hour(n int) time.Time { return created.Add(time.Duration(n) * time.Hour) }

type builder struct {
	s v1alpha1.ScheduledSparkApplication
}

// hourly is a schedule that no controller has reconciled.
func hourly() *builder {
	b := &builder{}
	b.s.Namespace, b.s.Name, b.s.UID, b.s.CreationTimestamp = "team-a", "pi", "uid-of-pi", metav1.NewTime(created)
	b.s.Spec.Schedule = "0 * * * *"
	return b
}

// following is one that was looked at when it was created, and each of whose runs up to an instant was started.
func following(settled time.Time) *builder {
	b := hourly()
	b.s.Status = v1alpha1.ScheduleStatus{ScheduleState: v1alpha1.ScheduleStateScheduled, Firesteel: &v1alpha1.ScheduleRecord{
		Clock: "0 * * * * UTC", Since: metav1.NewTime(created), SettledUntil: metav1.NewTime(settled),
	}}
	return b
}

func (b *builder) Schedule(text string) *builder { b.s.Spec.Schedule = text; return b }
func (b *builder) Zone(zone string) *builder     { b.s.Spec.TimeZone = zone; return b }
func (b *builder) Suspended() *builder           { yes := true; b.s.Spec.Suspend = &yes; return b }
func (b *builder) Deadline(seconds int64) *builder {
	b.s.Spec.StartingDeadlineSeconds = &seconds
	return b
}

func (b *builder) Concurrency(policy v1alpha1.ConcurrencyPolicy) *builder {
	b.s.Spec.ConcurrencyPolicy = policy
	return b
}

func (b *builder) Record(change func(*v1alpha1.ScheduleRecord)) *builder {
	change(b.s.Status.Firesteel)
	return b
}

// Left has a status that the Kubeflow operator left.
func (b *builder) Left(last, next time.Time) *builder {
	b.s.Status = v1alpha1.ScheduleStatus{ScheduleState: v1alpha1.ScheduleStateScheduled}
	if !last.IsZero() {
		at := metav1.NewTime(last)
		b.s.Status.LastRun = &at
	}
	if !next.IsZero() {
		at := metav1.NewTime(next)
		b.s.Status.NextRun = &at
	}
	return b
}

func (b *builder) Obj() *v1alpha1.ScheduledSparkApplication { return b.s.DeepCopy() }

// decide is what is decided at an instant.
func (b *builder) decide(t *testing.T, now time.Time) schedule.Decision {
	t.Helper()
	object := b.Obj()
	return schedule.Decide(object, schedule.PolicyOf(object, now), now)
}
