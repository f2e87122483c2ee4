package apache

import (
	"maps"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/internal/text"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/redact"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// UnsupportedFields names what the spec asks for and Firesteel does not do, one sentence each. The application runs all
// the same; what would run the wrong code is refused by Plan instead.
func UnsupportedFields(app *sparkv1.SparkApplication) []string {
	var sentences []string
	version := app.Spec.RuntimeVersions.SparkVersion
	if rules, known := submission.RulesFor(version); !known {
		sentences = append(sentences, text.Format(
			"spec.runtimeVersions.sparkVersion %q is not known, and submitted as Spark %d.%d submits: write the image's, such as 4.1.0.",
			version, rules.Major, rules.Minor))
	}
	fixed := fixedProperties(app)
	for _, key := range slices.Sorted(maps.Keys(app.Spec.SparkConf)) {
		if value, given := fixed[key], app.Spec.SparkConf[key]; value != "" && given != value {
			sentences = append(sentences, text.Format("spec.sparkConf %s %q has no effect, it is always %q: leave it out.", key, redact.Value(key, given), redact.Value(key, value)))
		}
		if !strings.HasPrefix(key, "spark.") {
			sentences = append(sentences, text.Format("spec.sparkConf %q is dropped, Spark reads only what begins with spark.: "+
				"leave it out, or write spark.hadoop. before a property of Hadoop's.", key))
		}
	}
	sentences = append(sentences, unsupportedFinalizers(app)...)
	sentences = append(sentences, unsupportedInRoutes(app)...)
	for _, unknown := range app.UnknownFields {
		sentences = append(sentences, text.Format("%s is dropped: correct its spelling.", unknown))
	}
	return sentences
}

// unsupportedFinalizers speaks of finalizers that the spec has for Pods.
func unsupportedFinalizers(app *sparkv1.SparkApplication) []string {
	var sentences []string
	for _, role := range []struct {
		field string
		spec  *sparkv1.PodSpecTemplate
	}{{"spec.driverSpec", app.Spec.DriverSpec}, {"spec.executorSpec", app.Spec.ExecutorSpec}} {
		if role.spec == nil || role.spec.PodTemplateSpec == nil {
			continue
		}
		field := role.field + ".podTemplateSpec.metadata.finalizers"
		if sentence := podtemplate.FinalizersDropped(field, role.spec.PodTemplateSpec.Finalizers); sentence != "" {
			sentences = append(sentences, sentence+".")
		}
	}
	return sentences
}
