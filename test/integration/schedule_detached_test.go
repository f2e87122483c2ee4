package integration

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// detach patches the metadata of a run.
func (t *scheduleEnv) detach(run, metadata string) {
	t.Helper()
	_, err := t.Dynamic.Resource(t.kind.RunsResource()).Namespace(t.ns).
		Patch(t.Context(), run, types.MergePatchType, []byte(`{"metadata":`+metadata+`}`), metav1.PatchOptions{})
	t.must(err)
}

// detachments are changes of a run's metadata, and whether the run is still in the history.
func detachments(k *variant.Kind) map[string]string {
	return map[string]string{
		"its label":           `{"labels":{"` + k.LabelSchedule + `":null}}`,
		"its owner":           `{"ownerReferences":null}`,
		"its owner and label": `{"ownerReferences":null,"labels":{"` + k.LabelSchedule + `":null}}`,
	}
}

func TestScheduleForbidWaitsForARunWithoutOwnerOrLabel(t *testing.T) {
	ofEachKind(t, func(t *testing.T, _ *env, k *variant.Kind) {
		for name, metadata := range detachments(k) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newEnv(t).sharesController()
				pi := s.schedules(k, "pi", "@every 4s", func(spec map[string]any) { spec["concurrencyPolicy"] = "Forbid" })
				first := pi.untilStarted("")
				pi.detach(first, metadata)
				pi.untilCondition("RunStarted", metav1.ConditionFalse, "WaitsForRunningRun")
				missed := pi.until("miss a run", func(s *firesteelv1alpha1.ScheduleStatus) bool { return s.MissedRuns >= 1 })
				if last := missed.GetScheduleStatus().LastRunName; last != first {
					t.Errorf("%s was started beside %s", last, first)
				}
				pi.end(first, true)
				pi.untilStarted(first)
				if name != "its owner and label" {
					pi.until("tell of the first", func(s *firesteelv1alpha1.ScheduleStatus) bool {
						return slices.Contains(s.PastSuccessfulRunNames, first)
					})
				}
			})
		}
	})
}

func TestScheduleReplaceReplacesARunWithoutOwnerOrLabel(t *testing.T) {
	ofEachKind(t, func(t *testing.T, _ *env, k *variant.Kind) {
		for name, metadata := range detachments(k) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newEnv(t).sharesController()
				pi := s.schedules(k, "pi", "@every 4s", func(spec map[string]any) { spec["concurrencyPolicy"] = "Forbid" })
				first := pi.untilStarted("")
				pi.detach(first, metadata)
				pi.patch(`{"concurrencyPolicy": "Replace"}`)
				pi.untilStarted(first)
				pi.untilNoRun(first)
			})
		}
	})
}
