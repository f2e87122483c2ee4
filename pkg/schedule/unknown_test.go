package schedule_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox/unknowntest"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

func TestUnknownFieldsArePreserved(t *testing.T) {
	begun := v1alpha1.BegunRun{ScheduledTime: metav1.NewTime(hour(1)), At: metav1.NewMicroTime(hour(1))}
	last := v1alpha1.ScheduledRun{ScheduledTime: metav1.NewTime(hour(0)), Name: "last", UID: "last"}
	s := following(hour(0)).Record(func(r *v1alpha1.ScheduleRecord) {
		r.Held = &v1alpha1.HeldRun{ScheduledTime: metav1.NewTime(hour(1)), Policy: v1alpha1.ConcurrencyForbid}
		r.Begun, r.Last = &begun, &last
		r.Active = []v1alpha1.RunReference{{Name: "active", UID: "active"}}
		r.Surplus = []v1alpha1.RunReference{{Name: "surplus", UID: "surplus"}}
		unknowntest.Fill(r)
	})
	record, want := s.decide(t, hour(1)).Record, s.Obj().Status.Firesteel
	if diff := cmp.Diff(want, record); diff != "" {
		t.Errorf("decided (-want +got):\n%s", diff)
	}
	schedule.RecordBegun(record, hour(1), hour(1))
	schedule.Count(&v1alpha1.ScheduleStatus{}, record, schedule.Policy{}, []schedule.Run{
		{Name: "active", UID: "active"}, {Name: "surplus", UID: "surplus", State: schedule.RunFailed},
	}, nil)
	if diff := cmp.Diff(want, record); diff != "" {
		t.Errorf("begun and counted (-want +got):\n%s", diff)
	}
	schedule.RecordRun(record, v1alpha1.ScheduledRun{Name: "last", UID: "last"})
	if record.Unknown != want.Unknown || record.Last.Unknown != want.Last.Unknown {
		t.Errorf("started: %+v", record)
	}
}
