package submission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

const (
	defaultDriverContainer   = "spark-kubernetes-driver"
	driverTemplateKey        = "spark.kubernetes.driver.podTemplateFile"
	driverTemplateContainer  = "spark.kubernetes.driver.podTemplateContainerName"
	executorTemplateKey      = "spark.kubernetes.executor.podTemplateFile"
	inlineTemplateRemedy     = "give the template in the application's own field"
	templateFileProblem      = "is a file that only spark-submit could read"
	duplicateVolumeProblem   = "is the name of two volumes of the driver pod"
	duplicateVolumeRemedy    = "rename that of the template or of the property"
	driverTemplateVolumePath = "driverTemplate.spec.volumes"
)

// startPod sets the pod and the container that the steps go on from: the template's, or empty ones.
func (d *driver) startPod() {
	d.pod = &corev1.Pod{}
	if template := d.plan.DriverTemplate.DeepCopy(); template != nil {
		d.pod.ObjectMeta, d.pod.Spec = template.ObjectMeta, template.Spec
	} else if d.conf.set(driverTemplateKey) {
		d.conf.refuse(driverTemplateKey, d.conf.values[driverTemplateKey], templateFileProblem, inlineTemplateRemedy)
	}
	// The inline template is the one that counts, so a path to another would only mislead whoever reads the
	// properties.
	delete(d.conf.values, driverTemplateKey)
	d.container = takeDriverContainer(&d.pod.Spec, d.conf.text("", driverTemplateContainer))
}

// takeDriverContainer removes the driver's container from the template and returns it: the one of that name if there
// is exactly one, else the first, else an empty one. It mirrors KubernetesUtils.selectSparkContainer.
func takeDriverContainer(spec *corev1.PodSpec, name string) *corev1.Container {
	if len(spec.Containers) == 0 {
		return &corev1.Container{}
	}
	named := func(c corev1.Container) bool { return c.Name == name }
	chosen := slices.IndexFunc(spec.Containers, named)
	if chosen < 0 || slices.ContainsFunc(spec.Containers[chosen+1:], named) {
		chosen = 0
	}
	container := spec.Containers[chosen]
	spec.Containers = slices.Delete(spec.Containers, chosen, chosen+1)
	return &container
}

// finishPod puts the driver's container last, as Spark does, and completes the metadata.
func (d *driver) finishPod() {
	d.pod.APIVersion, d.pod.Kind = "v1", "Pod"
	d.pod.Namespace = d.plan.Namespace
	for _, key := range sortedKeys(d.plan.Labels) {
		d.addPlanLabel(key, d.plan.Labels[key])
	}
	d.pod.Spec.Containers = append(d.pod.Spec.Containers, *d.container)
	d.checkVolumes()
}

// addPlanLabel puts one of the plan's labels on the pod. The Service selects by Spark's labels, so none of those may
// change afterwards.
func (d *driver) addPlanLabel(key, value string) {
	if given, set := d.labels[key]; set && given != value {
		d.conf.refuse(driverLabelPrefix+key, given, "is a label that Firesteel sets itself", "choose another name for the label")
		return
	}
	d.pod.Labels[key] = value
}

// checkVolumes refuses two volumes of one name. The API server would as well, but without saying where they come from.
func (d *driver) checkVolumes() {
	seen := map[string]bool{}
	for _, volume := range d.pod.Spec.Volumes {
		if seen[volume.Name] {
			d.conf.refuse(driverTemplateVolumePath, volume.Name, duplicateVolumeProblem, duplicateVolumeRemedy)
		}
		seen[volume.Name] = true
	}
}
