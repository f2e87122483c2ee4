package applications

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

func TestApplicationTransitionsAreCountedOnceWithTheirDuration(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	counts := func() map[string]int64 { return map[string]int64{"Succeeded": 2} }
	m, err := New(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), "scope", counts)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	record := &v1alpha1.Record{Transitions: []v1alpha1.Transition{
		{Sequence: 1, State: "Submitted", Time: metav1.NewMicroTime(start)},
		{Sequence: 2, State: "DriverRequested", Time: metav1.NewMicroTime(start.Add(3 * time.Second))},
	}}
	m.CountTransitions(record, 1)
	m.CountTransitions(record, 2)
	m.RecordDetection("DriverRequested", time.Second)
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &collected); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, metric := range collected.ScopeMetrics[0].Metrics {
		name := func(set attribute.Set) string { return metric.Name + " " + set.Encoded(attribute.DefaultEncoder()) }
		switch data := metric.Data.(type) {
		case metricdata.Sum[int64]:
			got[name(data.DataPoints[0].Attributes)] = float64(data.DataPoints[0].Value)
		case metricdata.Gauge[int64]:
			got[name(data.DataPoints[0].Attributes)] = float64(data.DataPoints[0].Value)
		case metricdata.Histogram[float64]:
			got[name(data.DataPoints[0].Attributes)] = data.DataPoints[0].Sum
		}
	}
	want := map[string]float64{
		"firesteel.applications firesteel.state=Succeeded":                                                2,
		"firesteel.application.transitions firesteel.state=DriverRequested":                               1,
		"firesteel.application.transition.duration firesteel.from=Submitted,firesteel.to=DriverRequested": 3,
		"firesteel.application.detection.duration firesteel.to=DriverRequested":                           1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestStateCounterForgetsApplicationsThatAreNotServed(t *testing.T) {
	state, found, served := "", true, true
	c := NewStateCounter(
		func(types.NamespacedName) (dialect.Application, bool) { return &sparkv1.SparkApplication{}, found },
		func(dialect.Application) bool { return served },
		func(dialect.Application) string { return state })
	key := types.NamespacedName{Namespace: "team-a", Name: "pi"}
	for _, step := range []struct {
		name          string
		state         string
		found, served bool
		want          map[string]int64
	}{
		{"not reconciled yet", "", true, true, map[string]int64{"New": 1}},
		{"running", "RunningHealthy", true, true, map[string]int64{"New": 0, "RunningHealthy": 1}},
		{"out of scope", "RunningHealthy", true, false, map[string]int64{"New": 0, "RunningHealthy": 0}},
		{"in the scope again", "RunningHealthy", true, true, map[string]int64{"New": 0, "RunningHealthy": 1}},
		{"deleted", "RunningHealthy", false, true, map[string]int64{"New": 0, "RunningHealthy": 0}},
	} {
		state, found, served = step.state, step.found, step.served
		if _, got := c.Observe(key); got != (found && served) {
			t.Errorf("%s: served %t", step.name, got)
		}
		if diff := cmp.Diff(step.want, c.Count()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	if len(c.states) != 0 {
		t.Errorf("it still holds %v", c.states)
	}
}
