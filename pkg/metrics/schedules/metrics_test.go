package schedules

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/metrics/metricstest"
)

func TestRunsOfSchedulesAreMeasured(t *testing.T) {
	reader := metricstest.NewReader()
	m, err := New(reader.Provider())
	if err != nil {
		t.Fatal(err)
	}
	due := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
	run := &v1alpha1.ScheduledRun{}
	run.ScheduledTime = metav1.NewTime(due)
	m.RecordRun("firesteel.dev", run) // without uid: refused
	run.UID, run.StartedAt = "uid", metav1.NewMicroTime(due.Add(2*time.Second))
	m.RecordRun("firesteel.dev", run)
	m.CountMissed("firesteel.dev", 0)
	m.CountMissed("firesteel.dev", 3)
	want := map[string]float64{
		"firesteel.schedule.runs.refused firesteel.group=firesteel.dev":    1,
		"firesteel.schedule.run.delay count firesteel.group=firesteel.dev": 1,
		"firesteel.schedule.run.delay sum firesteel.group=firesteel.dev":   2,
		"firesteel.schedule.runs.missed firesteel.group=firesteel.dev":     3,
	}
	if diff := cmp.Diff(want, reader.Values(t)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{Scope}, reader.Scopes(t)); diff != "" {
		t.Errorf("scopes (-want +got):\n%s", diff)
	}
}
