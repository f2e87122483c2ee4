package integration

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/kind"
)

// ofEachKind runs a test for the schedules of each kind.
func ofEachKind(t *testing.T, test func(*testing.T, *scene, *kind.Kind)) {
	t.Helper()
	t.Parallel()
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newScene(t).sharesController(), k)
		})
	}
}

func TestRunsStartOnTime(t *testing.T) {
	ofEachKind(t, func(t *testing.T, s *scene, k *kind.Kind) {
		pi := s.schedules(k, "pi", "@every 2s", nil)
		runs := pi.untilRuns(3)
		status := pi.until("record them", func(s *firesteelv1alpha1.ScheduleStatus) bool {
			return s.LastRunName >= runs[2].GetName()
		}).GetScheduleStatus()
		pi.patch(`{"suspend": true}`)
		if status.ScheduleState != "Scheduled" || status.LastRun == nil || status.NextRun == nil || status.MissedRuns != 0 {
			t.Errorf("the status is %+v", status)
		}
		created := pi.now().GetCreationTimestamp()
		for i, run := range runs {
			due := created.Add(time.Duration(i+1) * 2 * time.Second)
			if got := run.GetAnnotations()[kind.AnnotationScheduledTime]; got != due.UTC().Format(time.RFC3339) {
				t.Errorf("run %d is for %s, want %s", i, got, due)
			}
			if name := schedule.RunName("pi", due); run.GetName() != name {
				t.Errorf("run %d is named %s, want %s", i, run.GetName(), name)
			}
			labels := map[string]string{"team": "a", k.LabelSchedule: "pi"}
			if k == kind.Apache {
				labels["made"] = "so"
			}
			if diff := cmp.Diff(labels, run.GetLabels()); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			owner := metav1.GetControllerOf(run)
			if owner == nil || owner.UID != pi.now().GetUID() || owner.BlockOwnerDeletion == nil || !*owner.BlockOwnerDeletion {
				t.Errorf("its owner is %+v", owner)
			}
		}
		heard := s.untilDelivered("the runs to be told of", func(heard []delivery) bool { return len(due(heard)) >= 3 })
		if first := due(heard)[0]; first.Attributes["id"] != string(pi.now().GetUID())+"."+created.Add(2*time.Second).UTC().Format(time.RFC3339) {
			t.Errorf("the first event is %v", first.Attributes)
		}
	})
}

// due are the deliveries that say that a run is due.
func due(heard []delivery) []delivery {
	var events []delivery
	for _, d := range heard {
		if d.Attributes["type"] == "dev.firesteel.schedule.due.v1" {
			events = append(events, d)
		}
	}
	return events
}

func TestForbidWaitsForTheRunningRun(t *testing.T) {
	ofEachKind(t, func(t *testing.T, s *scene, k *kind.Kind) {
		pi := s.schedules(k, "pi", "@every 4s", func(spec map[string]any) { spec["concurrencyPolicy"] = "Forbid" })
		first := pi.untilStarted("")
		pi.untilCondition("RunStarted", metav1.ConditionFalse, "WaitsForRunningRun")
		missed := pi.until("miss a run", func(s *firesteelv1alpha1.ScheduleStatus) bool { return s.MissedRuns >= 1 })
		if runs := pi.runs(); len(runs) != 1 {
			t.Errorf("while the first runs there are %s", named(runs))
		}
		pi.end(first, true)
		second := pi.untilStarted(first)
		if second <= missed.GetScheduleStatus().LastRunName {
			t.Errorf("%s came after %s", second, first)
		}
		pi.until("tell of the first", func(s *firesteelv1alpha1.ScheduleStatus) bool {
			return cmp.Equal(s.PastSuccessfulRunNames, []string{first})
		})
	})
}

func TestReplaceStartsWhenTheOldRunIsGone(t *testing.T) {
	t.Parallel()
	s := newScene(t).sharesController()
	pi := s.schedules(kind.Apache, "pi", "@every 5s", func(spec map[string]any) { spec["concurrencyPolicy"] = "Replace" })
	first := pi.untilStarted("")
	s.kubelet.pause(s.ns) // its driver does not go
	s.driver(first, 0)
	held := pi.untilCondition("RunStarted", metav1.ConditionFalse, "ReplacesRunningRun")
	t.Log(held.Message)
	pi.until("miss the next", func(s *firesteelv1alpha1.ScheduleStatus) bool { return s.MissedRuns >= 1 })
	if runs := pi.runs(); len(runs) != 1 || runs[0].GetName() != first || runs[0].GetDeletionTimestamp() == nil {
		t.Errorf("while the first driver is there, there are %s", named(runs))
	}
	s.kubelet.resume(t.Context(), s.ns)
	pi.untilStarted(first)
	untilGone(s, s.apps(), first)
}

func TestHistoryIsPrunedWhenRunsEnd(t *testing.T) {
	ofEachKind(t, func(t *testing.T, s *scene, k *kind.Kind) {
		pi := s.schedules(k, "pi", "@every 3s", func(spec map[string]any) {
			spec["successfulRunHistoryLimit"], spec["failedRunHistoryLimit"] = 1, 0
		})
		runs := pi.untilRuns(3)
		pi.patch(`{"suspend": true}`)
		for i, succeeds := range []bool{true, false, true} {
			pi.end(runs[i].GetName(), succeeds)
		}
		pi.until("keep the last successful one", func(s *firesteelv1alpha1.ScheduleStatus) bool {
			return cmp.Equal(s.PastSuccessfulRunNames, []string{runs[2].GetName()}) && len(s.PastFailedRunNames) == 0
		})
		for _, run := range runs[:2] {
			pi.untilNoRun(run.GetName())
		}
	})
}
