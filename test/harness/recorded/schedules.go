package recorded

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// schedules are what happened to a schedule.
var schedules = []struct {
	name    string
	change  func(spec *v1alpha1.ScheduleSpec, record *v1alpha1.ScheduleRecord)
	overdue string
	health  Health
	message string
}{
	{name: "Scheduled", health: Healthy, message: "2026-03-01T14:00:00Z"},
	{name: "Started", health: Healthy, change: func(_ *v1alpha1.ScheduleSpec, record *v1alpha1.ScheduleRecord) {
		record.Last = &v1alpha1.ScheduledRun{Name: "pi-1", UID: "uid-of-run", ScheduledTime: metav1.NewTime(now)}
	}},
	{name: "WaitsForRunningRun", health: Healthy, change: func(spec *v1alpha1.ScheduleSpec, record *v1alpha1.ScheduleRecord) {
		spec.ConcurrencyPolicy = v1alpha1.ConcurrencyForbid
		record.SettledUntil = metav1.NewTime(start)
		record.Held = &v1alpha1.HeldRun{ScheduledTime: metav1.NewTime(now), Policy: v1alpha1.ConcurrencyForbid}
	}},
	{name: "ReplacesRunningRun", health: Healthy, change: func(spec *v1alpha1.ScheduleSpec, record *v1alpha1.ScheduleRecord) {
		spec.ConcurrencyPolicy = v1alpha1.ConcurrencyReplace
		record.SettledUntil = metav1.NewTime(start)
		record.Held = &v1alpha1.HeldRun{ScheduledTime: metav1.NewTime(now), Policy: v1alpha1.ConcurrencyReplace}
	}},
	{name: "Suspended", health: Suspended, message: "spec.suspend", change: func(spec *v1alpha1.ScheduleSpec, _ *v1alpha1.ScheduleRecord) {
		spec.Suspend = ptr.To(true)
	}},
	{name: "InvalidSchedule", health: Degraded, message: "InvalidSchedule: ", change: func(spec *v1alpha1.ScheduleSpec, _ *v1alpha1.ScheduleRecord) {
		spec.Schedule = "every day"
	}},
	{name: "InvalidTimeZone", health: Degraded, message: "InvalidTimeZone: ", change: func(spec *v1alpha1.ScheduleSpec, _ *v1alpha1.ScheduleRecord) {
		spec.TimeZone = "Mars/Olympus"
	}},
	{name: "InvalidConcurrencyPolicy", health: Degraded, message: "InvalidConcurrencyPolicy: ",
		change: func(spec *v1alpha1.ScheduleSpec, _ *v1alpha1.ScheduleRecord) { spec.ConcurrencyPolicy = "Queue" }},
	{name: "Refused", health: Degraded, message: "exceeded quota", change: func(_ *v1alpha1.ScheduleSpec, record *v1alpha1.ScheduleRecord) {
		record.Last = &v1alpha1.ScheduledRun{Reason: schedule.ReasonRefused, Message: "exceeded quota", ScheduledTime: metav1.NewTime(now)}
	}},
	{name: "Warning", health: Degraded, message: "spec.unknown", change: func(_ *v1alpha1.ScheduleSpec, record *v1alpha1.ScheduleRecord) {
		record.Last = &v1alpha1.ScheduledRun{Name: "pi-1", UID: "uid-of-run", Message: "spec.unknown", ScheduledTime: metav1.NewTime(now)}
	}},
	{name: "with a silent handler", overdue: "schedule", health: Degraded, message: "schedule"},
}

// Schedules returns schedules of both kinds in each state.
func Schedules() []Object {
	var objects []Object
	for _, kind := range variant.All {
		blank := newSchedule(kind)
		objects = append(objects, object(kind.GroupVersionKind(), "new", blank, Progressing, ""))
		for _, s := range schedules {
			o := newSchedule(kind)
			reconcile(kind, o, start, "") // begins the record
			record := o.GetScheduleStatus().Firesteel
			record.SettledUntil = metav1.NewTime(now)
			if s.change != nil {
				s.change(o.GetSchedule(), record)
			}
			reconcile(kind, o, now, s.overdue)
			objects = append(objects, object(kind.GroupVersionKind(), s.name, o, s.health, s.message))
		}
		scheduled := objects[len(objects)-len(schedules)]
		objects = append(objects, edited(scheduled), undecodable(scheduled, schedule.ConditionScheduled))
	}
	return objects
}

func newSchedule(kind *variant.Kind) variant.Schedule {
	template := runtime.RawExtension{Raw: []byte("{}")}
	if kind == variant.Kubeflow {
		s := &v1beta2.ScheduledSparkApplication{ObjectMeta: meta("pi")}
		s.Spec.Schedule, s.Spec.Template = "0 * * * *", template
		return s
	}
	s := &v1alpha1.ScheduledSparkApplication{ObjectMeta: meta("pi")}
	s.Spec.Schedule, s.Spec.Template.Spec = "0 * * * *", template
	return s
}

func reconcile(kind *variant.Kind, s variant.Schedule, at time.Time, overdueHandler string) {
	policy := kind.PolicyOf(s, at)
	schedule.Project(s, policy, schedule.Decide(s, policy, at), overdueHandler, at)
}
