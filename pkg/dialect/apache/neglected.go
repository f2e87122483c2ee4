package apache

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Neglected names what the spec asks for and Firesteel does not do, one sentence each. The application runs all
// the same; what would run the wrong code is refused by Plan instead.
func Neglected(app *sparkv1.SparkApplication) []string {
	var sentences []string
	say := func(applies bool, field, instead string) {
		if applies {
			sentences = append(sentences, fmt.Sprintf("%s is not acted on yet: %s.", field, instead))
		}
	}
	say(len(app.Spec.DriverServiceIngressList) > 0, "spec.driverServiceIngressList", "create the Service and the Ingress yourself")
	say(len(app.Spec.DriverHTTPRouteList) > 0, "spec.driverHttpRouteList", "create the Service and the HTTPRoute yourself")
	say(len(app.Spec.DriverGRPCRouteList) > 0, "spec.driverGrpcRouteList", "create the Service and the GRPCRoute yourself")
	instances := tolerationsOf(app, Defaults{}).InstanceConfig
	say(instances != nil && instances.InitExecutors > 0, "spec.applicationTolerations.instanceConfig",
		"the application counts as healthy once its driver is ready")
	version := app.Spec.RuntimeVersions.SparkVersion
	if rules, known := submission.RulesFor(version); !known {
		sentences = append(sentences, fmt.Sprintf(
			"spec.runtimeVersions.sparkVersion %q is no version that is known: the application is submitted as Spark %d.%d submits.",
			version, rules.Major, rules.Minor))
	}
	fixed := fixedProperties(app)
	for _, key := range slices.Sorted(maps.Keys(app.Spec.SparkConf)) {
		if value, given := fixed[key], app.Spec.SparkConf[key]; value != "" && given != value {
			sentences = append(sentences, fmt.Sprintf("spec.sparkConf %s %q has no effect: it is always %q.", key, given, value))
		}
		if !strings.HasPrefix(key, "spark.") {
			sentences = append(sentences, fmt.Sprintf("spec.sparkConf %q is dropped: Spark reads only keys that begin with spark.", key))
		}
	}
	for _, unknown := range app.UnknownFields {
		sentences = append(sentences, fmt.Sprintf("%s is dropped: correct its spelling.", unknown))
	}
	return sentences
}
