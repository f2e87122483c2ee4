package dialect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podvalidation"
)

// CheckTemplateValues returns what the API server refuses about a template of Pods. field is the path of the template. spark is the name of Spark's
// container; without one of that name it is the first one.
func CheckTemplateValues(field string, template *corev1.PodTemplateSpec, spark string) finding.List {
	if template == nil {
		return nil
	}
	pod := template.Spec
	pod.Containers = slices.Clone(pod.Containers)
	if len(pod.Containers) > 0 {
		at := max(0, slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == spark }))
		pod.Containers[at].ImagePullPolicy = "" // Spark sets it
	}
	return podvalidation.Pod(field+".spec", &pod)
}

// NoExecutors returns findings about executors as warnings: the driver runs and cannot create them.
func NoExecutors(found finding.List) finding.List {
	warnings := slices.Clone(found)
	for i := range warnings {
		warnings[i].Severity = finding.Warning
		warnings[i].Message += ", and the driver cannot create executors"
	}
	return warnings
}
