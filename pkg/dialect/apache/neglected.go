package apache

import (
	"fmt"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
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
	instances := tolerationsOf(app).InstanceConfig
	say(instances != nil && instances.InitExecutors > 0, "spec.applicationTolerations.instanceConfig",
		"the application counts as healthy once its driver is ready")
	for _, unknown := range app.UnknownFields {
		sentences = append(sentences, fmt.Sprintf("%s is dropped: correct its spelling.", unknown))
	}
	return sentences
}
