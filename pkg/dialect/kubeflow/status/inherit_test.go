package status_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// leftStatuses returns applications with statuses of the Kubeflow operator, by name.
func leftStatuses(t *testing.T) map[string]*v1beta2.SparkApplication {
	t.Helper()
	text, err := os.ReadFile("testdata/left-by-kubeflow-operator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	apps := map[string]*v1beta2.SparkApplication{}
	for _, document := range bytes.Split(text, []byte("\n---\n"))[1:] {
		app := &v1beta2.SparkApplication{}
		if err := yaml.UnmarshalStrict(document, app); err != nil || app.Undecodable != "" || len(app.UnknownFields) > 0 {
			t.Fatalf("%v%s%v:\n%s", err, app.Undecodable, app.UnknownFields, document)
		}
		app.Namespace, app.UID = "default", "uid-of-app"
		apps[app.Name] = app
	}
	return apps
}

func leftIn(t *testing.T, name string) *v1beta2.SparkApplication {
	t.Helper()
	app, known := leftStatuses(t)[name]
	if !known {
		t.Fatalf("no application is called %s", name)
	}
	return app
}

func inherited(t *testing.T, app *v1beta2.SparkApplication) *v1alpha1.Record {
	t.Helper()
	record, err := status.Inherit(app, policyOf(app))
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// policyOf is what the specs of these applications say about the lifecycle.
func policyOf(app *v1beta2.SparkApplication) lifecycle.Policy {
	policy := modest()
	policy.Suspend = app.Spec.Suspend
	if ttl := app.Spec.TimeToLiveSeconds; ttl != nil {
		policy.TTL = time.Duration(*ttl) * time.Second
	}
	given, count := app.Spec.RestartPolicy, func(n *int32) *int64 {
		if n == nil {
			return new(int64)
		}
		return new(int64(*n))
	}
	interval := func(n *int64) *time.Duration {
		if n == nil {
			return new(time.Duration)
		}
		return new(time.Duration(*n) * time.Second)
	}
	policy.Restart = lifecycle.Restart{
		Policy: lifecycle.RestartPolicy(given.Type), MaxAttempts: lifecycle.Unlimited, ResetAfter: -1, CountsApart: true, Linear: true,
		OnFailure:           lifecycle.Limit{MaxAttempts: count(given.OnFailureRetries), Backoff: interval(given.OnFailureRetryInterval)},
		OnSchedulingFailure: lifecycle.Limit{MaxAttempts: count(given.OnSubmissionFailureRetries), Backoff: interval(given.OnSubmissionFailureRetryInterval)},
	}
	return policy
}

func TestInheritEachState(t *testing.T) {
	seen := map[v1beta2.ApplicationStateType]bool{}
	for _, app := range leftStatuses(t) {
		seen[app.Status.AppState.State] = true
	}
	for _, row := range table {
		for _, state := range row {
			if !seen[state] {
				t.Errorf("no application is %q", state)
			}
		}
	}
}

// knownDriver is the driver of the run that a status shows; nil where it shows none.
func knownDriver(app *v1beta2.SparkApplication) *corev1.Pod {
	if app.Status.ExecutionAttempts == 0 || app.Status.AppState.State == v1beta2.FailedSubmissionState {
		return nil
	}
	return ownDriver(app)
}

// What clients read is the same before and after the adoption, with a driver and without.
func TestInheritedStatusIsShownUnchanged(t *testing.T) {
	for name, app := range leftStatuses(t) {
		if app.Status.AppState.State == v1beta2.NewState {
			continue
		}
		for _, driver := range []*corev1.Pod{nil, knownDriver(app)} {
			t.Run(name, func(t *testing.T) {
				record := adopted(t, app, driver)
				if got := status.State(record); got != app.Status.AppState.State {
					t.Errorf("the record stands for %q, and the status says %q", got, app.Status.AppState.State)
				}
				got := app.DeepCopy()
				status.Project(&got.Status, record, status.Executors{})
				if got.Status.Firesteel == nil {
					t.Error("the status has no record")
				}
				got.Status.Firesteel = nil
				if diff := cmp.Diff(app.Status, got.Status); diff != "" {
					t.Errorf("status (-was +is):\n%s", diff)
				}
			})
		}
	}
}

// What the record alone would be shown as differs from what was left in nothing that clients go by.
func TestInheritedRecordHasTheStatesOfTheStatus(t *testing.T) {
	for name, app := range leftStatuses(t) {
		t.Run(name, func(t *testing.T) {
			record := adopted(t, app, knownDriver(app))
			var got v1beta2.SparkApplicationStatus
			status.Project(&got, record, status.Executors{})
			want := app.Status
			if diff := cmp.Diff(want.AppState.State, got.AppState.State); diff != "" {
				t.Errorf("state (-was +is):\n%s", diff)
			}
			if name != "failed-submission" && want.AppState.ErrorMessage != got.AppState.ErrorMessage {
				t.Errorf("message %q, was %q", got.AppState.ErrorMessage, want.AppState.ErrorMessage)
			}
			if want.ExecutionAttempts != got.ExecutionAttempts {
				t.Errorf("%d executions, were %d", got.ExecutionAttempts, want.ExecutionAttempts)
			}
			if !want.TerminationTime.Equal(&got.TerminationTime) && status.State(record) != v1beta2.InvalidatingState {
				t.Errorf("termination at %s, was %s", got.TerminationTime, want.TerminationTime)
			}
		})
	}
}

// The inherited transitions are not published, since they are older than the record.
func TestInheritedHistoryIsPublished(t *testing.T) {
	for name, app := range leftStatuses(t) {
		if app.Status.AppState.State == v1beta2.NewState {
			continue
		}
		t.Run(name, func(t *testing.T) {
			record := inherited(t, app)
			last := outbox.Current(record).Sequence
			if last == 0 || record.Sequence != last || record.Acknowledged != last {
				t.Errorf("sequence %d, acknowledged %d, last %d", record.Sequence, record.Acknowledged, last)
			}
		})
	}
}

func TestInheritRefusesAnInvalidStatus(t *testing.T) {
	for want, change := range map[string]func(*v1beta2.SparkApplicationStatus){
		`applicationState.state "RETIRED" is not known`:           func(s *v1beta2.SparkApplicationStatus) { s.AppState.State = "RETIRED" },
		"executionAttempts -1 or submissionAttempts 1 is below 0": func(s *v1beta2.SparkApplicationStatus) { s.ExecutionAttempts = -1 },
	} {
		app := leftIn(t, "running")
		change(&app.Status)
		if _, err := status.Inherit(app, policyOf(app)); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestFinishedElsewhereIfNoRunFollows(t *testing.T) {
	var history []string
	for name, app := range leftStatuses(t) {
		if status.FinishedElsewhere(app, policyOf(app)) {
			history = append(history, name)
		}
	}
	slices.Sort(history)
	if want := []string{"completed", "failed"}; !slices.Equal(history, want) {
		t.Errorf("%q are history, want %q", history, want)
	}
	app := leftIn(t, "completed-ttl")
	app.DeletionTimestamp = &metav1.Time{Time: beginning}
	if !status.FinishedElsewhere(app, policyOf(app)) {
		t.Error("what is deleted already needs no time to live")
	}
	app.Status.Firesteel = submitted().Obj()
	if status.FinishedElsewhere(app, policyOf(app)) {
		t.Error("what has a record is no other operator's history")
	}
}

func TestHasForeignStatus(t *testing.T) {
	for name, app := range leftStatuses(t) {
		if got := status.HasForeignStatus(app.Status); got != (name != "new") {
			t.Errorf("%s: begun is %t", name, got)
		}
	}
	var conditionsOnly v1beta2.SparkApplicationStatus
	conditionsOnly.Conditions, conditionsOnly.ObservedGeneration = []metav1.Condition{{Type: "Succeeded"}}, 1
	if status.HasForeignStatus(conditionsOnly) {
		t.Error("a condition is Firesteel's own")
	}
}

func TestSameVisibleStatusIgnoresFiresteelsFields(t *testing.T) {
	a := leftIn(t, "running").Status
	b := *a.DeepCopy()
	b.Firesteel, b.ObservedGeneration, b.Conditions = submitted().Obj(), 2, []metav1.Condition{{Type: "Succeeded"}}
	if !status.SameVisibleStatus(a, b) {
		t.Error("they show the same")
	}
	b.ExecutorState["running-0b9a1c2d3e4f5a6b-exec-2"] = v1beta2.ExecutorRunningState
	if status.SameVisibleStatus(a, b) {
		t.Error("an executor runs in one of them")
	}
}

func TestInheritedEndHasItsCause(t *testing.T) {
	for name, want := range map[string]v1alpha1.AttemptEnd{
		"failing": {Outcome: "Failed", RestartAllowed: true, Class: "application", ExitCode: new(int32(1)), Reason: "Error",
			Message: "driver container failed with ExitCode: 1, Reason: Error"},
		"failing-last": {Outcome: "Failed", Class: "application", ExitCode: new(int32(137)), Reason: "OOMKilled",
			Message: "driver container failed with ExitCode: 137, Reason: OOMKilled"},
		"failed-ttl":        {Outcome: "Failed", Class: "infrastructure", Reason: "DriverLost", Message: "driver pod not found"},
		"submission-failed": {Outcome: "Failed", RestartAllowed: true, Class: "scheduling", Message: "driver pod already exist"},
		"succeeding":        {Outcome: "Succeeded"},
		"succeeding-always": {Outcome: "Succeeded", RestartAllowed: true},
	} {
		t.Run(name, func(t *testing.T) {
			end := outbox.LastEnd(inherited(t, leftIn(t, name)))
			if diff := cmp.Diff(&want, end.End); diff != "" {
				t.Errorf("end (-want +got):\n%s", diff)
			}
		})
	}
	if end := outbox.LastEnd(inherited(t, leftIn(t, "failed-submission"))); end.State != string(lifecycle.SchedulingFailure) ||
		!strings.HasPrefix(end.End.Message, "26/03/01 12:00:03 WARN NativeCodeLoader") {
		t.Errorf("it ended in %s: %s", end.State, end.End.Message)
	}
}

// Retries go on where they were: so many more failures are allowed.
func TestInheritedRetriesContinue(t *testing.T) {
	for name, want := range map[string]struct{ failures, submissions int }{
		"running-again":           {1, 6}, // its third execution of four
		"failing":                 {2, 6},
		"pending-rerun":           {2, 6},
		"pending-rerun-edited":    {4, 6},
		"submission-failed":       {4, 4},
		"submission-failed-again": {2, 5},
		"resuming":                {1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			app := leftIn(t, name)
			if got := failuresFrom(t, app, false); got != want.failures {
				t.Errorf("%d executions to come, want %d", got, want.failures)
			}
			if got := failuresFrom(t, app, true); got != want.submissions {
				t.Errorf("%d submissions to come, want %d", got, want.submissions)
			}
		})
	}
}

// failuresFrom is how many runs of an application follow if each fails, or how many submissions if those do.
func failuresFrom(t *testing.T, app *v1beta2.SparkApplication, submissions bool) int {
	t.Helper()
	var driver *corev1.Pod
	runs := app.Status.AppState.State == v1beta2.RunningState
	if runs {
		driver = ownDriver(app)
	}
	l := newScenario(t)
	l.policy, l.record, l.now = policyOf(app), adopted(t, app, driver), second(300).Time
	l.statuses = append(l.statuses, app.Status)
	before := lifecycle.Executions(l.record)
	const enough = 100
	if submissions {
		l.refusals = enough
	}
	if !runs {
		l.Go()
	}
	for state := lifecycle.CurrentState(l.record); state.Starting() || state.Running(); state = lifecycle.CurrentState(l.record) {
		l.DriverFails()
	}
	if submissions {
		return enough - l.refusals
	}
	return int(lifecycle.Executions(l.record) - before)
}
