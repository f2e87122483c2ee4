package status_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/status"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// kubectl wait --for=condition=Succeeded works as for every kind.
func TestConditionSucceededInEachState(t *testing.T) {
	for name, tt := range map[string]struct {
		run  func(*scenario)
		want metav1.ConditionStatus
	}{
		"new":                        {func(s *scenario) { s.Go() }, metav1.ConditionUnknown},
		"running":                    {func(s *scenario) { s.Go().DriverRuns() }, metav1.ConditionUnknown},
		"completed":                  {func(s *scenario) { s.Go().DriverRuns().DriverSucceeds() }, metav1.ConditionTrue},
		"failed":                     {func(s *scenario) { s.Go().DriverRuns().DriverFails() }, metav1.ConditionFalse},
		"failed to be submitted":     {func(s *scenario) { s.Refused(1).Go() }, metav1.ConditionFalse},
		"to be retried":              {func(s *scenario) { s.Retrying(1, 0).Go().DriverRuns().DriverFails() }, metav1.ConditionUnknown},
		"suspended":                  {func(s *scenario) { s.Go().DriverRuns().Suspended(true).Go() }, metav1.ConditionUnknown},
		"edited after its end":       {func(s *scenario) { s.Go().DriverRuns().DriverSucceeds().Edited().decide() }, metav1.ConditionUnknown},
		"run again after its end":    {func(s *scenario) { s.Go().DriverRuns().DriverSucceeds().Edited().Go() }, metav1.ConditionUnknown},
		"deleted before its end":     {func(s *scenario) { s.Go().DriverRuns().Deleted() }, metav1.ConditionFalse},
		"deleted after it completed": {func(s *scenario) { s.Go().DriverRuns().DriverSucceeds().Deleted() }, metav1.ConditionTrue},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			tt.run(s)
			app := &v1beta2.SparkApplication{}
			app.Generation = 3
			status.SetConditions(app, s.record, dialect.Facts{Now: s.now, Policy: s.policy})
			got := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionSucceeded)
			if got == nil || got.Status != tt.want || got.ObservedGeneration != 3 || app.Status.ObservedGeneration != 3 {
				t.Errorf("condition %+v, want %s", got, tt.want)
			}
		})
	}
}

// decide takes one decision, and no effect.
func (s *scenario) decide() {
	s.record, _ = lifecycle.Decide(s.record, s.policy, s.seen, s.now)
}
