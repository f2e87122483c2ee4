package drivers

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

func TestADriverIsReleasedOnceAnotherAttemptFollows(t *testing.T) {
	of := func(attempt int64, launch *v1alpha1.Launch) *v1alpha1.Record {
		return &v1alpha1.Record{Attempt: v1alpha1.Attempt{ID: attempt}, Launch: launch}
	}
	launched := &v1alpha1.Launch{DriverUID: "driver"}
	for name, test := range map[string]struct {
		before, after *v1alpha1.Record
		want          bool
	}{
		"a first record":           {nil, of(0, launched), false},
		"the same attempt":         {of(1, launched), of(1, launched), false},
		"the next attempt":         {of(1, launched), of(2, nil), true},
		"one that had not started": {of(1, nil), of(2, nil), false},
		"one without a driver":     {of(1, &v1alpha1.Launch{ID: "fenced"}), of(2, nil), false},
	} {
		s := NewExpectations(applicationtest.ClockAt(applicationtest.Start))
		s.DriverReleased(test.before, test.after)
		if got := s.Released("driver"); got != test.want || s.Released("") {
			t.Errorf("%s: the driver is released: %t", name, got)
		}
	}
}

// It may be back, as the application is, from an older backup of the API server.
func TestForgottenDriverHasNoExpectations(t *testing.T) {
	s := NewExpectations(applicationtest.ClockAt(applicationtest.Start))
	before := &v1alpha1.Record{Launch: &v1alpha1.Launch{ID: "this", DriverUID: "driver"}}
	s.PodDeleted(applicationtest.DriverOf("this", "driver").Gone().Obj(), false)
	s.PodCreated("driver")
	s.DriverReleased(before, &v1alpha1.Record{Attempt: v1alpha1.Attempt{ID: 1}})
	s.ForgetDriver(nil)
	if _, gone := s.Deleted("driver"); !gone || !s.Released("driver") {
		t.Error("it was forgotten too early")
	}
	s.ForgetDriver(before)
	if _, gone := s.Deleted("driver"); gone || s.Released("driver") || s.JustCreated("driver") {
		t.Error("it is known still")
	}
}

func TestExpectationsHoldUntilTheCacheShowsThem(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(applicationtest.Start)
	s := NewExpectations(clock)
	if _, gone := s.Deleted("driver"); gone || s.JustCreated("created") {
		t.Error("something was seen that was not")
	}
	pod := applicationtest.DriverOf("this", "driver").Gone().Obj()
	s.PodDeleted(pod, false)
	s.PodCreated("created")
	if last, gone := s.Deleted("driver"); !gone || last != pod {
		t.Errorf("the deleted Pod is %v, %t", last, gone)
	}
	if _, gone := s.Deleted("another"); gone {
		t.Error("another Pod is gone")
	}
	for since, want := range map[time.Duration]bool{0: true, base.EventDelay - time.Nanosecond: true, base.EventDelay: false} {
		clock.SetTime(applicationtest.Start.Add(since))
		if created := s.JustCreated("created"); created != want {
			t.Errorf("after %s: just created %t, want %t", since, created, want)
		}
	}
}
