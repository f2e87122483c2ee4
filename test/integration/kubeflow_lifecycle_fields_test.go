package integration

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// withSpec is a manifest with more fields of spec.
func withSpec(s *env, manifest, fields string) string {
	s.Helper()
	var app, more map[string]any
	s.must(yaml.Unmarshal([]byte(manifest), &app))
	s.must(yaml.Unmarshal([]byte(fields), &more))
	spec := app["spec"].(map[string]any)
	for key, value := range more {
		given, isMap := value.(map[string]any)
		before, was := spec[key].(map[string]any)
		if !isMap || !was {
			spec[key] = value
			continue
		}
		for key, value := range given {
			before[key] = value
		}
	}
	text, err := yaml.Marshal(app)
	s.must(err)
	return string(text)
}

// lifecycleFields are those that no Pod shows, each with what it does.
var lifecycleFields = map[string]func(*env){
	"suspend": func(s *env) {
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "suspend: true"))
		app := s.untilShown("spark-pi", v1beta2.SuspendedState)
		if drivers := s.driverHistory.driversOf(s.ns, "spark-pi"); len(drivers) > 0 || app.Status.SubmissionAttempts > 0 {
			s.Errorf("what is suspended had the drivers %v:\n%s", drivers, described(app))
		}
	},
	"restartPolicy.type": func(s *env) {
		s.kubelet.Fail(s.ns)
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "restartPolicy: {type: Never, onFailureRetries: 3}"))
		s.untilAttempted(s.untilShown("spark-pi", v1beta2.FailedState), 1, 1)
	},
	"restartPolicy.onFailureRetries": func(s *env) {
		s.kubelet.Fail(s.ns)
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "restartPolicy: {type: OnFailure, onFailureRetries: 2, onFailureRetryInterval: 1}"))
		s.untilAttempted(s.untilShown("spark-pi", v1beta2.FailedState), 3, 1)
	},
	"restartPolicy.onFailureRetryInterval": func(s *env) {
		s.kubelet.Fail(s.ns)
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "restartPolicy: {type: OnFailure, onFailureRetries: 1, onFailureRetryInterval: 3}"))
		if wait := waited(s.untilShown("spark-pi", v1beta2.FailedState)); wait < 3*time.Second {
			s.Errorf("it waited for %s", wait)
		}
	},
	"restartPolicy.onSubmissionFailureRetries": func(s *env) {
		s.limit("pods", "0")
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"),
			"restartPolicy: {type: OnFailure, onSubmissionFailureRetries: 2, onSubmissionFailureRetryInterval: 1}"))
		s.untilAttempted(s.untilShown("spark-pi", v1beta2.FailedState), 0, 3)
	},
	"restartPolicy.onSubmissionFailureRetryInterval": func(s *env) {
		s.limit("pods", "0")
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"),
			"restartPolicy: {type: OnFailure, onSubmissionFailureRetries: 1, onSubmissionFailureRetryInterval: 3}"))
		transitions := s.untilShown("spark-pi", v1beta2.FailedState).Status.Firesteel.Transitions
		if wait := transitions[len(transitions)-1].Time.Sub(transitions[0].Time.Time); wait < 3*time.Second {
			s.Errorf("it waited for %s", wait)
		}
	},
	"maxSubmissionRetries": func(s *env) {
		s.limit("pods", "0")
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "{restartPolicy: OnFailure, maxSubmissionRetries: 2, submissionRetryInterval: 1}"))
		s.untilAttempted(s.untilShown("spark-pi", v1beta2.FailedState), 0, 3)
	},
	"submissionRetryInterval": func(s *env) {
		s.limit("pods", "0")
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "{restartPolicy: OnFailure, maxSubmissionRetries: 1, submissionRetryInterval: 3}"))
		transitions := s.untilShown("spark-pi", v1beta2.FailedState).Status.Firesteel.Transitions
		if wait := transitions[len(transitions)-1].Time.Sub(transitions[0].Time.Time); wait < 3*time.Second {
			s.Errorf("it waited for %s", wait)
		}
	},
	"submissionByUser": func(s *env) {
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "submissionByUser: true"))
		if app := s.untilShown("spark-pi", v1beta2.FailedState); !strings.Contains(app.Status.AppState.ErrorMessage, "spec.submissionByUser") {
			s.Errorf("it failed since %s", app.Status.AppState.ErrorMessage)
		}
	},
	"timeToLiveSeconds": func(s *env) {
		s.kubelet.Fail(s.ns)
		s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "timeToLiveSeconds: 1"))
		untilGone(s, s.kubeflowApps(), "spark-pi")
		s.untilNothingIsLeft()
	},
}

// untilAttempted checks how often an application was run, and how often the last run was submitted.
func (s *env) untilAttempted(app *v1beta2.SparkApplication, executions, submissions int32) {
	s.Helper()
	if status := app.Status; status.ExecutionAttempts != executions || status.SubmissionAttempts != submissions || status.TerminationTime.IsZero() {
		s.Errorf("it ran %d times and was submitted %d times, want %d and %d; it ended at %s",
			status.ExecutionAttempts, status.SubmissionAttempts, executions, submissions, status.TerminationTime)
	}
}

func TestKubeflowLifecycleFieldsHaveTheirEffect(t *testing.T) {
	t.Parallel()
	for field, acts := range lifecycleFields {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			acts(newEnv(t).sharesController())
		})
	}
}
