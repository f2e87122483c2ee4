// Package metricstest reads metrics in tests.
package metricstest

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Reader collects what is recorded with the metrics of its provider.
type Reader struct {
	manual   *sdkmetric.ManualReader
	provider *sdkmetric.MeterProvider
}

// NewReader returns a reader with a provider of its own.
func NewReader() *Reader {
	manual := sdkmetric.NewManualReader()
	return &Reader{manual, sdkmetric.NewMeterProvider(sdkmetric.WithReader(manual))}
}

// Provider returns the provider for the code under test.
func (r *Reader) Provider() metric.MeterProvider { return r.provider }

// Values returns every series by its name and attributes, such as "firesteel.applications firesteel.state=Succeeded". A
// histogram has two entries: its name with " count" and with " sum".
func (r *Reader) Values(t *testing.T) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for _, scope := range r.collect(t) {
		for _, metric := range scope.Metrics {
			add(values, metric)
		}
	}
	return values
}

// Scopes returns the names of the scopes that have metrics.
func (r *Reader) Scopes(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, scope := range r.collect(t) {
		names = append(names, scope.Scope.Name)
	}
	return names
}

func (r *Reader) collect(t *testing.T) []metricdata.ScopeMetrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := r.manual.Collect(context.Background(), &all); err != nil { // the context of t is already cancelled in a clean-up
		t.Fatal(err)
	}
	return all.ScopeMetrics
}

func add(values map[string]float64, metric metricdata.Metrics) {
	series := func(suffix string, set attribute.Set) string {
		return metric.Name + suffix + " " + set.Encoded(attribute.DefaultEncoder())
	}
	switch data := metric.Data.(type) {
	case metricdata.Sum[int64]:
		for _, point := range data.DataPoints {
			values[series("", point.Attributes)] = float64(point.Value)
		}
	case metricdata.Sum[float64]:
		for _, point := range data.DataPoints {
			values[series("", point.Attributes)] = point.Value
		}
	case metricdata.Gauge[int64]:
		for _, point := range data.DataPoints {
			values[series("", point.Attributes)] = float64(point.Value)
		}
	case metricdata.Histogram[float64]:
		for _, point := range data.DataPoints {
			values[series(" count", point.Attributes)] = float64(point.Count)
			values[series(" sum", point.Attributes)] = point.Sum
		}
	}
}
