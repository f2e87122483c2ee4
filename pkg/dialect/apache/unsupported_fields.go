package apache

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/text"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// UnsupportedFields returns what the spec asks for and Firesteel does not do. The application runs anyway. If that would run
// the wrong code, Plan refuses the application instead.
func UnsupportedFields(app *sparkv1.SparkApplication) finding.List {
	var found finding.List
	version := app.Spec.RuntimeVersions.SparkVersion
	if rules, known := submission.RulesFor(version); !known {
		found.Warn("spec.runtimeVersions.sparkVersion", version,
			fmt.Sprintf("is not known, and submitted as Spark %d.%d submits", rules.Major, rules.Minor), "write the image's, such as 4.1.0")
	}
	fixed := fixedProperties(app)
	for _, key := range slices.Sorted(maps.Keys(app.Spec.SparkConf)) {
		if value, given := fixed[key], app.Spec.SparkConf[key]; value != "" && given != value {
			found.Warn(finding.Entry("spec.sparkConf", key), given, text.Format("has no effect, it is always %q", redact.Value(key, value)), "leave it out")
		}
		if !strings.HasPrefix(key, "spark.") {
			found.Warn(finding.Entry("spec.sparkConf", key), nil, policy.ApacheForeign.Message, policy.ApacheForeign.Remedy)
		}
	}
	found.Add(unsupportedFinalizers(app)...)
	found.Add(unsupportedInRoutes(app)...)
	found.WarnOfUnknown(app.UnknownFields, app)
	return found
}

// unsupportedFinalizers returns the finalizers that the spec has for Pods.
func unsupportedFinalizers(app *sparkv1.SparkApplication) finding.List {
	var found finding.List
	for _, role := range []struct {
		field string
		spec  *sparkv1.PodSpecTemplate
	}{{"spec.driverSpec", app.Spec.DriverSpec}, {"spec.executorSpec", app.Spec.ExecutorSpec}} {
		if role.spec == nil || role.spec.PodTemplateSpec == nil {
			continue
		}
		found.Add(podtemplate.FinalizersDropped(role.field+".podTemplateSpec.metadata.finalizers", role.spec.PodTemplateSpec.Finalizers)...)
	}
	return found
}
