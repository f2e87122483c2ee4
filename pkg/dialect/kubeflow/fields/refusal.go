package fields

import (
	"cmp"
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
		if field := fieldInPod(app, found[i]); field != "" {
			found[i].Field = field
		} else if found[i].Field != "" {
			p.place(&found[i])
		}
	}
	return found
}

// planFields are fields of a plan that have another name in the API.
var planFields = map[string]string{
	"properties": "spec.sparkConf", "resource": "spec.mainApplicationFile", "namespace": "metadata.namespace",
	imageKey: "spec.image", names.Executor.KubernetesProperty("container.image"): "spec.executor.image",
}

// planSources are fields of a plan that the operator's settings hold.
var planSources = map[string]string{"ingressURLFormat": "the operator's setting of the Ingress's address"}

// place makes a finding about a field of a plan one about its source: a field of the manifest, or a setting of the operator. The
// value of a property may come from several fields, so the finding has the property's name, too.
func (p properties) place(found *finding.Finding) {
	field := found.Field
	if property, ok := p[field]; ok {
		found.Field, found.Source = property.field, property.source
		if property.field != "" && property.field != finding.Entry(confField, field) {
			found.Property = field
		}
		return
	}
	if source := planSources[field]; source != "" {
		found.Field, found.Source = "", source
		return
	}
	found.Field = cmp.Or(planFields[field], fieldOfPlan(field))
}

// fieldOfPlan returns the field of the manifest for a field of a plan.
func fieldOfPlan(field string) string {
	part, rest, _ := strings.Cut(field, ".")
	switch part {
	case "spark":
		return finding.Entry(confField, field)
	case "driverTemplate", "executorTemplate":
		return strings.TrimSuffix("spec."+strings.TrimSuffix(part, "Template")+".template."+rest, ".")
	case "names":
		return "metadata.name"
	case "spec":
		return field
	}
	return "spec." + field
}
