package kubernetes

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/metric"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/workqueue"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/observability/metrics/k8s"
)

// Install registers the metrics, and collects them for the work queues and the clients that are made later. provider is that of
// Knative's metrics. Install must be called before Knative sets its own providers.
func Install(registry prometheus.Registerer, provider metric.MeterProvider) (Leaders, error) {
	knativeQueues, err := k8s.NewWorkqueueMetricsProvider(k8s.WithMeterProvider(provider))
	if err != nil {
		return Leaders{}, err
	}
	knativeClients, err := k8s.NewClientMetricProvider(k8s.WithMeterProvider(provider))
	if err != nil {
		return Leaders{}, err
	}
	queues, clients, leaders := newQueues(), newClients(), newLeaders()
	if err := errors.Join(registry.Register(queues), registry.Register(clients), registry.Register(leaders.status)); err != nil {
		return Leaders{}, err
	}
	both := bothQueues{queues, knativeQueues}
	workqueue.SetProvider(both)
	controller.SetMetricsProvider(both)
	metrics.Register(metrics.RegisterOpts{
		RequestLatency: bothLatencies{clients, knativeClients.RequestLatencyMetric()},
		RequestResult:  bothResults{clients, knativeClients.RequestResultMetric()},
		RequestRetry:   clients,
	})
	return leaders, nil
}

// collectors is a collector of collectors.
type collectors []prometheus.Collector

// Describe describes the metrics.
func (c collectors) Describe(into chan<- *prometheus.Desc) {
	for _, one := range c {
		one.Describe(into)
	}
}

// Collect collects the metrics.
func (c collectors) Collect(into chan<- prometheus.Metric) {
	for _, one := range c {
		one.Collect(into)
	}
}
