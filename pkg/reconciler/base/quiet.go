package base

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// quiet holds the lines about each reconcile that are at debug here, with the levels that Knative's code logs them at.
var quiet = map[string]zapcore.Level{
	"Reconcile succeeded": zapcore.InfoLevel,  // of the controller: a reconcile logs its transitions itself
	"Returned an error":   zapcore.ErrorLevel, // of the generated reconcilers: "reconcile failed" follows (retries.go)
}

// QuietReconciles returns an option of a controller's logger: what Firesteel logs itself about the end of a reconcile, Knative's code
// logs at debug.
func QuietReconciles() zap.Option {
	return zap.WrapCore(func(inner zapcore.Core) zapcore.Core { return quietCore{inner} })
}

type quietCore struct{ zapcore.Core }

// With adds fields to all entries. They are redacted and encoded when an entry is written: most reconciles write none.
func (c quietCore) With(fields []zapcore.Field) zapcore.Core {
	return quietCore{zapcore.NewLazyWith(c.Core, fields)}
}

// Check adds the inner core to an entry, if its level is enabled.
func (c quietCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if level, ok := quiet[entry.Message]; ok && entry.Level == level {
		entry.Level = zapcore.DebugLevel
		if !c.Enabled(entry.Level) {
			return checked
		}
	}
	return c.Core.Check(entry, checked)
}
