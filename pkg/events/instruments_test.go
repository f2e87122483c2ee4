package events

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func TestRelayMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := sdkmetric.NewManualReader()
		sink := newSink(func(_ context.Context, event cloudevents.Event, try int) error {
			switch {
			case strings.HasSuffix(event.ID(), "1") && try == 0:
				return errDown
			case strings.HasSuffix(event.ID(), "2"):
				return errPoison
			case strings.HasSuffix(event.ID(), "4"):
				return errDown
			default:
				return nil
			}
		})
		r := newTestRelay(t, RelayConfig{
			Sink:          sink,
			Handlers:      inProcessBroker(t, newHandler(nil)),
			MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
		})
		record := recordOf(5, 0)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(10 * time.Second)
		want := map[string]int64{
			"firesteel.events.sent dev.firesteel.application.scheduled-to-restart.v1":   1,
			"firesteel.events.sent dev.firesteel.application.driver-started.v1":         1,
			"firesteel.events.failed dev.firesteel.application.scheduled-to-restart.v1": 1,
			"firesteel.events.failed dev.firesteel.application.driver-requested.v1":     5,
			"firesteel.events.failed dev.firesteel.application.driver-ready.v1":         6,
			"firesteel.events.rejected dev.firesteel.application.driver-requested.v1":   1,
			"firesteel.events.pending ":           2,
			"firesteel.events.delivery.duration ": 2, // of the first, which was taken the second time, and the third
			"firesteel.handlers.awaited restart":  1,
		}
		if diff := cmp.Diff(want, measured(t, reader)); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}

		advance(2 * time.Minute)
		if got := measured(t, reader)["firesteel.handlers.overdue restart"]; got != 1 {
			t.Errorf("%d handlers are overdue, want 1", got)
		}
		r.Shutdown()
		got := measured(t, reader)
		if got["firesteel.events.pending "] != 0 || got["firesteel.handlers.awaited restart"] != 0 {
			t.Errorf("after the end something is pending or awaited: %v", got)
		}
	})
}

func measured(t *testing.T, reader *sdkmetric.ManualReader) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	must(t, reader.Collect(context.Background(), &all))
	values := map[string]int64{}
	for _, metric := range all.ScopeMetrics[0].Metrics {
		switch data := metric.Data.(type) {
		case metricdata.Sum[int64]:
			for _, point := range data.DataPoints {
				values[metric.Name+" "+only(point.Attributes)] += point.Value
			}
		case metricdata.Histogram[float64]:
			for _, point := range data.DataPoints {
				values[metric.Name+" "+only(point.Attributes)] += int64(point.Count)
			}
		}
	}
	return values
}

func only(set attribute.Set) string {
	value := ""
	for _, attribute := range set.ToSlice() {
		value += attribute.Value.AsString()
	}
	return value
}
