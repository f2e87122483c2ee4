package fields

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
)

// executorTemplate returns the template that the driver makes executors from. It is the user's template, completed with what
// the spec asks of their Pods and no property can express. It returns nil if there is neither.
func executorTemplate(app *v1beta2.SparkApplication) *corev1.PodTemplateSpec {
	given := app.Spec.Executor.Template
	template := given.DeepCopy()
	if template == nil {
		template = &corev1.PodTemplateSpec{}
	}
	at := sparkContainer(&template.Spec, names.Executor)
	plain := template.DeepCopy()
	addLocalDirs(app, names.Executor, &template.Spec, at)
	mutate(app, names.Executor, &template.Spec, at)
	if equality.Semantic.DeepEqual(template, plain) {
		return given.DeepCopy()
	}
	return template
}

// driverTemplate returns the user's template, completed with what the driver's Pod must have before Spark completes it. It
// returns nil if there is neither.
func driverTemplate(app *v1beta2.SparkApplication) *corev1.PodTemplateSpec {
	given := app.Spec.Driver.Template
	template := given.DeepCopy()
	if template == nil {
		template = &corev1.PodTemplateSpec{}
	}
	at := sparkContainer(&template.Spec, names.Driver)
	plain := template.DeepCopy()
	addLocalDirs(app, names.Driver, &template.Spec, at)
	if equality.Semantic.DeepEqual(template, plain) {
		return given.DeepCopy()
	}
	return template
}

// DriverTemplate returns a template from which Spark makes the driver Pod that Plan and Complete make, as far as Spark lets a template decide:
// for an API without the fields that change the Pod after Spark's build. It returns nil if none is needed.
func DriverTemplate(app *v1beta2.SparkApplication) *corev1.PodTemplateSpec {
	template := driverTemplate(app).DeepCopy()
	if template == nil {
		template = &corev1.PodTemplateSpec{}
	}
	at := sparkContainer(&template.Spec, names.Driver)
	plain := template.DeepCopy()
	mutate(app, names.Driver, &template.Spec, at)
	if equality.Semantic.DeepEqual(template, plain) {
		return driverTemplate(app).DeepCopy()
	}
	return template
}

// MetricsConfigMap returns the ConfigMap of Spark's metrics and Prometheus' exporter; nil if the application has none.
func MetricsConfigMap(app *v1beta2.SparkApplication) *corev1.ConfigMap {
	configMap, _ := metricsConfigMap(app).(*corev1.ConfigMap)
	return configMap
}

// sparkContainer returns the index of the container that Spark completes: the one with its name if there is exactly one,
// else the first. A template without containers gets one, so that Spark does not complete a sidecar.
func sparkContainer(pod *corev1.PodSpec, r names.Role) int {
	named := func(container corev1.Container) bool { return container.Name == r.Container() }
	if len(pod.Containers) == 0 {
		pod.Containers = []corev1.Container{{Name: r.Container()}}
	}
	at := slices.IndexFunc(pod.Containers, named)
	if at < 0 || slices.ContainsFunc(pod.Containers[at+1:], named) {
		return 0
	}
	return at
}
