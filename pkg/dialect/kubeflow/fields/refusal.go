package fields

import (
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// Refusals returns why an attempt cannot be submitted. The findings name the fields of the spec, or of the operator's
// settings.
func Refusals(err error, app *v1beta2.SparkApplication, defaults settings.Defaults) finding.List {
	p := propertiesOf(app, defaults)
	found := finding.Of(err)
	for i := range found {
		if found[i].Field != "" {
			found[i].Field = place(found[i].Field, p)
		}
	}
	return found
}

// planFields are fields of a plan that have another name in the API.
var planFields = map[string]string{
	"properties": "spec.sparkConf", "resource": "spec.mainApplicationFile", "namespace": "metadata.namespace",
	imageKey: "spec.image", names.Executor.KubernetesProperty("container.image"): "spec.executor.image", "ingressURLFormat": "the operator's setting of the Ingress's address",
}

// place returns where a field of a plan comes from, in the manifest or outside of it. If a field stands for a property, the
// finding has both names: the value may come from several fields.
func place(field string, p properties) string {
	if its, set := p[field]; set {
		return placeOfProperty(field, its.field)
	}
	if named := planFields[field]; named != "" {
		return named
	}
	part, rest, _ := strings.Cut(field, ".")
	switch part {
	case "spark":
		return confField + field
	case "driverTemplate", "executorTemplate":
		return strings.TrimSuffix("spec."+strings.TrimSuffix(part, "Template")+".template."+rest, ".")
	case "names":
		return "metadata.name"
	case "spec":
		return field
	}
	return "spec." + field
}

func placeOfProperty(key, field string) string {
	if strings.HasSuffix(field, key) { // of sparkConf, or a default
		return field
	}
	return field + " (" + key + ")"
}
