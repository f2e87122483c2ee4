package status_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
)

// reasonsOf returns the reasons of an application's Kubernetes Events, in order, and the largest number of one attempt.
func reasonsOf(s *scenario) (reasons []string, most int) {
	before, spent := &v1beta2.SparkApplication{}, map[int64]int{}
	before.Name = "pi"
	for _, written := range s.statuses {
		now := before.DeepCopy()
		now.Status = written
		for _, said := range status.KubernetesEvents(before, now) {
			reasons = append(reasons, said.Reason)
			attempt := written.Firesteel.Attempt.ID
			spent[attempt]++
			most = max(most, spent[attempt])
		}
		before = now
	}
	return reasons, most
}

func TestEventsHaveUpstreamsReasons(t *testing.T) {
	for name, tt := range map[string]struct {
		run  func(*scenario)
		want string
	}{
		"a run that succeeds": {
			func(s *scenario) { s.Go().DriverRuns().DriverSucceeds() },
			"SparkApplicationSubmitted SparkApplicationCompleted",
		},
		"a run that fails": {
			func(s *scenario) { s.Go().DriverRuns().DriverFails() },
			"SparkApplicationSubmitted SparkDriverFailed SparkApplicationFailed",
		},
		"a retry": {
			func(s *scenario) { s.Retrying(3, 0).Go().DriverRuns().DriverFails().DriverRuns() },
			"SparkApplicationSubmitted SparkDriverFailed SparkApplicationPendingRerun SparkApplicationSubmitted",
		},
		"submissions that fail": {
			func(s *scenario) { s.Retrying(0, 1).Refused(2).Go() },
			"SparkApplicationSubmissionFailed SparkApplicationSubmissionFailed SparkApplicationFailed",
		},
		"a suspension": {
			func(s *scenario) {
				s.Go().DriverRuns().Suspended(true).Go().Suspended(false).Go().DriverRuns().DriverSucceeds()
			},
			"SparkApplicationSubmitted SparkApplicationSuspending SparkApplicationSuspended " +
				"SparkApplicationResuming SparkApplicationSubmitted SparkApplicationCompleted",
		},
		"an edit": {
			func(s *scenario) { s.Go().DriverRuns().Edited().Go().DriverRuns().DriverSucceeds() },
			"SparkApplicationSubmitted SparkApplicationSpecUpdateProcessed " +
				"SparkApplicationPendingRerun SparkApplicationSubmitted SparkApplicationCompleted",
		},
		"a driver that vanishes": {
			func(s *scenario) { s.Go().DriverRuns().DriverVanishes() },
			"SparkApplicationSubmitted SparkDriverNotFound SparkApplicationFailed",
		},
		"a driver of which nothing is known": {
			func(s *scenario) { s.Go().DriverRuns().DriverUnknown().DriverRuns().DriverUnknown().DriverVanishes() },
			"SparkApplicationSubmitted SparkDriverUnknown SparkDriverUnknown SparkApplicationFailed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			tt.run(s)
			reasons, most := reasonsOf(s)
			if diff := cmp.Diff(strings.Fields(tt.want), reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if most > 4 {
				t.Errorf("an attempt had %d events", most)
			}
		})
	}
}

// Failed executors have one Event in each attempt.
func TestExecutorFailureIsReportedOnce(t *testing.T) {
	app := &v1beta2.SparkApplication{}
	app.Name = "pi"
	record := submitted().Running()
	seen := map[string]dialect.Executor{"pi-exec-1": runs, "pi-exec-2": broken}
	var reasons, messages []string
	show := func() {
		before := app.DeepCopy()
		status.Project(&app.Status, record.Obj(), status.Executors{Seen: seen})
		for _, said := range status.KubernetesEvents(before, app) {
			reasons, messages = append(reasons, said.Reason), append(messages, said.Message)
		}
	}
	show()
	for i := range 5 {
		seen[fmt.Sprintf("pi-exec-%d", i+3)] = broken
		show()
	}
	record.Ended("Failed", endOfFailure())
	record.Over()
	show()
	want := []string{"SparkApplicationSubmitted", "SparkExecutorFailed", "SparkDriverFailed", "SparkApplicationFailed"}
	if !slices.Equal(reasons, want) {
		t.Errorf("reasons %q, want %q", reasons, want)
	}
	if messages[1] != "Executor pi-exec-2 failed; status.executorState shows the next ones" {
		t.Errorf("message %q", messages[1])
	}
}

func TestExecutorDeletedWithItsDriverIsNotReported(t *testing.T) {
	app := &v1beta2.SparkApplication{}
	record := submitted().Running()
	status.Project(&app.Status, record.Obj(), status.Executors{Seen: map[string]dialect.Executor{"pi-exec-1": runs}})
	before := app.DeepCopy()
	record.Ended("Failed", endOfFailure())
	status.Project(&app.Status, record.Over().Obj(), status.Executors{})
	if app.Status.ExecutorState["pi-exec-1"] != v1beta2.ExecutorFailedState {
		t.Errorf("executors %v", app.Status.ExecutorState)
	}
	for _, said := range status.KubernetesEvents(before, app) {
		if said.Reason == "SparkExecutorFailed" {
			t.Errorf("published %+v", said)
		}
	}
}
