package kubernetes

import (
	"context"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/metrics"
)

// requestBuckets are those of Kubernetes.
var requestBuckets = []float64{.005, .025, .1, .25, .5, 1, 2, 4, 8, 15, 30, 60}

// clients has the metrics of the requests to the API server. Their labels are bounded: no path and no name is among them.
type clients struct {
	collectors
	durations        *prometheus.HistogramVec
	results, retries *prometheus.CounterVec
}

func newClients() *clients {
	counter := func(name, help, method string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rest_client_" + name, Help: help}, []string{"code", method, "host"})
	}
	c := &clients{
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rest_client_request_duration_seconds", Help: "Time that a request to the API server took, by verb and host.", Buckets: requestBuckets,
		}, []string{"verb", "host"}),
		results: counter("requests_total", "Requests to the API server, by code, method and host. The code is <error> if no answer came.", "method"),
		retries: counter("request_retries_total", "Requests that the client sent again, by code, verb and host.", "verb"),
	}
	c.collectors = collectors{c.durations, c.results, c.retries}
	return c
}

// Increment counts the result of a request.
func (c *clients) Increment(_ context.Context, code, method, host string) {
	c.results.WithLabelValues(code, method, host).Inc()
}

// IncrementRetry counts a request that is sent again.
func (c *clients) IncrementRetry(_ context.Context, code, method, host string) {
	c.retries.WithLabelValues(code, method, host).Inc()
}

// Observe observes the time that a request took.
func (c *clients) Observe(_ context.Context, verb string, target url.URL, took time.Duration) {
	c.durations.WithLabelValues(verb, target.Host).Observe(took.Seconds())
}

// bothLatencies observes each time twice.
type bothLatencies [2]metrics.LatencyMetric

// Observe observes the time that a request took.
func (b bothLatencies) Observe(ctx context.Context, verb string, target url.URL, took time.Duration) {
	b[0].Observe(ctx, verb, target, took)
	b[1].Observe(ctx, verb, target, took)
}

// bothResults counts each result twice.
type bothResults [2]metrics.ResultMetric

// Increment counts the result of a request.
func (b bothResults) Increment(ctx context.Context, code, method, host string) {
	b[0].Increment(ctx, code, method, host)
	b[1].Increment(ctx, code, method, host)
}
