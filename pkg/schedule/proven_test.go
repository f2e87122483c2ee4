package schedule_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

func TestUnprovenInstantsAreDropped(t *testing.T) {
	object := following(hour(1)).s
	now := hour(3).Add(time.Minute)
	run := func(change func(*schedule.Run)) schedule.Run {
		r := schedule.Run{Name: schedule.RunName("pi", hour(2)), Controller: object.UID, Created: hour(2), Instant: hour(2)}
		if change != nil {
			change(&r)
		}
		return r
	}
	far := time.Date(9990, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		run  schedule.Run
		want bool
	}{
		"a run of Firesteel":                    {run(nil), true},
		"a run of the Kubeflow form":            {run(func(r *schedule.Run) { r.Name = "pi-1772373600000000000" }), true},
		"without a controlling owner":           {run(func(r *schedule.Run) { r.Controller = "" }), false},
		"of another owner":                      {run(func(r *schedule.Run) { r.Controller = types.UID("another") }), false},
		"with another name":                     {run(func(r *schedule.Run) { r.Name = "pi-by-hand" }), false},
		"created an hour before":                {run(func(r *schedule.Run) { r.Created = hour(1) }), false},
		"created by a clock that is slow":       {run(func(r *schedule.Run) { r.Created = hour(2).Add(-time.Second) }), true},
		"of the Kubeflow form for another time": {run(func(r *schedule.Run) { r.Name = "pi-1" }), false},
		"with the name alone":                   {run(func(r *schedule.Run) { r.Name = "pi-" }), false},
		"of another schedule's name":            {run(func(r *schedule.Run) { r.Name = "e-1772373600" }), false},
		"between two instants": {run(func(r *schedule.Run) {
			r.Instant = hour(2).Add(time.Second)
			r.Name = schedule.RunName("pi", r.Instant)
		}), false},
		"of the future": {run(func(r *schedule.Run) {
			r.Instant, r.Name = hour(4), schedule.RunName("pi", hour(4))
		}), false},
		"of the year 9990": {run(func(r *schedule.Run) { r.Instant, r.Name = far, schedule.RunName("pi", far) }), false},
	} {
		policy := schedule.PolicyOf(&object, now)
		got := schedule.DropUnprovenInstants(&object, policy, []schedule.Run{test.run}, now)[0]
		if proven := !got.Instant.IsZero(); proven != test.want {
			t.Errorf("the instant of a run %s: proven %t, want %t", name, proven, test.want)
		}
		if got.Name != test.run.Name {
			t.Errorf("a run %s is dropped", name)
		}
	}
}

func TestARecordSettledTooFarAheadIsCorrected(t *testing.T) {
	now := hour(3).Add(time.Minute)
	object := following(hour(1)).Record(func(r *v1alpha1.ScheduleRecord) {
		r.SettledUntil.Time = time.Date(9990, 1, 1, 0, 0, 0, 0, time.UTC)
	}).s
	decision := schedule.Decide(&object, schedule.PolicyOf(&object, now), now)
	if !decision.Next.Equal(hour(4)) || !decision.RequeueAt.Equal(hour(4)) {
		t.Errorf("the next run is %s and requeued for %s, want %s", decision.Next, decision.RequeueAt, hour(4))
	}
}
