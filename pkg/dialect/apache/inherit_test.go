package apache_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// leftStatuses returns applications with statuses of the Apache operator, by name.
func leftStatuses(t *testing.T) map[string]*sparkv1.SparkApplication {
	t.Helper()
	text, err := os.ReadFile("testdata/left-by-apache-operator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	apps := map[string]*sparkv1.SparkApplication{}
	for _, document := range bytes.Split(text, []byte("\n---\n"))[1:] {
		app := &sparkv1.SparkApplication{}
		if err := yaml.Unmarshal(document, app); err != nil || app.Undecodable != "" {
			t.Fatalf("%v%s:\n%s", err, app.Undecodable, document)
		}
		app.Namespace, app.UID = "default", "uid-of-app"
		apps[app.Name] = app
	}
	return apps
}

func leftIn(t *testing.T, name string) *application {
	t.Helper()
	app, known := leftStatuses(t)[name]
	if !known {
		t.Fatalf("no application is called %s", name)
	}
	return &application{*app}
}

func inherited(t *testing.T, app *sparkv1.SparkApplication) *v1alpha1.Record {
	t.Helper()
	record, err := apache.Inherit(app, apache.Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func TestInheritEachState(t *testing.T) {
	seen := map[string]bool{}
	for _, app := range leftStatuses(t) {
		seen[app.Status.CurrentState.CurrentStateSummary] = true
	}
	for _, state := range lifecycle.States[:18] {
		if !seen[string(state)] {
			t.Errorf("no application is %s", state)
		}
	}
}

// What the Apache operator's clients read is the same before and after the adoption, but for what is finer than a
// microsecond.
func TestInheritedStatusIsShownUnchanged(t *testing.T) {
	for name, app := range leftStatuses(t) {
		t.Run(name, func(t *testing.T) {
			want := app.Status.DeepCopy()
			if name == "untrimmed" {
				trim(want)
			}
			var got sparkv1.ApplicationStatus
			apache.Project(&got, inherited(t, app))
			got.Firesteel = nil
			if diff := cmp.Diff(want, &got, cmp.FilterPath(isTime, cmp.Comparer(sameInstant))); diff != "" {
				t.Errorf("status (-was +is):\n%s", diff)
			}
		})
	}
}

// trim does what the Apache operator does to the history by default.
func trim(status *sparkv1.ApplicationStatus) {
	history := status.StateTransitionHistory
	status.PreviousAttemptSummary.StateTransitionHistory = map[string]sparkv1.ApplicationState{}
	for key, state := range history {
		switch {
		case len(key) == 1 && key < "6":
			delete(history, key)
		case len(key) == 1, key < "12":
			status.PreviousAttemptSummary.StateTransitionHistory[key] = state
			delete(history, key)
		}
	}
}

func isTime(path cmp.Path) bool { return path.Last().String() == ".LastTransitionTime" }

func sameInstant(a, b string) bool {
	x, errX := time.Parse(time.RFC3339Nano, a)
	y, errY := time.Parse(time.RFC3339Nano, b)
	return errX == nil && errY == nil && x.Truncate(time.Microsecond).Equal(y.Truncate(time.Microsecond))
}

// The inherited transitions are not published, since they are older than the record. Later ones are, and their numbers go on.
func TestInheritedHistoryIsPublished(t *testing.T) {
	for name, app := range leftStatuses(t) {
		t.Run(name, func(t *testing.T) {
			record := inherited(t, app)
			last := outbox.Current(record).Sequence
			if record.Sequence != last || record.Acknowledged != last {
				t.Errorf("sequence %d, acknowledged %d, last %d", record.Sequence, record.Acknowledged, last)
			}
			key := strconv.FormatInt(last-1, 10)
			if diff := cmp.Diff(*app.Status.CurrentState, app.Status.StateTransitionHistory[key]); diff != "" {
				t.Errorf("the last transition has sequence %d, and key %s is not the current state's", last, key)
			}
		})
	}
}

func TestInheritAttempts(t *testing.T) {
	record := inherited(t, leftIn(t, "running-with-below-threshold-executors").Obj())
	first, previous := record.Transitions[6], record.Transitions[0]
	want := v1alpha1.Attempt{ID: 2, Since: first.Time, Restarts: 2, FailureRestarts: 2}
	if diff := cmp.Diff(want, record.Attempt); diff != "" {
		t.Errorf("attempt (-want +got):\n%s", diff)
	}
	want = v1alpha1.Attempt{ID: 1, Since: previous.Time, Restarts: 1, FailureRestarts: 1}
	if diff := cmp.Diff(&want, record.Previous); diff != "" {
		t.Errorf("previous attempt (-want +got):\n%s", diff)
	}
	if first.State != "ScheduledToRestart" || first.Attempt != 2 || previous.Attempt != 1 || record.Transitions[5].Attempt != 1 {
		t.Errorf("transitions belong to other attempts: %+v", record.Transitions)
	}
}

func TestInheritEnds(t *testing.T) {
	exit := int32(1)
	evicted := "Driver has one or more failed critical container(s), refer last observed status for details. Message: " +
		"The node was low on resource: memory."
	for name, want := range map[string]*v1alpha1.AttemptEnd{
		"running-healthy":        nil,
		"succeeded":              {Outcome: "Succeeded", Message: "Spark application completed successfully."},
		"failed":                 {Outcome: "Failed", Class: "application", ExitCode: &exit, Reason: "Error", RestartAllowed: true},
		"driver-evicted":         {Outcome: "Failed", Class: "eviction", Reason: "Evicted", Message: evicted},
		"driver-start-timed-out": {Outcome: "Failed", Class: "timeout"},
		"scheduling-failure":     {Outcome: "Failed", Class: "scheduling"},
		"driver-removed":         {Outcome: "Failed", Class: "infrastructure", Reason: "DriverLost"},
		"resource-released":      {Outcome: "Succeeded", Message: "Spark application completed successfully."},
		"twice-ended":            {Outcome: "Succeeded", Message: "Spark application completed successfully."},
		"deleted":                nil,
	} {
		t.Run(name, func(t *testing.T) {
			var got *v1alpha1.AttemptEnd
			if end := outbox.LastEnd(inherited(t, leftIn(t, name).Obj())); end != nil {
				got = end.End
				if want != nil && want.Message == "" {
					got.Message = ""
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("end (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInheritOutcomes(t *testing.T) {
	for name, want := range map[string]string{
		"running-healthy":                      "",
		"failed":                               "",
		"resource-released":                    "ResourceReleased Succeeded",
		"terminated-without-release-resources": "TerminatedWithoutReleaseResources Succeeded",
		"retention-over":                       "TerminatedWithoutReleaseResources Succeeded",
		"driver-removed":                       "ResourceReleased Failed",
		"deleted":                              "ResourceReleased Deleted",
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, transition := range inherited(t, leftIn(t, name).Obj()).Transitions {
				if transition.Final() {
					got = append(got, transition.State, transition.Outcome)
				}
			}
			if got := strings.Join(got, " "); got != want {
				t.Errorf("the true end is %q, want %q", got, want)
			}
		})
	}
}

// A restart that was decided is not decided again: its back-off goes on from where it began.
func TestInheritABackOff(t *testing.T) {
	backoff := func(config sparkv1.RestartConfig) *application {
		config.RestartPolicy = sparkv1.RestartOnFailure
		return leftIn(t, "scheduled-to-restart").Tolerating(sparkv1.ApplicationTolerations{RestartConfig: &config})
	}
	minute, hour := int64(60_000), int64(3_600_000)
	for name, test := range map[string]struct {
		app  *application
		want time.Duration
	}{
		"of any restart": {backoff(sparkv1.RestartConfig{RestartBackoffMillis: &minute}), time.Minute},
		"after a failure": {
			backoff(sparkv1.RestartConfig{RestartBackoffMillis: &minute, RestartBackoffMillisForFailure: &hour}), time.Hour,
		},
		"where the end before was not kept": {
			lostHistory(backoff(sparkv1.RestartConfig{RestartBackoffMillisForFailure: &hour})), 30 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			record := inherited(t, test.app.Obj())
			since := outbox.Current(record).Time
			verdict := record.Verdict
			if verdict == nil || !verdict.Restart || verdict.Attempt != 0 || verdict.NotBefore.Sub(since.Time) != test.want {
				t.Errorf("verdict is %+v, want a restart %s after %s", verdict, test.want, since)
			}
		})
	}
}

func lostHistory(app *application) *application {
	return app.With(func(app *sparkv1.SparkApplication) { app.Status.PreviousAttemptSummary.StateTransitionHistory = nil })
}

func TestInheritBoundsTheRecord(t *testing.T) {
	long := strings.Repeat("at some.java.Class ", 10_000)
	app := leftIn(t, "untrimmed").With(func(app *sparkv1.SparkApplication) {
		for key, state := range app.Status.StateTransitionHistory {
			state.Message = long
			state.LastObservedDriverStatus = &corev1.PodStatus{Phase: corev1.PodFailed, Message: long}
			app.Status.StateTransitionHistory[key] = state
		}
	})
	encoded, err := yaml.Marshal(inherited(t, app.Obj()))
	if err != nil || len(encoded) > 64<<10 {
		t.Errorf("the record has %d bytes (%v)", len(encoded), err)
	}
}

func TestInheritAnIncompleteStatus(t *testing.T) {
	for name, test := range map[string]struct {
		app  *application
		want string // state, sequence and attempt
	}{
		"nothing at all": {pi(), "Submitted 1 0"},
		"conditions only": {pi().With(func(app *sparkv1.SparkApplication) {
			app.Status.Conditions = leftIn(t, "failed").app.Status.Conditions
		}), "Submitted 1 0"},
		"no history": {leftIn(t, "running-healthy").With(func(app *sparkv1.SparkApplication) {
			app.Status.StateTransitionHistory = nil
		}), "RunningHealthy 1 0"},
		"no summary": {leftIn(t, "running-healthy").With(func(app *sparkv1.SparkApplication) {
			app.Status.CurrentAttemptSummary = nil
		}), "RunningHealthy 5 0"},
		"no previous summary": {leftIn(t, "scheduled-to-restart").With(func(app *sparkv1.SparkApplication) {
			app.Status.PreviousAttemptSummary = nil
		}), "ScheduledToRestart 7 1"},
		"a state in the past that is not known": {leftIn(t, "running-healthy").With(func(app *sparkv1.SparkApplication) {
			app.Status.StateTransitionHistory["3"] = sparkv1.ApplicationState{
				CurrentStateSummary: "Pondering", LastTransitionTime: "2026-09-14T08:30:20Z",
			}
		}), "RunningHealthy 5 0"},
	} {
		t.Run(name, func(t *testing.T) {
			record := inherited(t, test.app.Obj())
			current := outbox.Current(record)
			if got := fmt.Sprint(current.State, " ", current.Sequence, " ", record.Attempt.ID); got != test.want {
				t.Errorf("record is %s, want %s", got, test.want)
			}
		})
	}
}

func TestInheritRefusesAnInvalidStatus(t *testing.T) {
	edit := func(name string, change func(*sparkv1.ApplicationStatus)) *application {
		return leftIn(t, name).With(func(app *sparkv1.SparkApplication) { change(&app.Status) })
	}
	entry := func(key, state, at string) func(*sparkv1.ApplicationStatus) {
		return func(status *sparkv1.ApplicationStatus) {
			status.StateTransitionHistory[key] = sparkv1.ApplicationState{CurrentStateSummary: state, LastTransitionTime: at}
		}
	}
	const after = "2026-09-14T08:31:20Z"
	for want, app := range map[string]*application{
		"currentState is missing": edit("running-healthy", func(s *sparkv1.ApplicationStatus) { s.CurrentState = nil }),
		`currentState.currentStateSummary "" is not known`: edit("running-healthy", func(s *sparkv1.ApplicationStatus) {
			s.CurrentState.CurrentStateSummary = ""
		}),
		`currentState.currentStateSummary "Suspended" is not known`: edit("running-healthy", func(s *sparkv1.ApplicationStatus) {
			s.CurrentState.CurrentStateSummary = "Suspended"
		}),
		`lastTransitionTime "" of state 0 "RunningHealthy" is no time`: edit("running-healthy", func(s *sparkv1.ApplicationStatus) {
			*s = sparkv1.ApplicationStatus{CurrentState: &sparkv1.ApplicationState{CurrentStateSummary: "RunningHealthy"}}
		}),
		`lastTransitionTime "yesterday" of state 3 "DriverReady" is no time`: edit("running-healthy",
			entry("3", "DriverReady", "yesterday")),
		`stateTransitionHistory has the key "fifth", which is no number`:                edit("running-healthy", entry("fifth", "Failed", after)),
		`stateTransitionHistory has the key "-1", which is no number`:                   edit("running-healthy", entry("-1", "Failed", after)),
		`stateTransitionHistory has the key "9223372036854775807", which is no number`:  edit("running-healthy", entry("9223372036854775807", "Failed", after)),
		`stateTransitionHistory ends with "Failed", and currentState is RunningHealthy`: edit("running-healthy", entry("5", "Failed", after)),
		"currentAttemptSummary.attemptInfo is missing": edit("scheduled-to-restart", func(s *sparkv1.ApplicationStatus) {
			s.CurrentAttemptSummary = nil
		}),
		"currentAttemptSummary.attemptInfo.id -1 is below 0": edit("running-healthy", func(s *sparkv1.ApplicationStatus) {
			s.CurrentAttemptSummary.AttemptInfo.ID = -1
		}),
	} {
		t.Run(want, func(t *testing.T) {
			if record, err := apache.Inherit(app.Obj(), apache.Defaults{}); err == nil || err.Error() != want {
				t.Errorf("error is %v, record is %+v", err, record)
			}
		})
	}
}
