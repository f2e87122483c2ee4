package clientview_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/spec"
	"github.com/firesteel-dev/firesteel/test/invariants/clientview"
)

// completed is an application that has run to its end.
func completed(t *testing.T) *v1beta2.SparkApplication {
	t.Helper()
	app := &v1beta2.SparkApplication{}
	at := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	app.Status = v1beta2.SparkApplicationStatus{
		AppState:           v1beta2.ApplicationState{State: v1beta2.CompletedState},
		SparkApplicationID: "spark-1", SubmissionID: "1", SubmissionAttempts: 1, ExecutionAttempts: 1,
		DriverInfo: v1beta2.DriverInfo{PodName: "pi-driver"}, LastSubmissionAttemptTime: at, TerminationTime: at,
		Firesteel: &v1alpha1.Record{
			Launch: &v1alpha1.Launch{ID: "1"}, Sequence: 7,
			Transitions: []v1alpha1.Transition{{Sequence: 7, State: "TerminatedWithoutReleaseResources", Outcome: v1alpha1.OutcomeSucceeded}},
		},
	}
	fields.SpecOf(app).Note(app.Status.Firesteel)
	return app
}

func TestAllowedViewsAreNoViolations(t *testing.T) {
	app := completed(t)
	if wrong := clientview.Wrong(app, app.DeepCopy()); len(wrong) > 0 {
		t.Errorf("of what stays as it is: %v", wrong)
	}
	edited := app.DeepCopy()
	edited.Spec.Arguments = []string{"7"}
	invalidate(edited)
	if wrong := clientview.Wrong(app, edited); len(wrong) > 0 {
		t.Errorf("of what was edited: %v", wrong)
	}
}

func TestAStopMayLeadFromAnyStateToTheStatesOfAFailure(t *testing.T) {
	for class, wrong := range map[string]bool{"stopped": false, "application": true} {
		waiting := completed(t)
		waiting.Status.AppState.State = v1beta2.SuspendedState
		failed := waiting.DeepCopy()
		enter(failed, "Failed")
		failed.Status.Firesteel.Transitions[len(failed.Status.Firesteel.Transitions)-1].End = &v1alpha1.AttemptEnd{Outcome: "Failed", Class: class}
		failed.Status.AppState = v1beta2.ApplicationState{State: v1beta2.FailingState, ErrorMessage: "x"}
		if got := clientview.Wrong(waiting, failed); (len(got) > 0) != wrong {
			t.Errorf("with the class %s: %v", class, got)
		}
	}
}

// An earlier version of Firesteel names no generation in its record, and observes an edit with the write that acts on it.
func TestEditThatAnEarlierVersionActsOnIsNoViolation(t *testing.T) {
	app := completed(t)
	app.Generation, app.Status.ObservedGeneration = 1, 1
	hash, err := spec.HashJSON(app.Spec)
	if err != nil {
		t.Fatal(err)
	}
	app.Status.Firesteel.Attempt.Spec, app.Status.Firesteel.Attempt.SpecHash = nil, hash
	for _, arguments := range [][]string{nil, {"7"}} {
		after := app.DeepCopy()
		after.Spec.Arguments = arguments
		after.Generation, after.Status.ObservedGeneration = 2, 2
		invalidate(after)
		if wrong, edited := clientview.Wrong(app, after), arguments != nil; edited != (len(wrong) == 0) {
			t.Errorf("edited: %t, and wrong is %v", edited, wrong)
		}
	}
}

// invalidate has an application stop what runs.
func invalidate(app *v1beta2.SparkApplication) {
	enter(app, "Invalidating")
	app.Status.AppState.State = v1beta2.InvalidatingState
}

func enter(app *v1beta2.SparkApplication, state string) {
	record := app.Status.Firesteel
	record.Sequence++
	record.Transitions = append(record.Transitions, v1alpha1.Transition{Sequence: record.Sequence, State: state})
}

func TestForbiddenViewsAreViolations(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(*v1beta2.SparkApplication)
		want  string
	}{
		"a state out of order": {func(app *v1beta2.SparkApplication) {
			enter(app, "DriverStarted")
			app.Status.AppState.State = v1beta2.RunningState
		}, `"RUNNING" follows "COMPLETED" within 1 transitions`},
		"an end that is run again, unedited": {invalidate, "its spec is that of its attempt"},
		"a number of executions that begins anew": {
			func(app *v1beta2.SparkApplication) { app.Status.ExecutionAttempts = 0 }, "the executions go from 1 to 0",
		},
		"a number of submissions that grows by itself": {
			func(app *v1beta2.SparkApplication) { app.Status.SubmissionAttempts = 3 }, "the submissions go from 1 to 3",
		},
		"an end without its time": {
			func(app *v1beta2.SparkApplication) { app.Status.TerminationTime = metav1.Time{} }, "a time of its end: false",
		},
		"a success with an error": {
			func(app *v1beta2.SparkApplication) { app.Status.AppState.ErrorMessage = "no" }, "has an error: true",
		},
		"an end without the driver that came to it": {
			func(app *v1beta2.SparkApplication) { app.Status.DriverInfo.PodName = "" }, "has a driver: false",
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := completed(t)
			after := before.DeepCopy()
			tt.spoil(after)
			if wrong := strings.Join(clientview.Wrong(before, after), "\n"); !strings.Contains(wrong, tt.want) {
				t.Errorf("wrong is %q, want %q", wrong, tt.want)
			}
		})
	}
}
