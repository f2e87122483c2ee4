package integration

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// owned creates an application that names the schedule as its owner and claims to be for an instant, if not zero. Only
// the test made it a run.
func (t *scheduleEnv) owned(name string, controller bool, instant time.Time) {
	t.Helper()
	var template, spec map[string]any
	t.must(json.Unmarshal([]byte(templates[t.kind]), &template))
	if spec = template; t.kind == variant.Apache {
		spec = template["spec"].(map[string]any)
	}
	owner := *metav1.NewControllerRef(t.now(), t.kind.GroupVersionKind())
	owner.Controller = &controller
	meta := map[string]any{"name": name, "ownerReferences": []metav1.OwnerReference{owner}}
	if !instant.IsZero() {
		meta["annotations"] = map[string]string{variant.AnnotationScheduledTime: instant.UTC().Format(time.RFC3339)}
	}
	manifest, err := json.Marshal(map[string]any{
		"apiVersion": t.kind.Runs.GroupVersion().String(), "kind": t.kind.Runs.Kind, "metadata": meta, "spec": spec,
	})
	t.must(err)
	t.submitted(string(manifest))
}

func TestScheduleIgnoresAForgedRun(t *testing.T) {
	ofEachKind(t, func(t *testing.T, s *env, k *variant.Kind) {
		pi := s.schedules(k, "pi", "@every 2s", nil)
		before := pi.untilStarted("")
		far := time.Date(9990, 1, 1, 0, 0, 0, 0, time.UTC)
		for name, controller := range map[string]bool{"pi-forged": false, schedule.RunName("pi", far): true} {
			pi.owned(name, controller, far)
			status := pi.until("start more runs", func(s *firesteelv1alpha1.ScheduleStatus) bool {
				return s.LastRunName > before && s.LastRunName != name
			}).GetScheduleStatus()
			before = status.LastRunName
			if settled := status.Firesteel.SettledUntil.Time; settled.After(time.Now().Add(time.Minute)) {
				t.Errorf("by %s all instants until %s are settled", name, settled)
			}
			_, err := s.kubectl("", "delete", k.Runs.GroupKind().String(), name, "--timeout=60s")
			s.must(err) // the schedule does not hold it up
		}
		pi.patch(`{"suspend": true}`)
	})
}

func TestScheduleForbidCountsEveryRunThatItOwns(t *testing.T) {
	ofEachKind(t, func(t *testing.T, s *env, k *variant.Kind) {
		pi := s.schedules(k, "pi", "@every 1h", func(spec map[string]any) { spec["concurrencyPolicy"] = "Forbid" })
		pi.until("be looked at", func(s *firesteelv1alpha1.ScheduleStatus) bool { return s.NextRun != nil })
		const theirs = "pi-1700000000000000000" // as the Kubeflow operator names and owns it
		pi.owned(theirs, false, time.Time{})
		_, err := s.kubectl("", "wait", "--for=jsonpath={.status}", "--timeout=60s", k.Runs.GroupKind().String()+"/"+theirs)
		s.must(err) // the controller has seen it
		pi.patch(`{"schedule": "@every 2s"}`)
		pi.untilCondition("RunStarted", metav1.ConditionFalse, "WaitsForRunningRun")
		if runs := pi.runs(); len(runs) != 0 {
			t.Errorf("beside the run of another operator there are %s", namesOf(runs))
		}
		_, err = s.kubectl("", "delete", k.Runs.GroupKind().String(), theirs)
		s.must(err)
		pi.untilStarted("")
		pi.patch(`{"suspend": true}`)
	})
}
