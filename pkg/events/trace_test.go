package events

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// Each send is a span in the trace of the reconcile that published the snapshot.
func TestRelayTraces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spans := tracetest.NewInMemoryExporter()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
		sink := newSink(func(_ context.Context, event cloudevents.Event, try int) error {
			if strings.HasSuffix(event.ID(), "1") && try == 0 {
				return errDown
			}
			return nil
		})
		r := newTestRelay(t, RelayConfig{Sink: sink, Handlers: inProcessBroker(t, newHandler(nil)), TracerProvider: provider})
		record := recordOf(2, 0)
		_, reconcile := provider.Tracer("test").Start(t.Context(), "reconcile")
		r.Publish(Snapshot{Object: pi, Record: record, Request: restartRequest(t, pi, record), Span: reconcile.SpanContext()})
		advance(500 * time.Millisecond)
		r.Shutdown()

		got := map[string]int{}
		for _, span := range spans.GetSpans() {
			if span.Parent.SpanID() != reconcile.SpanContext().SpanID() {
				t.Errorf("%s is not a child of the reconcile", span.Name)
			}
			for _, attribute := range span.Attributes {
				if attribute.Key == "cloudevents.event_id" {
					got[span.Name+" "+short(attribute.Value.AsString(), 0)+" "+span.Status.Code.String()]++
				}
			}
		}
		want := map[string]int{"send pi1 Error": 1, "send pi1 Unset": 1, "send pi2 Unset": 1, "handle pi2 Unset": 1}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("spans (-want +got):\n%s", diff)
		}
	})
}

// A repeated event has the same bytes, so the trace is not part of it.
func TestHTTPSinkSendsTheTraceOutsideTheEvent(t *testing.T) {
	before := otel.GetTextMapPropagator()
	otel.SetTextMapPropagator(propagation.TraceContext{})
	defer otel.SetTextMapPropagator(before)
	var headers []http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		headers = append(headers, r.Header)
	}))
	defer server.Close()
	sink, err := NewHTTPSink(server.URL)
	must(t, err)
	event, err := NewTransitionEvent(pi, failed())
	must(t, err)
	traced, span := sdktrace.NewTracerProvider().Tracer("test").Start(t.Context(), "send")

	must(t, sink.Send(t.Context(), event))
	must(t, sink.Send(traced, event))

	if parent := headers[1].Get("Traceparent"); !strings.Contains(parent, span.SpanContext().TraceID().String()) {
		t.Errorf("traceparent is %q", parent)
	}
	if parent := headers[0].Get("Traceparent"); parent != "" {
		t.Errorf("an event without trace has the traceparent %q", parent)
	}
	if diff := cmp.Diff(eventHeaders(headers[0]), eventHeaders(headers[1])); diff != "" {
		t.Errorf("the event differs when it is traced (-without +with):\n%s", diff)
	}
}
