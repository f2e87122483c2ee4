// Package schedules has the metrics of ScheduledSparkApplications.
package schedules

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

const (
	// Scope names the metrics and traces. Dashboards select by it, so it keeps the name of the package that first had them.
	Scope = "github.com/firesteel-dev/firesteel/pkg/reconciler/scheduledsparkapplication"

	// attributeGroup is the API group of a schedule, which determines its kind.
	attributeGroup = attribute.Key("firesteel.group")
)

// Metrics are the metrics of schedules.
type Metrics struct {
	delays     metric.Float64Histogram
	refusals   metric.Int64Counter
	missedRuns metric.Int64Counter
}

// New makes the metrics.
func New(provider metric.MeterProvider) (*Metrics, error) {
	meter := provider.Meter(Scope)
	var m Metrics
	var errs [3]error
	m.delays, errs[0] = meter.Float64Histogram("firesteel.schedule.run.delay",
		metric.WithUnit("s"),
		metric.WithDescription("Time from the instant at which a run was due to the creation of its application, by "+
			string(attributeGroup)+" of the schedule."),
		metric.WithExplicitBucketBoundaries(.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600, 14400))
	m.refusals, errs[1] = meter.Int64Counter("firesteel.schedule.runs.refused",
		metric.WithUnit("{run}"),
		metric.WithDescription("Runs whose application was refused, by "+string(attributeGroup)+" of the schedule. They count as missed too."))
	m.missedRuns, errs[2] = meter.Int64Counter("firesteel.schedule.runs.missed",
		metric.WithUnit("{run}"),
		metric.WithDescription("Instants at which a run was due and none was started, by "+string(attributeGroup)+" of the schedule."))
	return &m, errors.Join(errs[:]...)
}

// RecordRun records the run of an instant: its delay, or the refusal of its application.
func (m *Metrics) RecordRun(group string, run *v1alpha1.ScheduledRun) {
	attributes := metric.WithAttributes(attributeGroup.String(group))
	if run.UID == "" {
		m.refusals.Add(context.Background(), 1, attributes)
		return
	}
	m.delays.Record(context.Background(), run.StartedAt.Sub(run.ScheduledTime.Time).Seconds(), attributes)
}

// CountMissed counts missed runs.
func (m *Metrics) CountMissed(group string, count int64) {
	if count > 0 {
		m.missedRuns.Add(context.Background(), count, metric.WithAttributes(attributeGroup.String(group)))
	}
}
