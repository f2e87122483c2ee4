// Package redactlog removes the values of secrets from logs.
package redactlog

import (
	"encoding/json"
	"fmt"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// Option makes a logger redact its messages and the values of its fields.
func Option() zap.Option {
	return zap.WrapCore(func(inner zapcore.Core) zapcore.Core { return core{inner} })
}

type core struct{ zapcore.Core }

// With adds fields to all entries.
func (c core) With(fields []zapcore.Field) zapcore.Core { return core{c.Core.With(redacted(fields))} }

// Check adds the core to an entry if the entry's level is enabled.
func (c core) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

// Write writes an entry.
func (c core) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	entry.Message = redact.Text(entry.Message)
	return c.Core.Write(entry, redacted(fields))
}

func redacted(fields []zapcore.Field) []zapcore.Field {
	shown := make([]zapcore.Field, len(fields))
	for i, field := range fields {
		shown[i] = redactedField(field)
	}
	return shown
}

// names are the keys of fields that hold names of objects. No name is a secret value, even if it has a word such as secret.
var names = []string{"name", "namespace", "pod", "knative.dev/key", "knative.dev/name", "knative.dev/namespace"}

// redactedField returns a field with a redacted value. It returns the same field if there is nothing to redact.
func redactedField(field zapcore.Field) zapcore.Field {
	if field.Type == zapcore.StringType && slices.Contains(names, field.Key) {
		return textField(field, field.String)
	}
	switch field.Type {
	case zapcore.StringType:
		field.String = redact.Value(field.Key, field.String)
	case zapcore.ByteStringType:
		if text, ok := field.Interface.([]byte); ok {
			return zap.String(field.Key, redact.Value(field.Key, string(text)))
		}
	case zapcore.ErrorType:
		if err, ok := field.Interface.(error); ok && err != nil {
			return textField(field, err.Error())
		}
	case zapcore.StringerType:
		if stringer, ok := field.Interface.(fmt.Stringer); ok && stringer != nil {
			return stringerField(field, stringer)
		}
	case zapcore.ReflectType, zapcore.ArrayMarshalerType, zapcore.ObjectMarshalerType:
		return objectField(field)
	}
	return field
}

// textField returns a field with the redacted text. It returns the same field if there is nothing to redact.
func textField(field zapcore.Field, text string) zapcore.Field {
	if shown := redact.Text(text); shown != text {
		return zap.String(field.Key, shown)
	}
	return field
}

// stringerField redacts the text of a Stringer. If its method panics, the field stays as it is, and zap logs the panic.
func stringerField(field zapcore.Field, stringer fmt.Stringer) (shown zapcore.Field) {
	defer func() {
		if recover() != nil {
			shown = field
		}
	}()
	return textField(field, stringer.String())
}

func objectField(field zapcore.Field) zapcore.Field {
	text, err := json.Marshal(field.Interface)
	if err != nil {
		return field
	}
	shown := redact.Text(string(text))
	switch {
	case shown == string(text):
		return field
	case json.Valid([]byte(shown)):
		return zap.Reflect(field.Key, json.RawMessage(shown))
	default:
		return zap.String(field.Key, shown)
	}
}
