package events

import (
	"context"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// startSpan starts the span of one send or of one handler's call, as a child of parent.
func (r *Relay) startSpan(
	ctx context.Context, name string, kind trace.SpanKind, event cloudevents.Event, parent trace.SpanContext,
) (context.Context, trace.Span) {
	ctx, span := r.tracer.Start(trace.ContextWithSpanContext(ctx, parent), name, trace.WithSpanKind(kind))
	if span.IsRecording() {
		span.SetAttributes(
			attributeType.String(event.Type()),
			attribute.String("cloudevents.event_id", event.ID()),
			attribute.String("cloudevents.event_subject", event.Subject()),
		)
	}
	return ctx, span
}

func endSpan(span trace.Span, err error) {
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}
