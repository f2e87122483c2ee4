// Package clusters has the metrics of SparkClusters.
package clusters

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/metric"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/metrics"
)

// Scope names the metrics and traces. Dashboards select by it, so it keeps the name of the package that first had them.
const Scope = "github.com/firesteel-dev/firesteel/pkg/reconciler/sparkcluster"

// Metrics are the metrics of clusters.
type Metrics struct {
	transitions metric.Int64Counter
}

// New makes the metrics. counts returns the number of served clusters by state.
func New(provider metric.MeterProvider, counts func() map[string]int64) (*Metrics, error) {
	meter := provider.Meter(Scope)
	var m Metrics
	var errs [2]error
	errs[0] = metrics.ObserveStates(meter, "firesteel.clusters", "cluster", "Clusters", counts)
	m.transitions, errs[1] = meter.Int64Counter("firesteel.cluster.transitions",
		metric.WithUnit("{transition}"),
		metric.WithDescription("Transitions of clusters, by "+string(metrics.AttributeState)+" that began."))
	return &m, errors.Join(errs[:]...)
}

// CountTransitions counts the transitions of a record after a sequence.
func (m *Metrics) CountTransitions(record *v1alpha1.Record, after int64) {
	for _, t := range record.Transitions {
		if t.Sequence > after {
			m.transitions.Add(context.Background(), 1, metric.WithAttributes(metrics.AttributeState.String(t.State)))
		}
	}
}
