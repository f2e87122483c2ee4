package apache_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

const accepted = "Spark application has been created on Kubernetes Cluster."

func visible(state lifecycle.State, time, message string) sparkv1.ApplicationState {
	return sparkv1.ApplicationState{CurrentStateSummary: string(state), LastTransitionTime: time, Message: message}
}

func TestProjectTheFirstAttempt(t *testing.T) {
	record := submitted().Requested().Obj()
	requested := visible(lifecycle.DriverRequested, "2026-03-01T12:00:01Z", "Requested driver from resource scheduler.")
	want := sparkv1.ApplicationStatus{
		CurrentState: &requested,
		StateTransitionHistory: map[string]sparkv1.ApplicationState{
			"0": visible(lifecycle.Submitted, "2026-03-01T12:00:00Z", accepted), "1": requested,
		},
		CurrentAttemptSummary: &sparkv1.AttemptSummary{AttemptInfo: &sparkv1.AttemptInfo{}},
		Firesteel:             record,
	}
	var got sparkv1.ApplicationStatus
	apache.Project(&got, record)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestProjectARestart(t *testing.T) {
	last := &corev1.PodStatus{Phase: corev1.PodFailed}
	record := submitted().Requested().
		Ended(lifecycle.Failed, v1alpha1.AttemptEnd{Message: "exited with 1", RestartAllowed: true}).
		With(func(r *v1alpha1.Record) { r.Transitions[2].DriverStatus = last }).
		Restarting().
		With(func(r *v1alpha1.Record) { r.Attempt.FailureRestarts, r.Attempt.SchedulingFailureRestarts = 2, 3 }).
		Obj()
	failed := visible(lifecycle.Failed, "2026-03-01T12:00:02Z", "exited with 1")
	failed.LastObservedDriverStatus = last
	scheduled := visible(lifecycle.ScheduledToRestart, "2026-03-01T12:00:03Z", "")
	want := sparkv1.ApplicationStatus{
		CurrentState:           &scheduled,
		StateTransitionHistory: map[string]sparkv1.ApplicationState{"3": scheduled},
		CurrentAttemptSummary: &sparkv1.AttemptSummary{AttemptInfo: &sparkv1.AttemptInfo{
			ID: 1, RestartCounter: 1, FailureRestartCounter: 2, SchedulingFailureRestartCounter: 3,
		}},
		PreviousAttemptSummary: &sparkv1.AttemptSummary{
			AttemptInfo: &sparkv1.AttemptInfo{},
			StateTransitionHistory: map[string]sparkv1.ApplicationState{
				"0": visible(lifecycle.Submitted, "2026-03-01T12:00:00Z", accepted),
				"1": visible(lifecycle.DriverRequested, "2026-03-01T12:00:01Z", "Requested driver from resource scheduler."),
				"2": failed,
			},
		},
		Firesteel: record,
	}
	var got sparkv1.ApplicationStatus
	apache.Project(&got, record)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestProjectShowsTheLastTwoAttemptsOnly(t *testing.T) {
	failed := v1alpha1.AttemptEnd{RestartAllowed: true}
	record := submitted().Requested().Ended(lifecycle.Failed, failed). // 0 to 2
										Restarting().Requested().Ended(lifecycle.Failed, failed). // 3 to 5
										Restarting().Requested().Obj()                            // 6 and 7
	var got sparkv1.ApplicationStatus
	apache.Project(&got, record)
	for what, test := range map[string]struct {
		got  map[string]sparkv1.ApplicationState
		want []string
	}{
		"this attempt":     {got.StateTransitionHistory, []string{"6", "7"}},
		"the previous one": {got.PreviousAttemptSummary.StateTransitionHistory, []string{"3", "4", "5"}},
	} {
		for _, key := range test.want {
			if _, has := test.got[key]; !has || len(test.got) != len(test.want) {
				t.Errorf("%s has the states %v, want the keys %v", what, test.got, test.want)
			}
		}
	}
	if id := got.PreviousAttemptSummary.AttemptInfo.ID; id != 1 {
		t.Errorf("the previous attempt is %d", id)
	}
}

func TestProjectReplacesThePreviousStatus(t *testing.T) {
	got := sparkv1.ApplicationStatus{
		StateTransitionHistory: map[string]sparkv1.ApplicationState{"9": {CurrentStateSummary: "Foreign"}},
		PreviousAttemptSummary: &sparkv1.AttemptSummary{},
		Conditions:             []metav1.Condition{{Type: "Kept"}},
		ObservedGeneration:     7,
	}
	record := submitted().Obj()
	apache.Project(&got, record)
	if len(got.StateTransitionHistory) != 1 || got.PreviousAttemptSummary != nil {
		t.Errorf("something of another record is left: %+v", got)
	}
	if len(got.Conditions) != 1 || got.ObservedGeneration != 7 {
		t.Errorf("the conditions were touched: %+v", got)
	}
}

// The Apache operator reads the times back as Java instants, should it take over again.
func TestProjectWritesTimesInUTC(t *testing.T) {
	for name, test := range map[string]struct {
		time time.Time
		want string
	}{
		"in another zone":   {start.In(time.FixedZone("somewhere", -7*3600)), "2026-03-01T12:00:00Z"},
		"with microseconds": {start.Add(120 * time.Microsecond), "2026-03-01T12:00:00.00012Z"},
	} {
		t.Run(name, func(t *testing.T) {
			record := submitted().With(func(r *v1alpha1.Record) { r.Transitions[0].Time = metav1.NewMicroTime(test.time) }).Obj()
			var status sparkv1.ApplicationStatus
			apache.Project(&status, record)
			if got := status.CurrentState.LastTransitionTime; got != test.want {
				t.Errorf("time is %s, want %s", got, test.want)
			}
		})
	}
}

// A status is compared with the one that is stored, so that nothing is written twice.
func TestProjectIsTheSameOfAStoredRecord(t *testing.T) {
	record := submitted().With(func(r *v1alpha1.Record) { r.Transitions[0].Time = at(123456 * time.Microsecond) }).
		Requested().Ended(lifecycle.Failed, v1alpha1.AttemptEnd{RestartAllowed: true}).Restarting().Obj()
	var first, stored, second sparkv1.ApplicationStatus
	apache.Project(&first, record)
	encoded, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(encoded, &stored); err != nil {
		t.Fatal(err)
	}
	apache.Project(&second, stored.Firesteel)
	second.Firesteel, first.Firesteel = nil, nil
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("status (-of the record +of the stored record):\n%s", diff)
	}
	for _, counter := range []string{"restartCounter", "failureRestartCounter", "schedulingFailureRestartCounter"} {
		if !strings.Contains(string(encoded), `"`+counter+`":0`) {
			t.Errorf("%s is left out where it is zero: %s", counter, encoded)
		}
	}
}
