// Package applications has the metrics of SparkApplications of all APIs.
package applications

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/metrics"
)

// The attributes of the metrics.
const (
	attributeFrom = attribute.Key("firesteel.from")
	attributeTo   = attribute.Key("firesteel.to")
	// attributeNamespace is OpenTelemetry's name for it.
	attributeNamespace = attribute.Key("k8s.namespace.name")
	attributePhase     = attribute.Key("firesteel.phase")
	attributeArchived  = attribute.Key("firesteel.archived")
)

// Metrics are the metrics of applications.
type Metrics struct {
	transitions metric.Int64Counter
	ends        metric.Int64Counter
	archived    metric.Int64Counter
	durations   metric.Float64Histogram
	detections  metric.Float64Histogram
	usage       *usage
}

// Counts are what gauges show of the applications that are served. StateCounter is one.
type Counts interface {
	Count() map[string]int64
	CountNamespaces(count func(namespace, phase string, applications int64))
	LongestWaits() map[string]time.Duration
}

// New makes the metrics of one API's applications. scope names the package of that API's controller.
func New(provider metric.MeterProvider, scope string, counts Counts) (*Metrics, error) {
	meter := provider.Meter(scope)
	var m Metrics
	var errs [8]error
	errs[0] = metrics.ObserveStates(meter, "firesteel.applications", "application", "Applications", counts.Count)
	errs[4] = observeWaits(meter, counts)
	errs[5] = observeNamespaces(meter, counts)
	m.ends, errs[6] = meter.Int64Counter("firesteel.namespace.attempts.ended",
		metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts that ended, by "+string(attributeNamespace)+" and "+string(metrics.AttributeState)+" in which they did."))
	m.archived, errs[7] = meter.Int64Counter("firesteel.attempts.archived",
		metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts for which the archive was awaited, by "+string(attributeArchived)+
			": whole, partly if something was missing, not if it took too long. None if there is no archive."))
	m.transitions, errs[1] = meter.Int64Counter("firesteel.application.transitions",
		metric.WithUnit("{transition}"),
		metric.WithDescription("Transitions of applications, by "+string(metrics.AttributeState)+" that began."))
	m.durations, errs[2] = meter.Float64Histogram("firesteel.application.transition.duration",
		metric.WithUnit("s"),
		metric.WithDescription("Time from one state to the next, by "+string(attributeFrom)+" and "+string(attributeTo)+"."),
		metric.WithExplicitBucketBoundaries(.1, .5, 1, 2.5, 5, 10, 30, 60, 300, 600, 1800, 3600, 14400, 43200, 86400))
	m.detections, errs[3] = meter.Float64Histogram("firesteel.application.detection.duration",
		metric.WithUnit("s"),
		metric.WithDescription("Time from the arrival of a driver Pod's change to the end of the status write that reports it, by "+
			string(attributeTo)+"."),
		metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60))
	m.usage, errs[7] = newUsage(meter)
	return &m, errors.Join(errs[:]...)
}

func observeWaits(meter metric.Meter, counts Counts) error {
	_, err := meter.Int64ObservableGauge("firesteel.application.wait.longest",
		metric.WithUnit("s"),
		metric.WithDescription("Longest time for which an application has been in a state before it runs, by "+string(metrics.AttributeState)+
			" of the lifecycle. What is suspended does not count. Every replica sees all applications."),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			for state, longest := range counts.LongestWaits() {
				observer.Observe(int64(longest.Seconds()), metric.WithAttributes(metrics.AttributeState.String(state)))
			}
			return nil
		}))
	return err
}

func observeNamespaces(meter metric.Meter, counts Counts) error {
	_, err := meter.Int64ObservableGauge("firesteel.namespace.applications",
		metric.WithUnit("{application}"),
		metric.WithDescription("Applications that are served, by "+string(attributeNamespace)+" and "+string(attributePhase)+
			": Waiting, Running, Suspended, Ended. Every replica sees all applications."),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			counts.CountNamespaces(func(namespace, phase string, applications int64) {
				observer.Observe(applications, metric.WithAttributes(attributeNamespace.String(namespace), attributePhase.String(phase)))
			})
			return nil
		}))
	return err
}

// CountTransitions counts the transitions after a sequence in the record of an application in a namespace.
func (m *Metrics) CountTransitions(namespace string, record *v1alpha1.Record, after int64) {
	ctx := context.Background()
	for n, t := range record.Transitions {
		if t.Sequence <= after {
			continue
		}
		m.transitions.Add(ctx, 1, metric.WithAttributes(metrics.AttributeState.String(t.State)))
		if lifecycle.State(t.State).AttemptEnded() {
			m.ends.Add(ctx, 1, metric.WithAttributes(attributeNamespace.String(namespace), metrics.AttributeState.String(t.State)))
		}
		if n > 0 {
			before := record.Transitions[n-1]
			m.durations.Record(ctx, t.Time.Sub(before.Time.Time).Seconds(),
				metric.WithAttributes(attributeFrom.String(before.State), attributeTo.String(t.State)))
		}
	}
}

// CountArchived counts an attempt by how much of it is archived.
func (m *Metrics) CountArchived(how string) {
	m.archived.Add(context.Background(), 1, metric.WithAttributes(attributeArchived.String(how)))
}

// RecordDetection records the time from the change of a driver Pod to the status write of a state.
func (m *Metrics) RecordDetection(state string, after time.Duration) {
	m.detections.Record(context.Background(), after.Seconds(), metric.WithAttributes(attributeTo.String(state)))
}
