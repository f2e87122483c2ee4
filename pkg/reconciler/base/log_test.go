package base

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

func TestEachTransitionIsLoggedOnce(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	ctx := logging.WithLogger(t.Context(), zap.New(core).Sugar())
	before := &v1alpha1.Record{Sequence: 1, Transitions: []v1alpha1.Transition{{Sequence: 1, State: "Submitted"}}}
	after := &v1alpha1.Record{Sequence: 3, Transitions: []v1alpha1.Transition{
		{Sequence: 1, State: "Submitted"},
		{Sequence: 2, State: "DriverRequested", Attempt: 1},
		{Sequence: 3, State: "Failed", Attempt: 1, Message: "exited with code 1", End: &v1alpha1.AttemptEnd{
			Class: "application", Reason: "Error", ExitCode: new(int32(1)), RestartAllowed: true,
		}},
	}}
	LogTransitions(ctx, before, after)
	LogTransitions(ctx, after, after)
	again := after.DeepCopy()
	again.Sequence, again.Verdict = 5, &v1alpha1.Verdict{Attempt: 1, Restart: true, Reason: "Restart policy OnFailure covers Failed."}
	again.Transitions = append(again.Transitions,
		v1alpha1.Transition{Sequence: 4, State: "ScheduledToRestart", Attempt: 2}, v1alpha1.Transition{Sequence: 5, State: "DriverRequested", Attempt: 2})
	LogTransitions(ctx, after, again)
	var got []map[string]any
	for _, entry := range logs.All() {
		got = append(got, entry.ContextMap())
	}
	want := []map[string]any{
		{"attempt": int64(1), "from": "Submitted", "to": "DriverRequested", "sequence": int64(2)},
		{
			"attempt": int64(1), "from": "DriverRequested", "to": "Failed", "sequence": int64(3), "restartAllowed": true,
			"class": "application", "reason": "Error", "exitCode": int32(1), "detail": "exited with code 1",
		},
		{"attempt": int64(2), "from": "Failed", "to": "ScheduledToRestart", "sequence": int64(4), "verdict": "Restart policy OnFailure covers Failed."},
		{"attempt": int64(2), "from": "ScheduledToRestart", "to": "DriverRequested", "sequence": int64(5)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
