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
		live func(*life)
		want metav1.ConditionStatus
	}{
		"new":                        {func(l *life) { l.Go() }, metav1.ConditionUnknown},
		"running":                    {func(l *life) { l.Go().DriverRuns() }, metav1.ConditionUnknown},
		"completed":                  {func(l *life) { l.Go().DriverRuns().DriverSucceeds() }, metav1.ConditionTrue},
		"failed":                     {func(l *life) { l.Go().DriverRuns().DriverFails() }, metav1.ConditionFalse},
		"failed to be submitted":     {func(l *life) { l.Refused(1).Go() }, metav1.ConditionFalse},
		"to be retried":              {func(l *life) { l.Retrying(1, 0).Go().DriverRuns().DriverFails() }, metav1.ConditionUnknown},
		"suspended":                  {func(l *life) { l.Go().DriverRuns().Suspended(true).Go() }, metav1.ConditionUnknown},
		"edited after its end":       {func(l *life) { l.Go().DriverRuns().DriverSucceeds().Edited().decide() }, metav1.ConditionUnknown},
		"run again after its end":    {func(l *life) { l.Go().DriverRuns().DriverSucceeds().Edited().Go() }, metav1.ConditionUnknown},
		"deleted before its end":     {func(l *life) { l.Go().DriverRuns().Deleted() }, metav1.ConditionFalse},
		"deleted after it completed": {func(l *life) { l.Go().DriverRuns().DriverSucceeds().Deleted() }, metav1.ConditionTrue},
	} {
		t.Run(name, func(t *testing.T) {
			l := newborn(t)
			tt.live(l)
			app := &v1beta2.SparkApplication{}
			app.Generation = 3
			status.SetConditions(app, l.record, dialect.Facts{Now: l.now, Policy: l.policy})
			got := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionSucceeded)
			if got == nil || got.Status != tt.want || got.ObservedGeneration != 3 || app.Status.ObservedGeneration != 3 {
				t.Errorf("condition %+v, want %s", got, tt.want)
			}
		})
	}
}

// decide takes one decision, and no effect.
func (l *life) decide() {
	l.record, _ = lifecycle.Decide(l.record, l.policy, l.seen, l.now)
}
