package variant_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// record is the record of an application that went through states. The first one ended the application.
func record(outcome string, states ...lifecycle.State) *v1alpha1.Record {
	record := &v1alpha1.Record{}
	for _, state := range states {
		record.Sequence++
		record.Transitions = append(record.Transitions, v1alpha1.Transition{Sequence: record.Sequence, State: string(state)})
	}
	record.Transitions[0].Outcome = outcome
	return record
}

func TestRunOf(t *testing.T) {
	apache := func(record *v1alpha1.Record) metav1.Object {
		return &sparkv1.SparkApplication{Status: sparkv1.ApplicationStatus{Firesteel: record}}
	}
	left := func(state v1beta2.ApplicationStateType) metav1.Object {
		return &v1beta2.SparkApplication{Status: v1beta2.SparkApplicationStatus{AppState: v1beta2.ApplicationState{State: state}}}
	}
	undecodable := func(record *v1alpha1.Record) metav1.Object {
		return &sparkv1.SparkApplication{Undecodable: "spec", Status: sparkv1.ApplicationStatus{Firesteel: record}}
	}
	launched := record("", lifecycle.RunningHealthy)
	launched.Launch = &v1alpha1.Launch{DriverUID: "driver"}
	for name, test := range map[string]struct {
		run  metav1.Object
		want schedule.RunState
	}{
		"that was never reconciled":              {apache(nil), schedule.RunActive},
		"that runs":                              {apache(record("", lifecycle.RunningHealthy)), schedule.RunActive},
		"that succeeded, and has its driver":     {apache(record(v1alpha1.OutcomeSucceeded, lifecycle.Succeeded)), schedule.RunActive},
		"that succeeded":                         {apache(record(v1alpha1.OutcomeSucceeded, lifecycle.Succeeded, lifecycle.ResourceReleased)), schedule.RunSucceeded},
		"that failed":                            {apache(record(v1alpha1.OutcomeFailed, lifecycle.Failed, lifecycle.ResourceReleased)), schedule.RunFailed},
		"that cannot be decoded":                 {undecodable(nil), schedule.RunFailed},
		"that cannot be decoded nor launched":    {undecodable(record("", lifecycle.Submitted)), schedule.RunFailed},
		"that cannot be decoded, and runs":       {undecodable(launched), schedule.RunActive},
		"that cannot be decoded, of a newer one": {undecodable(&v1alpha1.Record{Format: 2}), schedule.RunActive},
		"that cannot be decoded, and succeeded":  {undecodable(record(v1alpha1.OutcomeSucceeded, lifecycle.Succeeded, lifecycle.ResourceReleased)), schedule.RunSucceeded},
		"that the Kubeflow operator left":        {left(v1beta2.CompletedState), schedule.RunSucceeded},
		"that it left, failed":                   {left(v1beta2.FailedState), schedule.RunFailed},
		"that it left, running":                  {left(v1beta2.RunningState), schedule.RunActive},
		"of the Kubeflow kind, that is new":      {left(""), schedule.RunActive},
	} {
		if got := variant.RunOf(test.run).State; got != test.want {
			t.Errorf("one %s is %q, want %q", name, got, test.want)
		}
	}
}

// Labels and annotations of the schedule itself cannot be set by the template.
func TestARunNamesItsScheduleAndInstant(t *testing.T) {
	s := &v1alpha1.ScheduledSparkApplication{}
	s.Namespace, s.Name, s.UID, s.Labels = "team-a", "pi", "uid-of-pi", map[string]string{"team": "a", "made": "no"}
	s.Spec.Template.Metadata.Labels = map[string]string{"made": "so", "firesteel.dev/schedule": "forged"}
	s.Spec.Template.Metadata.Annotations = map[string]string{"note": "it", variant.AnnotationScheduledTime: "forged"}
	s.Spec.Template.Spec.Raw = []byte(`{"mainClass": "Main"}`)
	instant := time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600))
	run, err := variant.Apache.NewRun(s, instant)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"team": "a", "made": "so", "firesteel.dev/schedule": "pi"}
	if diff := cmp.Diff(want, run.GetLabels()); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got := run.GetAnnotations(); got["note"] != "it" || !variant.InstantOf(run).Equal(instant) {
		t.Errorf("annotations: %v", got)
	}
	owner, owned := variant.Apache.Owner(run)
	if !owned || owner.UID != s.UID {
		t.Errorf("its owner is %v", owner)
	}
	if _, owned := variant.Kubeflow.Owner(run); owned {
		t.Error("it is taken for a run of the other kind")
	}
}

// A template of the Kubeflow operator has no metadata: its runs have the schedule's own annotations about applications.
func TestARunOfTheKubeflowKindHasTheAnnotationsOfItsSchedule(t *testing.T) {
	s := &v1beta2.ScheduledSparkApplication{}
	s.Namespace, s.Name, s.UID = "team-a", "pi", "uid-of-pi"
	s.Annotations = map[string]string{
		"firesteel.dev/active-deadline": "1h", "firesteel.dev/driver-start-timeout": "10m", "firesteel.dev/driver-service": "none",
		"firesteel.dev/driver-config-maps": "one", "example.com/a": "b",
	}
	s.Spec.Template.Raw = []byte("{}")
	run, err := variant.Kubeflow.NewRun(s, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"firesteel.dev/active-deadline": "1h", "firesteel.dev/driver-start-timeout": "10m", "firesteel.dev/driver-service": "none",
		"firesteel.dev/driver-config-maps": "one", "firesteel.dev/scheduled-time": "2026-03-01T12:00:00Z",
	}
	if diff := cmp.Diff(want, run.GetAnnotations()); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}
