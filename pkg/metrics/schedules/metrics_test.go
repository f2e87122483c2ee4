package schedules

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

func TestRunsOfSchedulesAreMeasured(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	m, err := New(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
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
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &collected); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, metric := range collected.ScopeMetrics[0].Metrics {
		switch data := metric.Data.(type) {
		case metricdata.Sum[int64]:
			got[metric.Name] = float64(data.DataPoints[0].Value)
		case metricdata.Histogram[float64]:
			got[metric.Name] = data.DataPoints[0].Sum
		}
	}
	want := map[string]float64{"firesteel.schedule.runs.refused": 1, "firesteel.schedule.run.delay": 2, "firesteel.schedule.runs.missed": 3}
	if diff := cmp.Diff(want, got); diff != "" || collected.ScopeMetrics[0].Scope.Name != Scope {
		t.Errorf("scope %s (-want +got):\n%s", collected.ScopeMetrics[0].Scope.Name, diff)
	}
}
