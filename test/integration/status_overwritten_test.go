package integration

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// If another operator writes the status of a running application, the application still has one driver. Firesteel follows it to
// its end once no other operator writes.
func TestDriverSurvivesAnOverwrittenStatus(t *testing.T) {
	alone(t)
	s := newEnv(t)
	process := s.ownController(controller{sink: s.sink.URL()})
	s.create(App("pi"))
	d := s.run("pi", 0)

	// Another operator, which does not know of the record, writes the whole status. Firesteel does not fight it.
	s.overwriteStatus("pi")
	s.untilCondition("pi", "Succeeded", metav1.ConditionUnknown, "AnotherOperatorActive")
	s.untilKubeEvent("pi", corev1.EventTypeWarning, "AnotherOperatorActive")
	before := len(s.requestsAtRest())
	for range 5 {
		s.overwriteStatus("pi")
	}
	d.set(func(status *corev1.PodStatus) { status.Message = "something new" })
	if after := s.requestsAtRest()[before:]; len(after) > 0 {
		t.Errorf("beside another operator the controller asks for %v", after)
	}

	process.Kill()
	process = s.ownController(controller{sink: s.sink.URL()})
	s.untilKubeEvent("pi", corev1.EventTypeNormal, "Adopted")
	s.untilState("pi", "RunningHealthy")

	process.Kill()
	s.patchStatus("pi", `null`)
	s.ownController(controller{sink: s.sink.URL()})
	s.untilState("pi", "RunningHealthy")
	d.succeed()
	s.untilState("pi", "ResourceReleased")
	if drivers := s.untilHad("pi", 1); len(drivers) != 1 {
		t.Errorf("it had %d drivers", len(drivers))
	}
}

// overwriteStatus writes a status as an operator that does not know Firesteel's fields.
func (s *env) overwriteStatus(name string) {
	s.Helper()
	s.must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		app, err := s.apps().Get(s.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		app.Status.Firesteel, app.Status.Conditions, app.Status.ObservedGeneration = nil, nil, 0
		state := sparkv1.ApplicationState{
			CurrentStateSummary: "RunningHealthy", Message: "Application is running healthy.",
			LastTransitionTime: time.Now().UTC().Format(time.RFC3339Nano),
		}
		app.Status.CurrentState, app.Status.StateTransitionHistory["4"] = &state, state
		_, err = s.apps().UpdateStatus(s.Context(), app, metav1.UpdateOptions{})
		return err
	}))
}

// patchStatus merges into the status.
func (s *env) patchStatus(name, status string) {
	s.Helper()
	_, err := s.apps().Patch(s.Context(), name, types.MergePatchType, []byte(`{"status":`+status+`}`), metav1.PatchOptions{}, "status")
	s.must(err)
}

// A status that another client removes is restored. What it shows has happened, and a running driver is not started again.
func TestStatusThatIsRemovedIsRestored(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]string{"all of it": `null`, "the record": `{"firesteel":null}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			app := s.create(App("pi").Restart(sparkv1.RestartOnFailure, 1, 0))
			s.run("pi", 0).exit(1)
			d := s.run("pi", 1)
			s.patchStatus("pi", status)
			s.untilKubeEvent("pi", corev1.EventTypeWarning, "StatusRestored")
			s.untilState("pi", "RunningHealthy")
			d.succeed()
			s.untilState("pi", "ResourceReleased")
			s.untilPublished(app, restarted.states...)
			if drivers := s.untilHad("pi", 2); len(drivers) != 2 {
				t.Errorf("it had %d drivers", len(drivers))
			}
		})
	}
}

// The driver of an undecodable application is deleted with it, even with orphan propagation.
func TestDeletionOfAnUndecodableApplicationDeletesItsDriver(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi"))
	d := s.run("pi", 0)
	_, err := s.apps().Patch(t.Context(), "pi", types.MergePatchType,
		[]byte(`{"spec":{"driverSpec":{"podTemplateSpec":{"spec":{"containers":"oops"}}}}}`), metav1.PatchOptions{})
	s.must(err)
	s.untilKubeEvent("pi", corev1.EventTypeWarning, "Undecodable")
	orphan := metav1.DeletePropagationOrphan
	s.must(s.apps().Delete(t.Context(), "pi", metav1.DeleteOptions{PropagationPolicy: &orphan}))
	untilGone(s, s.apps(), "pi")
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
}
