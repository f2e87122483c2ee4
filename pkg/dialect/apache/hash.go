package apache

import (
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// SpecOf is what an application asks an attempt to run with. What acts on a running attempt, suspend and tolerations, is
// no part of it.
func SpecOf(app *sparkv1.SparkApplication) spec.Spec {
	// The status may speak of an edit that came after the launch: it does not say what generation was launched.
	const observed = 0
	return spec.Of(app, observed, func() any {
		hashed := app.Spec
		hashed.Suspend, hashed.ApplicationTolerations = false, nil
		return hashed
	})
}
