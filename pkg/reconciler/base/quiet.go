package base

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// succeeded is what Knative's controller logs at info after each reconcile.
const succeeded = "Reconcile succeeded"

// QuietReconciles returns an option of a controller's logger: that a reconcile succeeded is logged at debug, not at info. A reconcile
// logs its transitions itself.
func QuietReconciles() zap.Option {
	return zap.WrapCore(func(inner zapcore.Core) zapcore.Core { return quietCore{inner} })
}

type quietCore struct{ zapcore.Core }

// With adds fields to all entries.
func (c quietCore) With(fields []zapcore.Field) zapcore.Core { return quietCore{c.Core.With(fields)} }

// Check adds the inner core to an entry, if its level is enabled.
func (c quietCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Level == zapcore.InfoLevel && entry.Message == succeeded {
		entry.Level = zapcore.DebugLevel
		if !c.Enabled(entry.Level) {
			return checked
		}
	}
	return c.Core.Check(entry, checked)
}
