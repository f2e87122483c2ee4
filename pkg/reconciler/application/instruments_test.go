package application

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	applicationmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/applications"
)

// measured are the values of all metrics; of a histogram, the sum of what was recorded.
func measured(t *testing.T, reader *sdkmetric.ManualReader) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, metric := range all.ScopeMetrics[0].Metrics {
		name := func(set attribute.Set) string { return metric.Name + " " + set.Encoded(attribute.DefaultEncoder()) }
		switch data := metric.Data.(type) {
		case metricdata.Sum[int64]:
			for _, point := range data.DataPoints {
				values[name(point.Attributes)] = float64(point.Value)
			}
		case metricdata.Gauge[int64]:
			for _, point := range data.DataPoints {
				values[name(point.Attributes)] = float64(point.Value)
			}
		case metricdata.Histogram[float64]:
			for _, point := range data.DataPoints {
				values[name(point.Attributes)] = point.Sum
			}
		}
	}
	return values
}

func TestTransitionsAreMeasuredOnce(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	counts := map[string]int64{"Succeeded": 2}
	i, err := applicationmetrics.New(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), "", func() map[string]int64 { return counts })
	if err != nil {
		t.Fatal(err)
	}
	r := &Reconciler{metrics: i, podEventTimes: newPodEventTimes(clockAt(start))}
	arrival := start.Add(-time.Second)
	ctx := context.WithValue(context.Background(), podEventTimeKey{}, &arrival)
	after := pi().Obj()
	for n, state := range []string{"Submitted", "DriverRequested", "DriverStarted"} {
		before := after.DeepCopy()
		if after.Status.Firesteel == nil {
			after.Status.Firesteel = &v1alpha1.Record{}
		}
		record := after.Status.Firesteel
		record.Sequence++
		record.Transitions = append(record.Transitions, v1alpha1.Transition{
			Sequence: record.Sequence, State: state, Time: metav1.NewMicroTime(start.Add(time.Duration(n*n) * time.Second)),
		})
		r.countTransitions(ctx, before, after)
		r.countTransitions(ctx, after, after) // a write without news
	}
	want := map[string]float64{
		"firesteel.applications firesteel.state=Succeeded":                                                    2,
		"firesteel.application.transitions firesteel.state=Submitted":                                         1,
		"firesteel.application.transitions firesteel.state=DriverRequested":                                   1,
		"firesteel.application.transitions firesteel.state=DriverStarted":                                     1,
		"firesteel.application.transition.duration firesteel.from=Submitted,firesteel.to=DriverRequested":     1,
		"firesteel.application.transition.duration firesteel.from=DriverRequested,firesteel.to=DriverStarted": 3,
		"firesteel.application.detection.duration firesteel.to=Submitted":                                     1,
	}
	if diff := cmp.Diff(want, measured(t, reader)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
