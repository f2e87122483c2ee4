// Package clusters has the metrics of SparkClusters.
package clusters

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

const (
	// Scope names the metrics and traces. Dashboards select by it, so it keeps the name of the package that first had them.
	Scope = "github.com/firesteel-dev/firesteel/pkg/reconciler/sparkcluster"

	attributeState = attribute.Key("firesteel.state")
)

// Metrics are the metrics of clusters.
type Metrics struct {
	transitions metric.Int64Counter
}

// New makes the metrics. counts returns the number of served clusters by state.
func New(provider metric.MeterProvider, counts func() map[string]int64) (*Metrics, error) {
	meter := provider.Meter(Scope)
	var m Metrics
	var errs [2]error
	_, errs[0] = meter.Int64ObservableGauge("firesteel.clusters",
		metric.WithUnit("{cluster}"),
		metric.WithDescription("Clusters that are served, by "+string(attributeState)+". Every replica sees all of them."),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			for state, count := range counts() {
				observer.Observe(count, metric.WithAttributes(attributeState.String(state)))
			}
			return nil
		}))
	m.transitions, errs[1] = meter.Int64Counter("firesteel.cluster.transitions",
		metric.WithUnit("{transition}"),
		metric.WithDescription("Transitions of clusters, by "+string(attributeState)+" that began."))
	return &m, errors.Join(errs[:]...)
}

// CountTransitions counts the transitions of a record after a sequence.
func (m *Metrics) CountTransitions(record *v1alpha1.Record, after int64) {
	for _, t := range record.Transitions {
		if t.Sequence > after {
			m.transitions.Add(context.Background(), 1, metric.WithAttributes(attributeState.String(t.State)))
		}
	}
}
