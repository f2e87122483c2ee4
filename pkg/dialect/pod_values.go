package dialect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podvalidation"
	"github.com/firesteel-dev/firesteel/pkg/submission"
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
		removeOverwritten(&pod.Containers[submission.SparkContainer(pod.Containers, spark)])
	}
	return podvalidation.Pod(field+".spec", &pod)
}

// removeOverwritten removes what Spark sets from its container.
func removeOverwritten(container *corev1.Container) {
	container.ImagePullPolicy = ""
	container.Resources = *container.Resources.DeepCopy()
	maps.DeleteFunc(container.Resources.Requests, ofSpark)
	maps.DeleteFunc(container.Resources.Limits, ofSpark)
}

// ofSpark reports whether a property of Spark may set an amount of a resource: of cores, memory or devices.
func ofSpark(name corev1.ResourceName, _ resource.Quantity) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || strings.Contains(string(name), "/")
}

// checkDriver returns what the API server refuses about the Pod of a driver, and what is known only of the whole Pod: values of labels that nothing
// overwrites, and mounts of volumes that nothing defines. template is the Pod's template, and spark the name of Spark's container.
func checkDriver(d Dialect, template *corev1.PodTemplateSpec, driver *corev1.Pod, spark string) (found finding.List) {
	const field = "driverTemplate.spec."
	given := corev1.PodTemplateSpec{}
	if template != nil {
		given = *template
	}
	overwritten := map[string]bool{LabelLaunch: true}
	launch := submission.Plan{Properties: map[string]string{}}
	d.AddLaunchLabels(&launch, "")
	for property := range launch.Properties {
		overwritten[strings.TrimPrefix(property, "spark.kubernetes.driver.label.")] = true
	}
	for key, value := range given.Labels {
		if driver.Labels[key] != value {
			overwritten[key] = true
		}
	}
	found.Add(podvalidation.Labels("driverTemplate.metadata.labels", given.Labels, overwritten)...)
	volumes := podvalidation.VolumeNames(&driver.Spec)
	check := func(list string, inTemplate, inPod []corev1.Container) {
		names := map[string]bool{spark: true}
		for i, container := range inTemplate {
			names[container.Name] = true
			found.Add(podvalidation.Mounts(fmt.Sprintf("%s%s[%d]", field, list, i), &container, volumes)...)
		}
		for i, container := range inPod {
			if !names[container.Name] {
				found.Add(podvalidation.Mounts(fmt.Sprintf("%s%s[%d]", field, list, i), &container, volumes)...)
			}
		}
	}
	check("initContainers", given.Spec.InitContainers, driver.Spec.InitContainers)
	check("containers", given.Spec.Containers, driver.Spec.Containers)
	return found
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
