package events

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/metrics/metricstest"
)

func TestRelayMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := metricstest.NewReader()
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
			MeterProvider: reader.Provider(),
		})
		record := recordOf(5, 0)
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record)})
		advance(10 * time.Second)
		want := map[string]float64{
			"firesteel.events.sent cloudevents.event_type=dev.firesteel.application.scheduled-to-restart.v1":   1,
			"firesteel.events.sent cloudevents.event_type=dev.firesteel.application.driver-started.v1":         1,
			"firesteel.events.failed cloudevents.event_type=dev.firesteel.application.scheduled-to-restart.v1": 1,
			"firesteel.events.failed cloudevents.event_type=dev.firesteel.application.driver-requested.v1":     5,
			"firesteel.events.failed cloudevents.event_type=dev.firesteel.application.driver-ready.v1":         6,
			"firesteel.events.rejected cloudevents.event_type=dev.firesteel.application.driver-requested.v1":   1,
			"firesteel.events.pending ":                            2,
			"firesteel.events.delivery.duration count ":            2, // of the first, which was taken the second time, and the third
			"firesteel.handlers.awaited firesteel.handler=restart": 1,
		}
		got := reader.Values(t)
		delete(got, "firesteel.events.delivery.duration sum ") // the record's times are not those of the test's clock
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}

		advance(2 * time.Minute)
		if got := reader.Values(t)["firesteel.handlers.overdue firesteel.handler=restart"]; got != 1 {
			t.Errorf("%g handlers are overdue, want 1", got)
		}
		r.Shutdown()
		got = reader.Values(t)
		if got["firesteel.events.pending "] != 0 || got["firesteel.handlers.awaited firesteel.handler=restart"] != 0 {
			t.Errorf("after the end something is pending or awaited: %v", got)
		}
	})
}
