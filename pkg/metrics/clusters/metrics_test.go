package clusters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

func TestClusterTransitionsAreCountedOnce(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	counts := func() map[string]int64 { return map[string]int64{"RunningHealthy": 2} }
	m, err := New(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), counts)
	if err != nil {
		t.Fatal(err)
	}
	record := &v1alpha1.Record{Transitions: []v1alpha1.Transition{{Sequence: 1, State: "Submitted"}, {Sequence: 2, State: "RunningHealthy"}}}
	m.CountTransitions(record, 0)
	m.CountTransitions(record, 1)
	m.CountTransitions(record, 2)
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &collected); err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, metric := range collected.ScopeMetrics[0].Metrics {
		var points []metricdata.DataPoint[int64]
		switch data := metric.Data.(type) {
		case metricdata.Gauge[int64]:
			points = data.DataPoints
		case metricdata.Sum[int64]:
			points = data.DataPoints
		}
		for _, point := range points {
			state, _ := point.Attributes.Value(attributeState)
			got[metric.Name+" "+state.AsString()] = point.Value
		}
	}
	want := map[string]int64{
		"firesteel.clusters RunningHealthy": 2, "firesteel.cluster.transitions Submitted": 1, "firesteel.cluster.transitions RunningHealthy": 2,
	}
	if diff := cmp.Diff(want, got); diff != "" || collected.ScopeMetrics[0].Scope.Name != Scope {
		t.Errorf("scope %s (-want +got):\n%s", collected.ScopeMetrics[0].Scope.Name, diff)
	}
}
