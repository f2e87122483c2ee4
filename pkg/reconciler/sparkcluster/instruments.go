package sparkcluster

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

const (
	scopeName = "github.com/firesteel-dev/firesteel/pkg/reconciler/sparkcluster"

	attributeState = attribute.Key("firesteel.state")
)

// Instruments are the metrics of clusters.
type Instruments struct {
	transitions metric.Int64Counter
}

// NewInstruments makes the metrics of clusters. counts are the served clusters by state.
func NewInstruments(provider metric.MeterProvider, counts func() map[string]int64) (*Instruments, error) {
	meter := provider.Meter(scopeName)
	var i Instruments
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
	i.transitions, errs[1] = meter.Int64Counter("firesteel.cluster.transitions",
		metric.WithUnit("{transition}"),
		metric.WithDescription("Transitions of clusters, by "+string(attributeState)+" that began."))
	return &i, errors.Join(errs[:]...)
}

// moved counts the transitions of a record after a sequence.
func (i *Instruments) moved(record *v1alpha1.Record, after int64) {
	for _, t := range record.Transitions {
		if t.Sequence > after {
			i.transitions.Add(context.Background(), 1, metric.WithAttributes(attributeState.String(t.State)))
		}
	}
}
