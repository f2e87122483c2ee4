package dialect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// AnnotationDriverService chooses whether the driver of one application has a headless Service.
const AnnotationDriverService = "firesteel.dev/driver-service"

const serviceHeadless = "headless"

var driverService = choice{annotation: AnnotationDriverService, standard: serviceHeadless, other: "none"}

// ParseDriverService reads how executors find a driver: by the name of a headless Service, or without one by its Pod's
// address.
func ParseDriverService(text string) (none, ok bool) { return driverService.parse(text) }

// WithoutService reports whether an application's driver has no headless Service. The application's annotation wins over
// the operator's setting.
func WithoutService(app metav1.Object, settings Settings) bool {
	return driverService.of(app, settings.WithoutDriverService)
}

// servers are the main classes of Spark whose clients connect from outside the application.
var servers = []string{
	"org.apache.spark.sql.connect.service.SparkConnectServer",
	"org.apache.spark.sql.hive.thriftserver.HiveThriftServer2",
	"org.apache.spark.deploy.history.HistoryServer",
}

// istioInject asks for Istio's sidecar, as a label or as an annotation of a Pod.
const istioInject = "sidecar.istio.io/inject"

// maxLostProperties is how many properties of a missing Service are named. A record has room for few warnings.
const maxLostProperties = 8

// LostWithoutService warns of what an application asks for and does not get because its driver has no Service. The fields
// are those of the plan. It returns nothing if the driver has a Service.
func LostWithoutService(plan submission.Plan, objects *submission.Objects) finding.List {
	var found finding.List
	if !plan.WithoutService {
		return nil
	}
	lost := func(field string, value any, message, remedy string) {
		found.Warn(field, value, message, fmt.Sprintf("%s, or set the annotation %s to %s", remedy, AnnotationDriverService, serviceHeadless))
	}
	properties := propertiesOfService(plan)
	for _, key := range properties[:min(len(properties), maxLostProperties)] {
		lost(key, clippedValue(plan.Properties[key]), "has no effect on a driver without a Service", "leave it out")
	}
	if more := len(properties) - maxLostProperties; more > 0 {
		lost("properties", nil, fmt.Sprintf("has %d more properties without effect on a driver without a Service", more), "leave them out")
	}
	if slices.Contains(servers, plan.MainClass) && !leadsToServer(plan, objects) {
		lost("mainClass", plan.MainClass, "is a server, and no Service leads its clients to the driver", "make a Service for it")
	}
	istio := istioFields(plan)
	for _, field := range slices.Sorted(maps.Keys(istio)) {
		if istio[field] == "true" {
			lost(field, "true", "encrypts nothing between executors and a driver without a Service, and a driver that demands "+
				"encryption refuses its executors", "exclude the driver's ports from Istio")
		}
	}
	return found
}

// propertiesOfService returns the keys of the properties of a plan that are about the driver's Service.
func propertiesOfService(plan submission.Plan) []string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(plan.Properties)) {
		if strings.HasPrefix(key, submission.ServicePrefix) && key != submission.ServiceDeletionKey {
			keys = append(keys, key)
		}
	}
	return keys
}

// leadsToServer reports whether a Service leads to a port of the driver other than that of its UI.
func leadsToServer(plan submission.Plan, objects *submission.Objects) bool {
	ui := []string{cmp.Or(plan.Properties["spark.ui.port"], "4040"), "spark-ui"}
	return slices.ContainsFunc(slices.Concat(objects.Before, objects.Owned), func(object submission.Object) bool {
		service, ok := object.(*corev1.Service)
		return ok && slices.ContainsFunc(service.Spec.Ports, func(port corev1.ServicePort) bool {
			return !slices.Contains(ui, port.TargetPort.String())
		})
	})
}

// istioFields returns the values that may ask for Istio's sidecar in the driver, by field.
func istioFields(plan submission.Plan) map[string]string {
	fields := map[string]string{}
	for _, kind := range []string{"label", "annotation"} {
		key := "spark.kubernetes.driver." + kind + "." + istioInject
		fields[key] = plan.Properties[key]
	}
	if template := plan.DriverTemplate; template != nil {
		fields[finding.Entry("driverTemplate.metadata.labels", istioInject)] = template.Labels[istioInject]
		fields[finding.Entry("driverTemplate.metadata.annotations", istioInject)] = template.Annotations[istioInject]
	}
	return fields
}
