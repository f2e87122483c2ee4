package fields

import (
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// SpecOf is what an application asks for, of which the Kubeflow operator runs it anew when it is edited: all of the spec but
// what acts on the run that is.
func SpecOf(app *v1beta2.SparkApplication) spec.Spec {
	return spec.Of(app, app.Status.ObservedGeneration, func() any { return runSpec(app.Spec) })
}

// runSpec is a spec without what an edit of runs nothing anew.
func runSpec(spec v1beta2.SparkApplicationSpec) v1beta2.SparkApplicationSpec {
	spec.Suspend, spec.TimeToLiveSeconds = false, nil
	return spec
}
