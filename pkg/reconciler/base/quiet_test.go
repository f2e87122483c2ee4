package base

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

func TestLinesThatFiresteelLogsItselfAreAtDebug(t *testing.T) {
	for level, want := range map[zapcore.Level][]string{
		zap.InfoLevel:  {"error reconcile failed", "info transition"},
		zap.DebugLevel: {"debug Reconcile succeeded", "debug Returned an error", "error reconcile failed", "info transition"},
	} {
		core, logs := observer.New(level)
		logger := zap.New(core, QuietReconciles()).Sugar().With("knative.dev/key", "team-a/pi")
		logger.Infow("Reconcile succeeded", "duration", 1)
		logger.Errorw("Returned an error")
		logger.Errorw("reconcile failed")
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
