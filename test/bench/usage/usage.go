// Package usage reads what processes have used since their start: CPU time, and requests by their metrics.
package usage

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/kubernetes"

	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// CPU returns the CPU time that an operator, under a name, and all other programs have used.
func CPU(name string, operator *process.Process, others []*process.Process) (map[string]time.Duration, error) {
	times := map[string]time.Duration{}
	var err error
	if times[name], err = operator.CPU(); err != nil {
		return nil, err
	}
	for _, p := range others {
		if times[p.Program()], err = p.CPU(); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// Name makes the name of a kind of requests from the labels of a metric.
type Name func(label func(name string) string) string

// Requests returns how many requests of each kind the API server has answered.
func Requests(ctx context.Context, kube kubernetes.Interface, name Name) (map[string]float64, error) {
	page, err := serverPage(ctx, kube)
	if err != nil {
		return nil, err
	}
	return Counts(page, "apiserver_request_total", name)
}

// Answers returns how many bytes the API server has answered to each kind of requests.
func Answers(ctx context.Context, kube kubernetes.Interface, name Name) (map[string]float64, error) {
	page, err := serverPage(ctx, kube)
	if err != nil {
		return nil, err
	}
	return sums(page, "apiserver_response_sizes", name, func(metric *dto.Metric) float64 { return metric.GetHistogram().GetSampleSum() })
}

// serverPage returns the metrics page of the API server.
func serverPage(ctx context.Context, kube kubernetes.Interface) ([]byte, error) {
	page, err := kube.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("metrics of the API server: %w", err)
	}
	return page, nil
}

// Counts returns the sums of a counter of a metrics page, by name.
func Counts(page []byte, counter string, name Name) (map[string]float64, error) {
	return sums(page, counter, name, func(metric *dto.Metric) float64 { return metric.GetCounter().GetValue() })
}

// sums returns the sums of a metric of a page, by name.
func sums(page []byte, name string, key Name, value func(*dto.Metric) float64) (map[string]float64, error) {
	metrics, err := metricsOf(page, name)
	if err != nil {
		return nil, err
	}
	all := map[string]float64{}
	for _, metric := range metrics {
		all[key(func(label string) string { return labelOf(metric, label) })] += value(metric)
	}
	return all, nil
}

// Histogram is how many observations did not exceed each upper bound.
type Histogram map[float64]float64

// Observed returns the histogram of a metrics page under a name, of the metrics that are chosen.
func Observed(page []byte, histogram string, chosen func(label func(name string) string) bool) (Histogram, error) {
	metrics, err := metricsOf(page, histogram)
	if err != nil {
		return nil, err
	}
	sums := Histogram{}
	for _, metric := range metrics {
		if !chosen(func(label string) string { return labelOf(metric, label) }) {
			continue
		}
		for _, bucket := range metric.GetHistogram().GetBucket() {
			sums[bucket.GetUpperBound()] += float64(bucket.GetCumulativeCount())
		}
	}
	return sums, nil
}

// Since returns what was observed after an earlier histogram.
func (h Histogram) Since(before Histogram) Histogram {
	since := Histogram{}
	for bound, count := range h {
		since[bound] = count - before[bound]
	}
	return since
}

// Quantile returns the least upper bound that the share q of the observations did not exceed; 0 without observations.
func (h Histogram) Quantile(q float64) float64 {
	all := h[math.Inf(1)]
	for _, bound := range slices.Sorted(maps.Keys(h)) {
		if all > 0 && h[bound] >= q*all {
			return bound
		}
	}
	return 0
}

// metricsOf returns the metrics of a page under a name.
func metricsOf(page []byte, name string) ([]*dto.Metric, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(page))
	if err != nil {
		return nil, fmt.Errorf("read metrics: %w", err)
	}
	return families[name].GetMetric(), nil
}

func labelOf(metric *dto.Metric, name string) string {
	for _, pair := range metric.GetLabel() {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}
	return ""
}
