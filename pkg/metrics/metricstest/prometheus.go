package metricstest

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Served returns every series of a registry by its name and labels, such as "workqueue_adds_total name=pi". The value of a histogram is
// its count.
func Served(t *testing.T, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			name := family.GetName()
			for _, label := range metric.GetLabel() {
				name += " " + label.GetName() + "=" + label.GetValue()
			}
			switch family.GetType() {
			case dto.MetricType_HISTOGRAM:
				values[name] = float64(metric.GetHistogram().GetSampleCount())
			case dto.MetricType_COUNTER:
				values[name] = metric.GetCounter().GetValue()
			default:
				values[name] = metric.GetGauge().GetValue()
			}
		}
	}
	return values
}
