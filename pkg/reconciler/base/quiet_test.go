package base

import (
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/firesteel-dev/firesteel/pkg/redact/redactlog"
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

// BenchmarkLogger measures the loggers of a reconcile, as Knative's code and the gate derive them.
func BenchmarkLogger(b *testing.B) {
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), zap.InfoLevel)
	logger := zap.New(core, redactlog.Option(), QuietReconciles()).Sugar()
	for name, lines := range map[string]int{"of a quiet reconcile": 0, "of two transitions": 2} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				of := logger.With(zap.String("knative.dev/traceid", "0b6a6d80-0e7c-4d29-9a2e-6a2f0c1d9d10"), zap.String("knative.dev/key", "team-a/pi"))
				of = of.With("namespace", "team-a", "name", "pi").With(zap.String("targetMethod", "ReconcileKind"))
				for range lines {
					of.Infow("transition", "attempt", 0, "from", "", "to", "Submitted", "sequence", 1)
				}
			}
		})
	}
}
