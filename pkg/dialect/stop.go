package dialect

import (
	"strings"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/internal/text"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// AnnotationStop stops an application for good. Its value is the reason, for people. The value false stops nothing: a template may set it.
const AnnotationStop = "firesteel.dev/stop"

// maxStopReason bounds the reason in messages, in bytes.
const maxStopReason = 256

// StopReason returns the reason in a value of AnnotationStop, as messages repeat it: on one line, redacted, and short. Anybody who may edit
// an application may write any value.
func StopReason(value string) string {
	value = text.Clip(value, 4*maxStopReason) // a character takes up to 4 bytes
	printable := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return ' '
	}, value)
	return text.Clip(redact.Text(strings.Join(strings.Fields(printable), " ")), maxStopReason)
}

// IsStopped reports whether the annotations of an application stop it.
func IsStopped(app metav1.Object) bool {
	value, set := app.GetAnnotations()[AnnotationStop]
	return set && !strings.EqualFold(strings.TrimSpace(value), "false")
}

// stopOf returns why an application is stopped; nil if it is not.
func stopOf(app metav1.Object) *lifecycle.Cause {
	if !IsStopped(app) {
		return nil
	}
	return lifecycle.StoppedCause(StopReason(app.GetAnnotations()[AnnotationStop]))
}

// stopWarnings warns of a stop that has no effect.
func stopWarnings(app Application) finding.List {
	var found finding.List
	if IsStopped(app) && FollowsUserDriver(app) {
		found.Warn(finding.Entry("metadata.annotations", AnnotationStop), nil, "has no effect, the user started the driver",
			"delete the driver Pod, or the application")
	}
	return found
}
