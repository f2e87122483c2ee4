package apache

import (
	"slices"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// Warnings name what is not done as the spec asks, one sentence each.
func Warnings(app *sparkv1.SparkApplication, defaults Defaults) []string {
	warnings := slices.Concat(UnsupportedFields(app), Contradictions(app, defaults))
	if edited(app) {
		warnings = append(warnings, "The spec was edited after the launch: only another attempt runs with the edit. "+
			"Delete the application and apply it again where none is to come.")
	}
	if record := app.Status.Firesteel; app.Spec.Suspend && record != nil && record.Launch != nil && !record.Launch.Released {
		warnings = append(warnings, "spec.suspend does nothing to the attempt that runs: it holds the next one.")
	}
	return warnings
}

// edited says that the current attempt runs with another spec than the application now has.
func edited(app *sparkv1.SparkApplication) bool {
	record := app.Status.Firesteel
	if app.Generation <= 1 || record == nil || record.Launch == nil {
		return false
	}
	return SpecOf(app).Since(record) == spec.Edited
}
