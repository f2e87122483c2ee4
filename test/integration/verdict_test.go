package integration

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

// The policy of examples/functions/verdict takes the place of the handler restart, with the rights that its manifest gives.
func TestRestartVerdictOfAnotherHandler(t *testing.T) {
	alone(t)
	const backoff = 10 * time.Second
	s := newEnv(t)
	manifest := "--filename=../../examples/functions/verdict/verdict.yaml"
	_, err := s.Plane.Kubectl(t.Context(), "", "apply", manifest)
	s.must(err)
	t.Cleanup(func() {
		if _, err := s.Plane.Kubectl(context.Background(), "", "delete", manifest); err != nil {
			t.Error(err)
		}
	})
	s.configured("config-handlers", "restart", config.External)
	policy := s.function("verdict", "verdict", nil)
	s.sink.SetAnswer(s.ns, policy.trigger("sparkrestartallowed", "true"))
	s.ownController(controllerOf(s))

	s.create(App("faulty").Restart(sparkv1.RestartOnFailure, 3, 0))
	created := s.create(App("evicted").Restart(sparkv1.RestartOnFailure, 3, 0))
	s.run("faulty", 0).exit(1)
	s.run("evicted", 0).evict()

	again := untilSince(s, s.apps(), created, "be scheduled to restart", func(app *sparkv1.SparkApplication) bool { // for as long as its back-off
		return stateOf(app) == "ScheduledToRestart"
	}).Status.Firesteel
	over := s.untilState("faulty", "ResourceReleased")
	want := &v1alpha1.Verdict{Reason: "Another attempt would fail again with class application."}
	if diff := cmp.Diff(want, over.Status.Firesteel.Verdict); diff != "" || over.Status.CurrentState.Message != want.Reason {
		t.Errorf("the state says %q; verdict (-want +got):\n%s", over.Status.CurrentState.Message, diff)
	}
	failed := again.Transitions[len(again.Transitions)-2]
	next := metav1.NewMicroTime(failed.Time.Add(backoff))
	want = &v1alpha1.Verdict{Restart: true, NotBefore: &next, Reason: "The application did not cause the failure."}
	if diff := cmp.Diff(want, again.Verdict); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}

	before := s.get("evicted")
	heard, _ := s.sink.Events(s.ns)
	for _, d := range heard {
		if d.Attributes["sparkrestartallowed"] == "true" {
			if got := s.post(policy.url, d); got != http.StatusNoContent {
				t.Errorf("a duplicate is answered with %d", got)
			}
		}
	}
	after := s.get("evicted")
	if stateOf(after) == "ScheduledToRestart" && after.ResourceVersion != before.ResourceVersion {
		t.Errorf("a duplicate changed\n%s", described(after))
	}
	if diff := cmp.Diff(before.Status.Firesteel.Verdict, after.Status.Firesteel.Verdict); diff != "" {
		t.Errorf("a duplicate changed the verdict (-was +is):\n%s", diff)
	}
	s.kubeflowApplication(withSpec(s, sparkPi("4.1.1"), "restartPolicy: {type: OnFailure, onFailureRetries: 1, onFailureRetryInterval: 1}"))
	s.runPi().exit(1)
	s.untilShown("spark-pi", v1beta2.FailedState)
	s.untilState("evicted", "DriverRequested")
	requests, err := s.Plane.Audit(userOf("verdict")).Requests()
	s.must(err)
	used, beyond := kindsOf(requests)
	if diff := cmp.Diff(map[string]bool{"get sparkapplications": true, "patch sparkapplications/status": true}, used); diff != "" || len(beyond) > 0 {
		t.Errorf("it was not allowed %v; it asked for (-want +got):\n%s", beyond, diff)
	}
}
