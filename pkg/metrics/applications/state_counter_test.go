package applications

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

func TestStateCounterForgetsApplicationsThatAreNotServed(t *testing.T) {
	c := NewStateCounter(clock.RealClock{})
	key := types.NamespacedName{Namespace: "team-a", Name: "pi"}
	for _, step := range []struct {
		name   string
		state  string
		served bool
		want   map[string]int64
	}{
		{"not reconciled yet", "", true, map[string]int64{"New": 1}},
		{"running", "RunningHealthy", true, map[string]int64{"New": 0, "RunningHealthy": 1}},
		{"out of scope", "RunningHealthy", false, map[string]int64{"New": 0, "RunningHealthy": 0}},
		{"in the scope again", "RunningHealthy", true, map[string]int64{"New": 0, "RunningHealthy": 1}},
		{"deleted", "RunningHealthy", false, map[string]int64{"New": 0, "RunningHealthy": 0}},
	} {
		var app dialect.Application
		if step.served {
			app = &sparkv1.SparkApplication{}
		}
		c.Lock()
		c.Set(key, app, step.state)
		c.Unlock()
		if diff := cmp.Diff(step.want, c.Count()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	if len(c.observed) != 0 {
		t.Errorf("it still holds %v", c.observed)
	}
}

func TestLongestWaitIsThatOfTheOldestApplicationThatMayRun(t *testing.T) {
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	apps := map[string]*sparkv1.SparkApplication{}
	add := func(name, state, reason string, ago time.Duration) {
		app := &sparkv1.SparkApplication{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-ago))}}
		if state != "" {
			app.Status.Firesteel = &v1alpha1.Record{Transitions: []v1alpha1.Transition{{State: state, Time: metav1.NewMicroTime(now.Add(-ago))}}}
			app.Status.Conditions = []metav1.Condition{{Type: dialect.ConditionSucceeded, Reason: reason}}
		}
		apps[name] = app
	}
	c := NewStateCounter(clocktesting.NewFakePassiveClock(now))
	add("new", "", "", time.Second)
	add("first", "DriverRequested", "DriverRequested", time.Hour)
	add("second", "DriverRequested", "Unschedulable", time.Minute)
	add("suspended", "Submitted", "Suspended", 24*time.Hour)
	add("running", "RunningHealthy", "RunningHealthy", 24*time.Hour)
	add("ended", "ResourceReleased", "Succeeded", 24*time.Hour)
	observed := func() map[string]time.Duration {
		c.Lock()
		for name, app := range apps {
			state := ""
			if record := app.GetRecord(); record != nil {
				state = record.Transitions[0].State
			}
			c.Set(types.NamespacedName{Namespace: "team-a", Name: name}, app, state)
		}
		c.Unlock()
		return c.LongestWaits()
	}
	want := map[string]time.Duration{
		"New": time.Second, "Submitted": 0, "ScheduledToRestart": 0, "Resuming": 0,
		"DriverRequested": time.Hour, "DriverStarted": 0, "DriverReady": 0, "InitializedBelowThresholdExecutors": 0,
		"Invalidating": 0,
	}
	if diff := cmp.Diff(want, observed()); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	add("first", "RunningHealthy", "RunningHealthy", 0)
	want["DriverRequested"] = time.Minute
	if diff := cmp.Diff(want, observed()); diff != "" {
		t.Errorf("waits after the oldest started (-want +got):\n%s", diff)
	}
	namespaces := map[string]int64{}
	c.CountNamespaces(func(namespace, phase string, applications int64) { namespaces[namespace+" "+phase] = applications })
	if diff := cmp.Diff(map[string]int64{"team-a Waiting": 2, "team-a Suspended": 1, "team-a Running": 2, "team-a Ended": 1}, namespaces); diff != "" {
		t.Errorf("phases (-want +got):\n%s", diff)
	}
}
