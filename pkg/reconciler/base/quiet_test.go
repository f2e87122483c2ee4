package base

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

func TestLogOfSucceededReconcilesIsAtDebug(t *testing.T) {
	for level, want := range map[zapcore.Level][]string{
		zap.InfoLevel:  {"info transition"},
		zap.DebugLevel: {"debug Reconcile succeeded", "info transition"},
	} {
		core, logs := observer.New(level)
		logger := zap.New(core, QuietReconciles()).Sugar().With("knative.dev/key", "team-a/pi")
		logger.Infow("Reconcile succeeded", "duration", 1)
		logger.Infow("transition")
		var got []string
		for _, entry := range logs.All() {
			got = append(got, entry.Level.String()+" "+entry.Message)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at %s (-want +got):\n%s", level, diff)
		}
	}
}
