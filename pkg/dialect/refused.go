package dialect

import (
	"cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// Refused returns why a spec is refused; nil without findings. It names all of them, and has the reason of the first one: InvalidSpec if that has none of
// its own.
func Refused(found finding.List) *lifecycle.Cause {
	if len(found) == 0 {
		return nil
	}
	return &lifecycle.Cause{Class: lifecycle.ClassApplication, Reason: cmp.Or(found[0].Reason, diagnosis.ReasonInvalidSpec), Message: found.Sentence()}
}

// hasRun reports whether a driver of the application was launched since its spec was edited. Then the admin's rules do not apply any more: a
// changed setting ends no application.
func hasRun(app Application, current spec.Spec) bool {
	record := app.GetRecord()
	if record == nil || record.Launch == nil && record.Attempt.Executions == 0 {
		return false
	}
	noted := &v1alpha1.Record{Attempt: record.Attempt}
	if spec.Noted(noted).Hash == "" && record.Previous != nil { // an attempt that waits for its launch may have no spec yet
		noted.Attempt = *record.Previous
	}
	return current.Since(noted) != spec.Edited
}
