package apache

import (
	"cmp"
	"strings"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

const imageKey = "spark.kubernetes.container.image"

// Refusals returns why a plan cannot be submitted. The findings name the fields of the spec, or of the operator's defaults.
func Refusals(err error, app *sparkv1.SparkApplication, defaults Defaults) finding.List {
	found := finding.Of(err)
	for i := range found {
		if found[i].Field == imageKey && app.Spec.RuntimeVersions.SparkVersion == "" { // the default image has the version
			found[i].Remedy += ", or set spec.runtimeVersions.sparkVersion"
		}
		if found[i].Field != "" {
			found[i].Field, found[i].Source = place(found[i].Field, app, defaults)
		}
	}
	return found
}

// place returns where a field of a plan comes from: a field of the manifest, or a source outside of it.
func place(field string, app *sparkv1.SparkApplication, defaults Defaults) (inManifest, source string) {
	key := strings.TrimSuffix(strings.TrimPrefix(field, "spec.sparkConf["), "]")
	_, given := app.Spec.SparkConf[key]
	_, defaulted := defaults.Properties[key]
	part, rest, _ := strings.Cut(field, ".")
	switch {
	case !given && specProperties(app, app.Spec.PyFiles)[key] != "":
		return specFields[key], ""
	case !given && defaulted:
		return "", "the operator's default " + key
	case part == "spark":
		return finding.Entry("spec.sparkConf", field), ""
	case part == "driverTemplate", part == "executorTemplate":
		return strings.TrimSuffix("spec."+strings.TrimSuffix(part, "Template")+"Spec.podTemplateSpec."+rest, "."), ""
	case part == "names" && app.Spec.SparkConf[appIDKey] != "":
		return finding.Entry("spec.sparkConf", appIDKey), ""
	case part == "names":
		return "metadata.name", ""
	case field == "resource":
		return resourceField(app.Spec), ""
	case part == "spec":
		return field, ""
	default:
		return cmp.Or(planFields[field], "spec."+field), ""
	}
}

// specFields are the fields that specProperties reads.
var specFields = map[string]string{
	"spark.jars": "spec.jars", "spark.submit.pyFiles": "spec.pyFiles", "spark.files": "spec.files",
}

// planFields are fields of a plan that have another name in the API.
var planFields = map[string]string{
	"properties": "spec.sparkConf", "sparkVersion": "spec.runtimeVersions.sparkVersion", "namespace": "metadata.namespace",
}

// resourceField is the field that mainResource reads the main resource from.
func resourceField(spec sparkv1.ApplicationSpec) string {
	switch {
	case spec.Jars != "":
		return "spec.jars"
	case spec.PyFiles != "":
		return "spec.pyFiles"
	default:
		return "spec.sparkRFiles"
	}
}
