package kubeflow_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
)

func TestRestoreReturnsTheLastStatusWithThePresentSpec(t *testing.T) {
	last := &v1beta2.SparkApplication{}
	last.Spec.SparkVersion, last.Status.SubmissionID = "4.1.1", "the last one"
	last.Status.Firesteel = &v1alpha1.Record{Sequence: 4}
	now := &v1beta2.SparkApplication{}
	now.Spec.SparkVersion = "4.3.0"
	restored := kubeflow.New(settings.NewDefaults()).Restore(now, last).(*v1beta2.SparkApplication)
	if diff := cmp.Diff(last.Status, restored.Status); diff != "" {
		t.Errorf("the status (-want +got):\n%s", diff)
	}
	if restored.Spec.SparkVersion != "4.3.0" || now.Status.Firesteel != nil {
		t.Errorf("the spec is of Spark %s, and the given application has the record %+v", restored.Spec.SparkVersion, now.Status.Firesteel)
	}
	restored.Status.Firesteel.Sequence++
	if last.Status.Firesteel.Sequence != 4 {
		t.Error("the restored status shares its record with the last one")
	}
}

func TestApplicationsThatEndedElsewhereAreFinished(t *testing.T) {
	d := kubeflow.New(settings.NewDefaults())
	for state, want := range map[v1beta2.ApplicationStateType]bool{
		v1beta2.CompletedState: true, v1beta2.FailedState: true, v1beta2.RunningState: false, "": false,
	} {
		app := &v1beta2.SparkApplication{}
		app.Status.AppState.State = state
		if got := d.FinishedElsewhere(app); got != want {
			t.Errorf("in state %q it is finished: %t", state, got)
		}
		if got := d.VisibleState(app); got != string(state) {
			t.Errorf("it shows the state %q, want %q", got, state)
		}
	}
}

func TestExecutorsAreShownByTheirStates(t *testing.T) {
	d, app := kubeflow.New(settings.NewDefaults()), &v1beta2.SparkApplication{}
	if d.ShowsExecutors(app) {
		t.Error("an application without executors shows some")
	}
	app.Status.ExecutorState = map[string]v1beta2.ExecutorState{"pi-exec-1": v1beta2.ExecutorRunningState}
	if !d.ShowsExecutors(app) {
		t.Error("the executor is not shown")
	}
}
