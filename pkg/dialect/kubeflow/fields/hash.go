package fields

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// SpecOf returns the fields of an application whose edit runs it again, as in the Kubeflow operator.
func SpecOf(app *v1beta2.SparkApplication) spec.Spec {
	return spec.Of(app, app.Status.ObservedGeneration, func() any { return runSpec(app.Spec) })
}

// runSpec returns the spec without suspend and timeToLiveSeconds: an edit of these does not run the application again.
func runSpec(spec v1beta2.SparkApplicationSpec) v1beta2.SparkApplicationSpec {
	spec.Suspend, spec.TimeToLiveSeconds = false, nil
	return spec
}
