package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// loss is why a field of the Kubeflow operator's API does not carry over, and the remedy. It is empty for a field that does.
type loss struct{ message, remedy string }

// losses returns the loss of a field in another API. role is driver or executor for a field that both have; otherwise it is empty.
type losses func(route fields.Route, role string) loss

// lostOfKubeflow returns warnings about the fields that an application sets and the other API loses.
func lostOfKubeflow(app *v1beta2.SparkApplication, lostBy losses) finding.List {
	spec, err := asMap(app.Spec)
	if err != nil {
		return finding.Of(err)
	}
	var lost finding.List
	eachField(spec, func(path string, route fields.Route, role string) {
		if l := lostBy(route, role); l.message != "" {
			lost.Warn("spec."+path, nil, l.message, l.remedy)
		}
	})
	return lost
}

// eachField calls a function for each field that a spec sets, with the row of the field in the table of routes.
func eachField(spec map[string]any, call func(path string, route fields.Route, role string)) {
	for _, name := range slices.Sorted(maps.Keys(spec)) {
		if isUnset(spec[name]) {
			continue
		}
		if route := routeOf(fields.Routes, name); route != nil {
			call(name, *route, "")
			continue
		}
		for _, within := range inEach(name, spec[name]) {
			if route := routeOf(fields.Routes, within.route); route != nil {
				call(within.path, *route, "")
			} else if role, field, both := strings.Cut(within.route, "."); both && (role == "driver" || role == "executor") {
				if route := routeOf(fields.PodRoutes, field); route != nil {
					call(within.path, *route, role)
				}
			}
		}
	}
}

type fieldPath struct{ path, route string }

// inEach returns the fields of an object, or of each object of a list.
func inEach(name string, value any) []fieldPath {
	var paths []fieldPath
	switch value := value.(type) {
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(value)) {
			child, isObject := value[field].(map[string]any)
			switch {
			case isUnset(value[field]):
			case isObject && name == "monitoring":
				for _, below := range slices.Sorted(maps.Keys(child)) {
					paths = append(paths, fieldPath{name + "." + field + "." + below, name + "." + field + "." + below})
				}
			default:
				paths = append(paths, fieldPath{name + "." + field, name + "." + field})
			}
		}
	case []any:
		for i, item := range value {
			for _, within := range inEach(name, item) {
				paths = append(paths, fieldPath{strings.Replace(within.path, name, fmt.Sprintf("%s[%d]", name, i), 1), within.route})
			}
		}
	}
	return paths
}

// isUnset reports whether a value is what encoding writes for a field that is not set.
func isUnset(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case bool:
		return !value
	case string:
		return value == ""
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	default:
		return false
	}
}

func routeOf(routes []fields.Route, field string) *fields.Route {
	if at := slices.IndexFunc(routes, func(route fields.Route) bool { return route.Field == field }); at >= 0 {
		return &routes[at]
	}
	return nil
}

const noField = "does not carry over, the other API has no field for it"

// lostInApache returns the loss of a field in spark.apache.org. Fields that become a part of pod templates carry over.
func lostInApache(route fields.Route, role string) loss {
	switch field := route.Field; {
	case strings.HasPrefix(field, "sparkUIOptions."), strings.HasPrefix(field, "driverIngressOptions."):
		return loss{noField, "describe the Service and the Ingress in spec.driverServiceIngressList"}
	case field == "driverPodDisruptionBudget":
		return loss{noField, "create a PodDisruptionBudget for the label spark-role=driver"}
	case strings.HasPrefix(field, "batchSchedulerOptions."):
		return loss{noField, "write what the scheduler needs into the pod templates and into sparkConf"}
	case field == "memoryLimit" && role == "driver":
		return loss{"does not carry over, Spark limits the driver to the memory that it requests", "raise spec.driver.memoryOverhead"}
	case field == "sparkConfigMap":
		return loss{"is mounted, but SPARK_CONF_DIR of the driver does not lead to it, since Spark sets that variable", "write its properties into sparkConf"}
	default:
		return loss{}
	}
}
