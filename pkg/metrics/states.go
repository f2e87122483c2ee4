package metrics

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// AttributeState is the attribute that holds the state of an object.
const AttributeState = attribute.Key("firesteel.state")

// ObserveStates makes a gauge of the objects that are served, such as "firesteel.clusters". kind is their kind in a sentence, such
// as "cluster"; title begins one, such as "Clusters". counts returns the number of objects by state.
func ObserveStates(meter metric.Meter, name, kind, title string, counts func() map[string]int64) error {
	_, err := meter.Int64ObservableGauge(name,
		metric.WithUnit("{"+kind+"}"),
		metric.WithDescription(title+" that are served, by "+string(AttributeState)+". Every replica sees all of them."),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			for state, count := range counts() {
				observer.Observe(count, metric.WithAttributes(AttributeState.String(state)))
			}
			return nil
		}))
	return err
}
