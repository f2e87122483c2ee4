package apache_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// What a program can wait for, in each state.
func TestConditionsOfProgress(t *testing.T) {
	ended := func(state lifecycle.State) *recordBuilder {
		return submitted().Requested().Ended(state, v1alpha1.AttemptEnd{})
	}
	retained := func(launch *v1alpha1.Launch) *recordBuilder {
		return ended(lifecycle.Failed).In(lifecycle.TerminatedWithoutReleaseResources, "").With(func(r *v1alpha1.Record) { r.Launch = launch })
	}
	running := func(state lifecycle.State) *recordBuilder { return submitted().Requested().In(state, "") }
	none, some := pi(), pi().Tolerating(sparkv1.ApplicationTolerations{
		InstanceConfig: &sparkv1.ExecutorInstanceConfig{InitExecutors: 3, MinExecutors: 2, MaxExecutors: 4},
	})
	for name, test := range map[string]struct {
		app                         *application
		record                      *recordBuilder
		driver, executors, released string
	}{
		"before the launch":         {none, submitted(), "False Submitted", "False Submitted", "False InUse"},
		"before the next launch":    {none, ended(lifecycle.Failed).Restarting(), "False ScheduledToRestart", "False ScheduledToRestart", "False InUse"},
		"while it is requested":     {some, submitted().Requested(), "False DriverRequested", "False DriverRequested", "False InUse"},
		"once it has started":       {some, running(lifecycle.DriverStarted), "False DriverStarted", "False DriverStarted", "False InUse"},
		"once it is ready":          {some, running(lifecycle.DriverReady), "True DriverReady", "False BelowInitial", "False InUse"},
		"with too few to begin":     {some, running(lifecycle.InitializedBelowThresholdExecutors), "True DriverReady", "False BelowInitial", "False InUse"},
		"with enough executors":     {some, running(lifecycle.RunningHealthy), "True DriverReady", "True Sufficient", "False InUse"},
		"with some of them":         {some, running(lifecycle.RunningWithPartialCapacity), "True DriverReady", "True PartialCapacity", "False InUse"},
		"with too few of them":      {some, running(lifecycle.RunningWithBelowThresholdExecutors), "True DriverReady", "False BelowMinimum", "False InUse"},
		"where none are asked for":  {none, running(lifecycle.RunningHealthy), "True DriverReady", "True NoMinimum", "False InUse"},
		"after success":             {some, ended(lifecycle.Succeeded), "False Succeeded", "False Succeeded", "False AttemptEnded"},
		"after failure":             {some, ended(lifecycle.ExecutorsStartTimedOut), "False ExecutorsStartTimedOut", "False ExecutorsStartTimedOut", "False AttemptEnded"},
		"where it could not launch": {some, submitted().Ended(lifecycle.SchedulingFailure, v1alpha1.AttemptEnd{}), "False SchedulingFailure", "False SchedulingFailure", "False AttemptEnded"},
		"when the driver is kept": {
			some, retained(&v1alpha1.Launch{DriverUID: "uid-of-driver"}),
			"False TerminatedWithoutReleaseResources", "False TerminatedWithoutReleaseResources", "False Retained",
		},
		"when the driver that was kept is gone": {
			some, retained(&v1alpha1.Launch{DriverUID: "uid-of-driver", Released: true}),
			"False TerminatedWithoutReleaseResources", "False TerminatedWithoutReleaseResources", "True NothingRetained",
		},
		"when no driver was made that could be kept": {
			some, retained(&v1alpha1.Launch{Released: true}),
			"False TerminatedWithoutReleaseResources", "False TerminatedWithoutReleaseResources", "True NothingRetained",
		},
		"when nothing was launched": {
			some, retained(nil),
			"False TerminatedWithoutReleaseResources", "False TerminatedWithoutReleaseResources", "True NothingRetained",
		},
		"when it is over": {none, ended(lifecycle.Failed).In(lifecycle.ResourceReleased, ""), "False ResourceReleased", "False ResourceReleased", "True Released"},
	} {
		t.Run(name, func(t *testing.T) {
			got := concluded(test.app.Obj(), test.record.Obj(), dialect.Facts{})
			for kind, want := range map[string]string{
				"DriverReady": test.driver, "ExecutorsReady": test.executors, "ResourcesReleased": test.released,
			} {
				c := meta.FindStatusCondition(got, kind)
				if got := string(c.Status) + " " + c.Reason; got != want || c.Message == "" {
					t.Errorf("%s is %s (%q), want %s", kind, got, c.Message, want)
				}
			}
			wantAcceptable(t, got)
		})
	}
}

func TestConditionEventsDelivered(t *testing.T) {
	acknowledged := func(n int64) func(*v1alpha1.Record) { return func(r *v1alpha1.Record) { r.Acknowledged = n } }
	for name, test := range map[string]struct {
		record *recordBuilder
		want   string
	}{
		"unknown until the record says so": {submitted().Requested().With(acknowledged(1)), "Unknown Pending"},
		"true when all are taken":          {submitted().Requested().With(acknowledged(2)), "True Delivered"},
		"false where some were refused":    {submitted().Rejected(2).With(acknowledged(1)), "False Rejected"},
	} {
		t.Run(name, func(t *testing.T) {
			got := concluded(pi().Obj(), test.record.Obj(), dialect.Facts{})
			if c := meta.FindStatusCondition(got, "EventsDelivered"); string(c.Status)+" "+c.Reason != test.want {
				t.Errorf("it is %s %s, want %s", c.Status, c.Reason, test.want)
			}
			wantAcceptable(t, got)
		})
	}
}

// The message stays the same for as long as the sink takes nothing, so that it costs one write.
func TestConditionEventsDeliveredIfTheSinkTakesNone(t *testing.T) {
	app, record := pi().Obj(), submitted().Requested()
	expect := func(when string, acknowledged int64, facts dialect.Facts, want string) {
		t.Helper()
		record.With(func(r *v1alpha1.Record) { r.Acknowledged = acknowledged })
		app.Status.Conditions = concluded(app, record.Obj(), facts)
		c := meta.FindStatusCondition(app.Status.Conditions, "EventsDelivered")
		if got := string(c.Status) + " " + c.Reason; got != want || c.Reason == "SinkUnavailable" && c.Message != "Events wait for the sink: it is down" {
			t.Errorf("%s it is %s: %s, want %s", when, got, c.Message, want)
		}
	}
	expect("at first", 1, dialect.Facts{}, "Unknown Pending")
	expect("when it is known", 1, dialect.Facts{Delivery: diagnosis.Delivery{Undelivered: "it is down"}}, "False SinkUnavailable")
	expect("with another reason", 1, dialect.Facts{Delivery: diagnosis.Delivery{Undelivered: "it is away"}}, "False SinkUnavailable")
	expect("after a restart, before the sink was tried", 1, dialect.Facts{}, "False SinkUnavailable")
	expect("when the sink takes events again", 1, dialect.Facts{Delivery: diagnosis.Delivery{Delivering: true}}, "Unknown Pending")
	expect("when it has all", 2, dialect.Facts{Delivery: diagnosis.Delivery{Delivering: true}}, "True Delivered")
}

// People read the first, and kubectl wait needs them all from the beginning.
func TestConditionsComeInTheSameOrder(t *testing.T) {
	kinds := func(app *sparkv1.SparkApplication, record *recordBuilder) []string {
		var kinds []string
		for _, c := range concluded(app, record.Obj(), dialect.Facts{}) {
			kinds = append(kinds, c.Type)
		}
		return kinds
	}
	want := []string{"Succeeded", "DriverReady", "ExecutorsReady", "ResourcesReleased", "EventsDelivered"}
	app := pi().Obj()
	for _, record := range []*recordBuilder{submitted(), submitted().Requested(), submitted().Ended(lifecycle.Failed, v1alpha1.AttemptEnd{})} {
		if diff := cmp.Diff(want, kinds(app, record)); diff != "" {
			t.Errorf("conditions (-want +got):\n%s", diff)
		}
	}
	if i := slices.IndexFunc(app.Status.Conditions, func(c metav1.Condition) bool { return c.LastTransitionTime.IsZero() }); i >= 0 {
		t.Errorf("%s has no time", app.Status.Conditions[i].Type)
	}
}
