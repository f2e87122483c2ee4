package apache_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// lines returns a line for each condition.
func lines(conditions []metav1.Condition) []string {
	var lines []string
	for _, c := range conditions {
		lines = append(lines, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return lines
}

// wantAcceptable checks that the API server would take the conditions: where it refuses one it refuses the status.
func wantAcceptable(t *testing.T, conditions []metav1.Condition) {
	t.Helper()
	if problems := validation.ValidateConditions(conditions, field.NewPath("status", "conditions")); len(problems) > 0 {
		t.Errorf("the API server would refuse the status: %v", problems.ToAggregate())
	}
}

func concluded(app *sparkv1.SparkApplication, record *v1alpha1.Record, facts dialect.Facts) []metav1.Condition {
	if facts.Now.IsZero() {
		facts.Now = start
	}
	facts.Policy = apache.Policy(app, apache.Defaults{})
	apache.SetConditions(app, record, facts)
	return app.Status.Conditions
}

func TestConditionSucceeded(t *testing.T) {
	const requested = "Requested driver from resource scheduler."
	failed := v1alpha1.AttemptEnd{Message: "exited with 1", Reason: "Error"}
	restartable := v1alpha1.AttemptEnd{Message: "exited with 1", Reason: "Error", RestartAllowed: true}
	quota := &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: "Unschedulable", Message: "Driver Pod cannot be scheduled."}
	for name, test := range map[string]struct {
		record *recordBuilder
		facts  dialect.Facts
		want   string
	}{
		"unknown before the launch": {
			record: submitted(), want: "Unknown Submitted: " + accepted,
		},
		"unknown while suspended, and why": {
			record: submitted(), facts: dialect.Facts{Held: lifecycle.HeldSuspended},
			want: "Unknown Suspended: The launch is held by spec.suspend.",
		},
		"unknown while the driver is requested": {
			record: submitted().Requested(), want: "Unknown DriverRequested: " + requested,
		},
		"what holds the driver up is the reason": {
			record: submitted().Requested(), facts: dialect.Facts{Obstacle: quota},
			want: "Unknown Unschedulable: Driver Pod cannot be scheduled.",
		},
		"a scheduler's reason that is none for a condition is left out": {
			record: submitted().Requested(),
			facts:  dialect.Facts{Obstacle: &lifecycle.Cause{Reason: "no-room here", Message: "Driver Pod cannot be scheduled."}},
			want:   "Unknown DriverRequested: Driver Pod cannot be scheduled.",
		},
		"a scheduler need give no reason": {
			record: submitted().Requested(),
			facts:  dialect.Facts{Obstacle: &lifecycle.Cause{Message: "Driver Pod cannot be scheduled."}},
			want:   "Unknown DriverRequested: Driver Pod cannot be scheduled.",
		},
		"a driver that is being deleted": {
			record: submitted().Requested(), facts: dialect.Facts{Held: lifecycle.HeldDriverTerminating},
			want: "Unknown DriverRequested: " + requested + " The driver Pod's deletion was accepted and it is not gone yet.",
		},
		"true after success": {
			record: submitted().Requested().Ended(lifecycle.Succeeded, v1alpha1.AttemptEnd{Message: "Done."}),
			want:   "True Succeeded: Done.",
		},
		"true after success and release": {
			record: submitted().Requested().Ended(lifecycle.Succeeded, v1alpha1.AttemptEnd{Message: "Done."}).
				In(lifecycle.ResourceReleased, ""),
			want: "True Succeeded: Done.",
		},
		"true where the driver is kept": {
			record: submitted().Requested().Ended(lifecycle.Succeeded, v1alpha1.AttemptEnd{Message: "Done."}).
				In(lifecycle.TerminatedWithoutReleaseResources, "kept"),
			want: "True Succeeded: Done.",
		},
		"false after failure": {
			record: submitted().Requested().Ended(lifecycle.Failed, failed), want: "False Failed: exited with 1",
		},
		"an exit code alone is followed by where to look": {
			record: submitted().Requested().Ended(lifecycle.Failed, v1alpha1.AttemptEnd{Message: "exited with code 1 (Error).", Reason: "Error"}),
			want: "False Failed: exited with code 1 (Error). Its log may say why: resourceRetainPolicy OnFailure keeps it, and with " +
				"terminationMessagePolicy FallbackToLogsOnError in the driver's template its last lines are shown here.",
		},
		"false after failure while the driver goes": {
			record: submitted().Requested().Ended(lifecycle.Failed, failed),
			facts:  dialect.Facts{Held: lifecycle.HeldDriverTerminating},
			want:   "False Failed: exited with 1 The driver Pod's deletion was accepted and it is not gone yet.",
		},
		"unknown while a restart is pending": {
			record: submitted().Requested().Ended(lifecycle.Failed, restartable), want: "Unknown Failed: exited with 1",
		},
		"unknown even after success, where the application always restarts": {
			record: submitted().Requested().Ended(lifecycle.Succeeded, v1alpha1.AttemptEnd{Message: "Done.", RestartAllowed: true}),
			want:   "Unknown Succeeded: Done.",
		},
		"unknown once the verdict is to restart": {
			record: submitted().Requested().Ended(lifecycle.Failed, restartable).Verdict(true),
			want:   "Unknown Failed: exited with 1",
		},
		"unknown while the restart waits for the sink": {
			record: submitted().Requested().Ended(lifecycle.Failed, restartable).Verdict(true),
			facts:  dialect.Facts{Held: lifecycle.HeldEventsUndelivered},
			want:   "Unknown Failed: exited with 1 The restart waits until the sink takes the events that it has not taken.",
		},
		"false once the verdict is not to restart": {
			record: submitted().Requested().Ended(lifecycle.Failed, restartable).Verdict(false),
			want:   "False Failed: exited with 1",
		},
		"unknown in the next attempt": {
			record: submitted().Requested().Ended(lifecycle.Failed, restartable).Verdict(true).Restarting(),
			want:   "Unknown ScheduledToRestart: Attempt 1 waits for its start.",
		},
		"a verdict on the attempt before says nothing about this one": {
			record: submitted().Requested().Ended(lifecycle.Failed, restartable).Verdict(false).
				Restarting().Requested().Ended(lifecycle.Failed, restartable),
			want: "Unknown Failed: exited with 1",
		},
		"false where it was deleted before its end": {
			record: submitted().Requested().In(lifecycle.ResourceReleased, "Spark application has been shutdown as requested."),
			want:   "False ResourceReleased: Spark application has been shutdown as requested.",
		},
		"as it ended where it was deleted before the verdict": {
			record: submitted().Requested().
				Ended(lifecycle.Succeeded, v1alpha1.AttemptEnd{Message: "Done.", RestartAllowed: true}).
				In(lifecycle.ResourceReleased, "Spark application has been shutdown as requested."),
			want: "True Succeeded: Done.",
		},
		"the API server's reason for a refusal": {
			record: submitted().Ended(lifecycle.SchedulingFailure, v1alpha1.AttemptEnd{Reason: "QuotaExceeded", Message: "no room"}),
			want:   "False QuotaExceeded: no room",
		},
		"the reason of a failure where it says more than the state": {
			record: submitted().Requested().Ended(lifecycle.Failed, v1alpha1.AttemptEnd{Reason: "OOMKilled", Message: "too much"}),
			want:   "False OOMKilled: too much",
		},
		"a webhook's reason that is none for a condition is left out": {
			record: submitted().Ended(lifecycle.SchedulingFailure, v1alpha1.AttemptEnd{Reason: "not on my cluster!", Message: "no"}),
			want:   "False SchedulingFailure: no",
		},
		"a refusal without reason": {
			record: submitted().Ended(lifecycle.SchedulingFailure, v1alpha1.AttemptEnd{Message: "no"}),
			want:   "False SchedulingFailure: no",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := concluded(pi().Obj(), test.record.Obj(), test.facts)
			if diff := cmp.Diff("Succeeded="+test.want, lines(got)[0]); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
			wantAcceptable(t, got)
		})
	}
}

func TestConditionNamesADriverThatIsNeverDeletedByForce(t *testing.T) {
	patient := pi().Tolerating(sparkv1.ApplicationTolerations{
		ApplicationTimeoutConfig: &sparkv1.ApplicationTimeoutConfig{ForceTerminationGracePeriodMillis: ptr(int64(0))},
	}).Obj()
	got := concluded(patient, submitted().Requested().Obj(), dialect.Facts{Held: lifecycle.HeldDriverTerminating})
	if message := got[0].Message; !strings.HasSuffix(message, "forceTerminationGracePeriodMillis does not allow Firesteel to do.") {
		t.Errorf("the message is %q", message)
	}
}

// A scheduler that finds other words each time has none of them written.
func TestConditionShowsAnObstacleOnce(t *testing.T) {
	app, record := pi().Obj(), submitted().Requested().Obj()
	obstacle := func(reason, message string) dialect.Facts {
		return dialect.Facts{Obstacle: &lifecycle.Cause{Reason: reason, Message: message}}
	}
	for i, test := range []struct {
		facts dialect.Facts
		want  string
	}{
		{obstacle("Unschedulable", "Insufficient cpu."), "Unschedulable: Insufficient cpu."},
		{obstacle("Unschedulable", "Insufficient memory."), "Unschedulable: Insufficient cpu."},
		{obstacle("ImagePullFailed", "No such image."), "ImagePullFailed: No such image."},
		{obstacle("Unschedulable", "Insufficient memory."), "Unschedulable: Insufficient memory."},
		{dialect.Facts{}, "DriverRequested: Requested driver from resource scheduler."},
	} {
		if got := lines(concluded(app, record, test.facts))[0]; got != "Succeeded=Unknown "+test.want {
			t.Errorf("after %d changes it is %q, want %q", i, got, test.want)
		}
	}
}

func TestConditionReasonsAreStates(t *testing.T) {
	for _, state := range lifecycle.States {
		wantAcceptable(t, concluded(pi().Obj(), submitted().In(state, "").Obj(), dialect.Facts{}))
		wantAcceptable(t, concluded(pi().Obj(), submitted().Ended(state, v1alpha1.AttemptEnd{}).Obj(), dialect.Facts{}))
	}
}

// What has nothing to say is absent, also where it had before.
func TestConditionsAreSetAndRemoved(t *testing.T) {
	silent := dialect.Facts{SilentHandler: "restart"}
	changed := diagnosis.DriverLabelsChanged("team-a", "pi-0-driver", []string{"label a is missing"}, []string{"a=b"})
	for name, test := range map[string]struct {
		record *recordBuilder
		facts  dialect.Facts
		want   string
	}{
		"a warning": {
			submitted(), dialect.Facts{Warnings: []string{"This is dropped.", "So is that."}},
			"Warning=True SpecNotHonored: This is dropped. So is that.",
		},
		"labels of the driver that were changed": {
			submitted(), dialect.Facts{ChangedLabels: &changed},
			"DriverLabelsChanged=True LabelsChanged: Driver Pod team-a/pi-0-driver was changed: label a is missing. Firesteel follows the Pod " +
				"by its name, and stops it with the application. Restore the labels: kubectl --namespace team-a label pod pi-0-driver --overwrite a=b",
		},
		"a handler that is silent": {
			submitted(), silent,
			`HandlerAnswered=False NoAnswer: The handler "restart" was asked and has not acted; ` +
				"make sure that it runs, or change where it runs in the ConfigMap config-handlers.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			app, always := pi().Obj(), lines(concluded(pi().Obj(), submitted().Obj(), dialect.Facts{}))
			got := concluded(app, test.record.Obj(), test.facts)
			if diff := cmp.Diff(append(slices.Clone(always), test.want), lines(got)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			wantAcceptable(t, got)
			got = concluded(app, submitted().Obj(), dialect.Facts{})
			if diff := cmp.Diff(always, lines(got)); diff != "" {
				t.Errorf("conditions when all is well again (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConditionsOfOtherWritersStay(t *testing.T) {
	others := metav1.Condition{Type: "Admitted", Status: metav1.ConditionTrue, Reason: "Quota"}
	app := pi().With(func(app *sparkv1.SparkApplication) { app.Status.Conditions = []metav1.Condition{others} }).Obj()
	got := concluded(app, submitted().Obj(), dialect.Facts{})
	if !slices.Contains(got, others) {
		t.Errorf("conditions are %v", lines(got))
	}
}

func TestConditionsKeepTheirTimeUntilTheirStatusChanges(t *testing.T) {
	app, later := pi().Obj(), start.Add(time.Minute)
	concluded(app, submitted().Obj(), dialect.Facts{})
	concluded(app, submitted().Requested().Obj(), dialect.Facts{Now: later})
	if got := app.Status.Conditions[0]; !got.LastTransitionTime.Time.Equal(start) || got.Reason != "DriverRequested" {
		t.Errorf("the status did not change, and the condition is %+v", got)
	}
	concluded(app, submitted().Ended(lifecycle.Succeeded, v1alpha1.AttemptEnd{}).Obj(), dialect.Facts{Now: later})
	if got := app.Status.Conditions[0]; !got.LastTransitionTime.Time.Equal(later) {
		t.Errorf("the status changed, and the condition is %+v", got)
	}
}

func TestConditionsHaveTheGeneration(t *testing.T) {
	generation := func(n int64) func(*sparkv1.SparkApplication) {
		return func(app *sparkv1.SparkApplication) { app.Generation = n }
	}
	app := pi().With(generation(3)).Obj()
	concluded(app, submitted().Obj(), dialect.Facts{})
	if got := app.Status; got.ObservedGeneration != 3 || got.Conditions[0].ObservedGeneration != 3 {
		t.Errorf("generation 3 is observed as %d, and in the condition as %d", got.ObservedGeneration, got.Conditions[0].ObservedGeneration)
	}
	app.Generation, app.DeletionTimestamp = 4, &metav1.Time{Time: start}
	concluded(app, submitted().Obj(), dialect.Facts{})
	if got := app.Status; got.ObservedGeneration != 3 || got.Conditions[0].ObservedGeneration != 3 {
		t.Errorf("a deletion changes no spec, and yet generation %d is observed", got.ObservedGeneration)
	}
}

func TestConditionsFitTheSchemaWithAnyText(t *testing.T) {
	long := strings.Repeat("é", 40_000)
	got := concluded(pi().Obj(), submitted().Ended(lifecycle.Failed, v1alpha1.AttemptEnd{Message: long}).Obj(),
		dialect.Facts{Warnings: []string{long}})
	wantAcceptable(t, got)
	for _, kind := range []string{"Succeeded", "Warning"} {
		if !strings.HasSuffix(meta.FindStatusCondition(got, kind).Message, "é...") {
			t.Errorf("the message of %s is cut within a character, or in silence", kind)
		}
	}
}

// undecodableCondition returns the condition of an application that cannot be decoded.
func undecodableCondition(app *sparkv1.SparkApplication) metav1.Condition {
	return metav1.Condition{
		Type: "Succeeded", Status: metav1.ConditionUnknown, Reason: "Undecodable",
		Message: "Correct the field and apply the application again: " + app.Undecodable,
	}
}

func TestBlockedPatch(t *testing.T) {
	app := pi().With(func(app *sparkv1.SparkApplication) {
		app.ResourceVersion, app.Generation = "17", 4
		app.Undecodable = "json: cannot unmarshal string into Go struct field"
	}).Obj()
	patch, err := dialect.BlockedPatch(app, undecodableCondition(app), start)
	if err != nil {
		t.Fatal(err)
	}
	type status struct {
		ObservedGeneration int64              `json:"observedGeneration"`
		Conditions         []metav1.Condition `json:"conditions"`
	}
	var got struct {
		Metadata map[string]string `json:"metadata"`
		Status   status            `json:"status"`
	}
	decoder := json.NewDecoder(strings.NewReader(string(patch)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("the patch says more than it should: %v: %s", err, patch)
	}
	if diff := cmp.Diff(map[string]string{"resourceVersion": "17"}, got.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	want := []metav1.Condition{{
		Type: "Succeeded", Status: metav1.ConditionUnknown, Reason: "Undecodable", ObservedGeneration: 4,
		Message: "Correct the field and apply the application again: " +
			"json: cannot unmarshal string into Go struct field",
		LastTransitionTime: metav1.NewTime(start),
	}}
	if diff := cmp.Diff(status{ObservedGeneration: 4, Conditions: want}, got.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	wantAcceptable(t, got.Status.Conditions)
}

func TestBlockedPatchIsBounded(t *testing.T) {
	app := pi().With(func(app *sparkv1.SparkApplication) { app.Undecodable = strings.Repeat("x", 40_000) }).Obj()
	patch, err := dialect.BlockedPatch(app, undecodableCondition(app), start)
	if err != nil || len(patch) > 8<<10 {
		t.Errorf("the patch has %d bytes, %v", len(patch), err)
	}
}
