package sparkcluster

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
	"knative.dev/pkg/logging"
)

func TestLogHasALineForEachTransitionDecisionAndEffect(t *testing.T) {
	w := newEnv(t, plainCluster())
	core, logs := observer.New(zap.DebugLevel)
	w.ctx = logging.WithLogger(w.ctx, zap.New(core).Sugar())
	w.runs()
	var transitions []any
	var lines []string
	for _, entry := range logs.All() {
		if entry.Level == zapcore.InfoLevel {
			transitions = append(transitions, entry.ContextMap()["to"])
		}
		if !slices.Contains(lines, entry.Message) {
			lines = append(lines, entry.Message)
		}
	}
	if diff := cmp.Diff([]any{"Submitted", "RunningHealthy"}, transitions); diff != "" {
		t.Errorf("transitions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"decided", "wrote status", "transition", "ensured objects", "requeued"}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
