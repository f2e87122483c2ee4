package apache

import (
	"slices"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// Warnings returns what Firesteel does not do as the spec asks.
func Warnings(app *sparkv1.SparkApplication, defaults Defaults) finding.List {
	found := slices.Concat(UnsupportedFields(app), Contradictions(app, defaults), invalidExecutors(app, defaults), schedulerConflicts(app, defaults))
	if edited(app) {
		found = append(found, finding.Finding{
			Severity: finding.Warning, Field: "spec",
			Text:   "The spec was edited after the launch: only another attempt runs with the edit.",
			Remedy: "If no attempt follows, delete the application and apply it again",
		})
	}
	if record := app.Status.Firesteel; app.Spec.Suspend && record != nil && record.Launch != nil && !record.Launch.Released {
		found = append(found, finding.Finding{
			Severity: finding.Warning, Field: "spec.suspend", Message: "does nothing to the attempt that runs", Remedy: "it holds the next one",
		})
	}
	return found
}

// edited reports whether the current attempt runs with another spec than the application has now.
func edited(app *sparkv1.SparkApplication) bool {
	record := app.Status.Firesteel
	if app.Generation <= 1 || record == nil || record.Launch == nil {
		return false
	}
	return SpecOf(app).Since(record) == spec.Edited
}
