package check

import (
	"encoding/json"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
)

// SetSparkVersion sets the version of Spark for which an object asks. Its image stays.
func SetSparkVersion(object Object, version string) error {
	switch object := object.(type) {
	case *sparkv1.SparkApplication:
		object.Spec.RuntimeVersions.SparkVersion = version
	case *sparkv1.SparkCluster:
		object.Spec.RuntimeVersions.SparkVersion = version
	case *v1beta2.SparkApplication:
		object.Spec.SparkVersion = version
	case *earlyv1alpha1.SparkApplication:
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[early.AnnotationSparkVersion] = version
		object.SetAnnotations(annotations)
	case *v1beta2.ScheduledSparkApplication:
		return setInTemplate(&object.Spec.Template.Raw, func(spec map[string]any) { spec["sparkVersion"] = version })
	case *v1alpha1.ScheduledSparkApplication:
		return setInTemplate(&object.Spec.Template.Spec.Raw, func(spec map[string]any) {
			versions, ok := spec["runtimeVersions"].(map[string]any)
			if !ok {
				versions = map[string]any{}
			}
			versions["sparkVersion"] = version
			spec["runtimeVersions"] = versions
		})
	}
	return nil
}

// setInTemplate changes the spec in the template of a schedule. One that is no object stays, and Examine reports it.
func setInTemplate(raw *[]byte, set func(spec map[string]any)) error {
	var spec map[string]any
	if json.Unmarshal(*raw, &spec) != nil || spec == nil {
		return nil
	}
	set(spec)
	encoded, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	*raw = encoded
	return nil
}
