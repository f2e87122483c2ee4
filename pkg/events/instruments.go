package events

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const scopeName = "github.com/firesteel-dev/firesteel/pkg/events"

// The metrics' attributes.
const (
	attributeType    = attribute.Key("cloudevents.event_type")
	attributeHandler = attribute.Key("firesteel.handler")
)

// instruments holds the relay's metrics. Several relays share them, since all are sums.
type instruments struct {
	sentEvents      metric.Int64Counter
	failedSends     metric.Int64Counter
	rejectedEvents  metric.Int64Counter
	deliveries      metric.Float64Histogram
	pendingEvents   metric.Int64UpDownCounter
	awaitedHandlers metric.Int64UpDownCounter
	overdueHandlers metric.Int64Counter
}

func newInstruments(provider metric.MeterProvider) (*instruments, error) {
	meter := provider.Meter(scopeName)
	var i instruments
	var errs [7]error
	i.sentEvents, errs[0] = meter.Int64Counter("firesteel.events.sent",
		metric.WithUnit("{event}"), metric.WithDescription("Sends that the sink acknowledged, by "+string(attributeType)+"."))
	i.failedSends, errs[1] = meter.Int64Counter("firesteel.events.failed",
		metric.WithUnit("{event}"), metric.WithDescription("Sends that the sink did not acknowledge, by "+string(attributeType)+"."))
	i.rejectedEvents, errs[2] = meter.Int64Counter("firesteel.events.rejected",
		metric.WithUnit("{event}"),
		metric.WithDescription("Events that were skipped since the sink rejected them, by "+string(attributeType)+"."))
	i.pendingEvents, errs[3] = meter.Int64UpDownCounter("firesteel.events.pending",
		metric.WithUnit("{event}"), metric.WithDescription("Events that the sink has not acknowledged yet."))
	i.awaitedHandlers, errs[4] = meter.Int64UpDownCounter("firesteel.handlers.awaited",
		metric.WithUnit("{event}"), metric.WithDescription("Events that a handler has not acted on yet, by "+string(attributeHandler)+"."))
	i.overdueHandlers, errs[5] = meter.Int64Counter("firesteel.handlers.overdue",
		metric.WithUnit("{event}"),
		metric.WithDescription("Events that a handler has not acted on for minutes, by "+string(attributeHandler)+"."))
	i.deliveries, errs[6] = meter.Float64Histogram("firesteel.events.delivery.duration",
		metric.WithUnit("s"), metric.WithDescription("Time from a transition to the sink's acknowledgement of its event."),
		metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800))
	return &i, errors.Join(errs[:]...)
}

func (i *instruments) recordSend(eventType string, err error) {
	counter := i.sentEvents
	if err != nil {
		counter = i.failedSends
	}
	counter.Add(context.Background(), 1, typeAttribute(eventType))
}

// recordDelivery records the time from a transition to its acknowledgement.
func (i *instruments) recordDelivery(after time.Duration) {
	i.deliveries.Record(context.Background(), after.Seconds())
}

func (i *instruments) recordRejection(eventType string) {
	i.rejectedEvents.Add(context.Background(), 1, typeAttribute(eventType))
}

func (i *instruments) addPending(change int) {
	if change != 0 {
		i.pendingEvents.Add(context.Background(), int64(change))
	}
}

func (i *instruments) addAwaited(handler string, change int64) {
	i.awaitedHandlers.Add(context.Background(), change, handlerAttribute(handler))
}

func (i *instruments) recordOverdue(handler string) {
	i.overdueHandlers.Add(context.Background(), 1, handlerAttribute(handler))
}

func typeAttribute(eventType string) metric.MeasurementOption {
	return metric.WithAttributes(attributeType.String(eventType))
}

func handlerAttribute(handler string) metric.MeasurementOption {
	return metric.WithAttributes(attributeHandler.String(handler))
}
