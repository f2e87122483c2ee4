package fields

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
)

// executorTemplate is what the driver makes executors from: the user's template with what else the spec asks of their
// Pods, as far as no property says it; nil where there is neither.
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

// driverTemplate is the user's, with what has to be in the driver's Pod before Spark completes that; nil where there is
// neither.
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

// sparkContainer is where in a template the container is that Spark completes: the one of its name if there is exactly
// one, else the first. A template without containers gets one, so that no sidecar is taken for it.
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
