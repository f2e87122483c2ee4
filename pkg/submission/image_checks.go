package submission

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// DriverImage returns the image of Spark's container in the driver of a plan.
func DriverImage(plan Plan) string {
	_, image, _ := newDriver(plan).conf.lookup(driverImageKey, imageKey)
	return WithVersion(cmp.Or(image, plan.DefaultImage), plan.SparkVersion)
}

// CheckImage warns of an image whose text is no reference of an image. The API server takes it, and the kubelet starts no container of it
// (InvalidImageName).
func CheckImage(field, image string) (found finding.List) {
	if problem := noReference(image); problem != "" {
		found.Warn(field, image, "is no reference of an image ("+problem+"), and no container starts with it (InvalidImageName)",
			"write one such as registry.example.com/team/app:1.0")
	}
	return found
}

// CheckImages warns of the images of a plan whose text is no reference of an image. driver is the driver's Pod.
func CheckImages(plan Plan, driver *corev1.Pod) (found finding.List) {
	d := newDriver(plan)
	images := map[string]bool{}
	warn := func(field, image string) {
		if images[field] {
			return
		}
		images[field] = true
		found.Add(CheckImage(field, image)...)
	}
	ofDriver := DriverImage(plan)
	if key, _, set := d.conf.lookup(driverImageKey, imageKey); set {
		warn(key, ofDriver)
	}
	if key, image, set := d.conf.lookup(executorImageKey, imageKey); set && d.makesExecutors() {
		warn(key, WithVersion(image, plan.SparkVersion))
	}
	checkContainers(driver.Spec, plan.DriverTemplate, func(place string, container corev1.Container) {
		if container.Image != ofDriver {
			warn("driverTemplate.spec."+place, container.Image)
		}
	})
	if template := plan.ExecutorTemplate; template != nil {
		spark := -1
		if len(template.Spec.Containers) > 0 {
			spark = SparkContainer(template.Spec.Containers, d.conf.text("", executorTemplateContainer))
		}
		checkContainers(template.Spec, template, func(place string, container corev1.Container) {
			if spark < 0 || place != placeOfImage("containers", spark) { // Spark overwrites the image of its container
				warn("executorTemplate.spec."+place, container.Image)
			}
		})
	}
	return found
}

// checkContainers calls a function for each container of a Pod. place is that of the image: in the template if that has a container of the same
// name, else in the Pod.
func checkContainers(pod corev1.PodSpec, template *corev1.PodTemplateSpec, check func(place string, container corev1.Container)) {
	given := map[string][]corev1.Container{}
	if template != nil {
		for _, list := range containersOf(template.Spec) {
			given[list.name] = list.containers
		}
	}
	for _, list := range containersOf(pod) {
		for i, container := range list.containers {
			if at := slices.IndexFunc(given[list.name], func(c corev1.Container) bool { return c.Name == container.Name }); at >= 0 {
				i = at
			}
			check(placeOfImage(list.name, i), container)
		}
	}
}

func placeOfImage(list string, at int) string { return fmt.Sprintf("%s[%d].image", list, at) }
