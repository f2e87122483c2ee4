// Package applications has the metrics of SparkApplications, of either API.
package applications

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// The attributes of the metrics.
const (
	attributeState = attribute.Key("firesteel.state")
	attributeFrom  = attribute.Key("firesteel.from")
	attributeTo    = attribute.Key("firesteel.to")
)

// Metrics are the metrics of applications.
type Metrics struct {
	applications metric.Int64ObservableGauge
	transitions  metric.Int64Counter
	durations    metric.Float64Histogram
	detections   metric.Float64Histogram
}

// New makes the metrics of one API's applications. scope names the package of that API's controller. counts returns the number of
// served applications by state.
func New(provider metric.MeterProvider, scope string, counts func() map[string]int64) (*Metrics, error) {
	meter := provider.Meter(scope)
	var m Metrics
	var errs [4]error
	m.applications, errs[0] = meter.Int64ObservableGauge("firesteel.applications",
		metric.WithUnit("{application}"),
		metric.WithDescription("Applications that are served, by "+string(attributeState)+". Every replica sees all of them."),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			for state, count := range counts() {
				observer.Observe(count, metric.WithAttributes(attributeState.String(state)))
			}
			return nil
		}))
	m.transitions, errs[1] = meter.Int64Counter("firesteel.application.transitions",
		metric.WithUnit("{transition}"),
		metric.WithDescription("Transitions of applications, by "+string(attributeState)+" that began."))
	m.durations, errs[2] = meter.Float64Histogram("firesteel.application.transition.duration",
		metric.WithUnit("s"),
		metric.WithDescription("Time from one state to the next, by "+string(attributeFrom)+" and "+string(attributeTo)+"."),
		metric.WithExplicitBucketBoundaries(.1, .5, 1, 2.5, 5, 10, 30, 60, 300, 600, 1800, 3600, 14400, 43200, 86400))
	m.detections, errs[3] = meter.Float64Histogram("firesteel.application.detection.duration",
		metric.WithUnit("s"),
		metric.WithDescription("Time from the arrival of a driver Pod's change to the end of the status write that tells of it, by "+
			string(attributeTo)+"."),
		metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60))
	return &m, errors.Join(errs[:]...)
}

// CountTransitions counts the transitions of a record after a sequence.
func (m *Metrics) CountTransitions(record *v1alpha1.Record, after int64) {
	ctx := context.Background()
	for n, t := range record.Transitions {
		if t.Sequence <= after {
			continue
		}
		m.transitions.Add(ctx, 1, metric.WithAttributes(attributeState.String(t.State)))
		if n > 0 {
			before := record.Transitions[n-1]
			m.durations.Record(ctx, t.Time.Sub(before.Time.Time).Seconds(),
				metric.WithAttributes(attributeFrom.String(before.State), attributeTo.String(t.State)))
		}
	}
}

// RecordDetection records how long it took from the change of a driver Pod to the status write of a state.
func (m *Metrics) RecordDetection(state string, after time.Duration) {
	m.detections.Record(context.Background(), after.Seconds(), metric.WithAttributes(attributeTo.String(state)))
}
