package base

import (
	"context"
	"time"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// LogTransitions writes one info line for each transition of a written record that the record before it does not have. The key of
// its message is detail: message is the key of the line itself.
func LogTransitions(ctx context.Context, before, after *v1alpha1.Record) {
	var logged int64
	if before != nil {
		logged = before.Sequence
	}
	from, attempt := "", int64(-1)
	for _, t := range after.Transitions {
		begins := t.Attempt != attempt
		if t.Sequence > logged {
			keys := []any{"attempt", t.Attempt, "from", from, "to", t.State, "sequence", t.Sequence}
			if t.End != nil {
				keys = append(keys, endKeys(t.End)...)
			}
			if t.Message != "" {
				keys = append(keys, "detail", t.Message)
			}
			if verdict := after.Verdict; verdict != nil && verdict.Restart && begins && t.Attempt == verdict.Attempt+1 {
				keys = append(keys, verdictKeys(verdict)...)
			}
			logging.FromContext(ctx).Infow("transition", keys...)
		}
		from, attempt = t.State, t.Attempt
	}
}

// verdictKeys returns why another attempt follows, and its earliest start.
func verdictKeys(verdict *v1alpha1.Verdict) []any {
	keys := []any{"verdict", outbox.Clip(verdict.Reason, outbox.MaxMessage)}
	if verdict.NotBefore != nil {
		keys = append(keys, "notBefore", verdict.NotBefore.Time)
	}
	return keys
}

// endKeys returns how an attempt ended, and whether its spec allows another.
func endKeys(end *v1alpha1.AttemptEnd) []any {
	keys := []any{"restartAllowed", end.RestartAllowed}
	if end.Class != "" {
		keys = append(keys, "class", end.Class)
	}
	if end.Reason != "" {
		keys = append(keys, "reason", end.Reason)
	}
	if end.ExitCode != nil {
		keys = append(keys, "exitCode", *end.ExitCode)
	}
	return keys
}

// LogDecision writes the debug line of a decision. keys are what is known of the object and of the decision, and until is when it is decided
// again; zero if nothing does that by time alone.
func LogDecision(ctx context.Context, keys []any, until time.Time) {
	logUntil(ctx, "decided", keys, until)
}

// LogRequeue writes the debug line of an object that is requeued for an instant.
func LogRequeue(ctx context.Context, keys []any, until time.Time) {
	logUntil(ctx, "requeued", keys, until)
}

func logUntil(ctx context.Context, line string, keys []any, until time.Time) {
	if !until.IsZero() {
		keys = append(keys, "until", until)
	}
	logging.FromContext(ctx).Debugw(line, keys...)
}

// RequeueHeld logs what holds up the removal of the finalizer of an object with a record, and returns an error that requeues the object.
func RequeueHeld(ctx context.Context, record *v1alpha1.Record, held string, wait time.Duration) error {
	logging.FromContext(ctx).Debugw("finalizer kept", append(LogKeys(record), "held", held, "requeueAfter", wait)...)
	return controller.NewRequeueAfter(wait)
}

// LogKeys returns the attempt and the state of a record as keys and values of a log line.
func LogKeys(record *v1alpha1.Record) []any {
	if record == nil {
		return nil
	}
	return []any{"attempt", record.Attempt.ID, "state", outbox.Current(record).State}
}
