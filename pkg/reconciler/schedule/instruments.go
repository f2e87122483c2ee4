package schedule

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

const (
	// scopeName names the metrics and traces. Dashboards select by it, so it keeps the name that the reconciler's package had.
	scopeName = "github.com/firesteel-dev/firesteel/pkg/reconciler/scheduledsparkapplication"

	// attributeGroup is the API group of a schedule, which tells its kind.
	attributeGroup = attribute.Key("firesteel.group")

	instantLayout = time.RFC3339
)

// Instruments are the metrics of schedules.
type Instruments struct {
	delays     metric.Float64Histogram
	refusals   metric.Int64Counter
	missedRuns metric.Int64Counter
}

// NewInstruments makes the metrics of schedules.
func NewInstruments(provider metric.MeterProvider) (*Instruments, error) {
	meter := provider.Meter(scopeName)
	var i Instruments
	var errs [3]error
	i.delays, errs[0] = meter.Float64Histogram("firesteel.schedule.run.delay",
		metric.WithUnit("s"),
		metric.WithDescription("Time from the instant at which a run was due to the creation of its application, by "+
			string(attributeGroup)+" of the schedule."),
		metric.WithExplicitBucketBoundaries(.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600, 14400))
	i.refusals, errs[1] = meter.Int64Counter("firesteel.schedule.runs.refused",
		metric.WithUnit("{run}"),
		metric.WithDescription("Runs whose application was refused, by "+string(attributeGroup)+" of the schedule. They count as missed too."))
	i.missedRuns, errs[2] = meter.Int64Counter("firesteel.schedule.runs.missed",
		metric.WithUnit("{run}"),
		metric.WithDescription("Instants at which a run was due and none was started, by "+string(attributeGroup)+" of the schedule."))
	return &i, errors.Join(errs[:]...)
}

// came notes what became of an instant.
func (i *Instruments) came(group string, run *v1alpha1.ScheduledRun) {
	attributes := metric.WithAttributes(attributeGroup.String(group))
	if run.UID == "" {
		i.refusals.Add(context.Background(), 1, attributes)
		return
	}
	i.delays.Record(context.Background(), run.StartedAt.Sub(run.ScheduledTime.Time).Seconds(), attributes)
}

func (i *Instruments) missed(group string, count int64) {
	if count > 0 {
		i.missedRuns.Add(context.Background(), count, metric.WithAttributes(attributeGroup.String(group)))
	}
}
