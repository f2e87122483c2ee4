package apache

import (
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// SpecOf returns the fields of an application that an attempt runs with. These are all but suspend and
// applicationTolerations, which act on the current attempt.
func SpecOf(app *sparkv1.SparkApplication) spec.Spec {
	// The status may show the generation of an edit after the launch, so it does not show which generation was launched.
	const observed = 0
	return spec.Of(app, observed, func() any {
		hashed := app.Spec
		hashed.Suspend, hashed.ApplicationTolerations = false, nil
		return hashed
	})
}
