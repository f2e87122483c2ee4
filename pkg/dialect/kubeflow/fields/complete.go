package fields

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Ingredients returns what, besides the plan, the objects of an attempt depend on.
func Ingredients(app *v1beta2.SparkApplication, defaults settings.Defaults) any {
	return struct {
		Spec                      v1beta2.SparkApplicationSpec
		UIService                 bool
		Ingress                   settings.Ingress
		DriverPodDisruptionBudget bool
		BatchSchedulers           []string
		DefaultBatchScheduler     string
		// Without a node port the ID of a launch is that of earlier versions.
		UIServiceType corev1.ServiceType `json:",omitempty"`
	}{
		runSpec(app.Spec), defaults.UIService, defaults.Ingress, defaults.DriverPodDisruptionBudget,
		defaults.BatchSchedulers, defaults.DefaultBatchScheduler, defaults.UIServiceType,
	}
}

// Complete changes the objects of an attempt as the Kubeflow operator and its webhook do, and adds the objects that they
// create.
func Complete(app *v1beta2.SparkApplication, defaults settings.Defaults, objects *submission.Objects) error {
	driverFirst(objects.Driver)
	mutate(app, names.Driver, &objects.Driver.Spec, 0)
	refused := []error{checkDriver(app, objects), submission.SharedMountPaths("driverTemplate.spec", objects.Driver.Spec).Err(), addGang(app, defaults, objects)}
	for _, object := range []submission.Object{metricsConfigMap(app), disruptionBudget(app, defaults, objects)} {
		if object != nil {
			objects.Owned = append(objects.Owned, object)
		}
	}
	return errors.Join(append(refused, addEndpoints(app, defaults, objects))...)
}

// driverFirst moves Spark's container, which is last, before those of a template: kubectl logs shows the first one.
func driverFirst(pod *corev1.Pod) {
	last := len(pod.Spec.Containers) - 1
	pod.Spec.Containers = slices.Insert(pod.Spec.Containers[:last:last], 0, pod.Spec.Containers[last])
}

// mainContainer returns Spark's container in a driver Pod after driverFirst.
func mainContainer(objects *submission.Objects) *corev1.Container {
	return &objects.Driver.Spec.Containers[0]
}

// checkDriver refuses a memory limit below what the driver requests.
func checkDriver(app *v1beta2.SparkApplication, objects *submission.Objects) error {
	resources := mainContainer(objects).Resources
	limit, requested := resources.Limits[corev1.ResourceMemory], resources.Requests[corev1.ResourceMemory]
	if given := app.Spec.Driver.MemoryLimit; given != "" && limit.Cmp(requested) < 0 {
		return &finding.Finding{
			Severity: finding.Error, Field: "spec.driver.memoryLimit", Value: given, Message: "is less than the " + requested.String() + " that the driver requests",
			Remedy: "raise it, or lower spec.driver.memory or spec.driver.memoryOverhead",
		}
	}
	return nil
}

// NotInstalled returns which kinds of objects were not created because the cluster does not have them. Empty strings are
// ignored.
func NotInstalled(kinds []string) []string {
	var sentences []string
	for _, kind := range slices.Compact(slices.Sorted(slices.Values(kinds))) {
		if kind != "" {
			sentences = append(sentences, "The application runs without its "+kind+": the cluster knows none.")
		}
	}
	return sentences
}
