package submission

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

const (
	// DefaultDriverContainer is the name of Spark's container in drivers, unless their template names it.
	DefaultDriverContainer = "spark-kubernetes-driver"
	// DefaultExecutorContainer is the name of Spark's container in executors, unless their template names it.
	DefaultExecutorContainer = "spark-kubernetes-executor"

	driverTemplateKey       = "spark.kubernetes.driver.podTemplateFile"
	driverTemplateContainer = "spark.kubernetes.driver.podTemplateContainerName"
	executorTemplateKey     = "spark.kubernetes.executor.podTemplateFile"
	inlineTemplateRemedy    = "give the template in the application's own field"
	templateFileProblem     = "is a file that only spark-submit could read"
)

// startPod sets the pod and the container that the steps complete: the template's, or empty ones.
func (d *driver) startPod() {
	d.pod = &corev1.Pod{}
	if template := d.plan.DriverTemplate.DeepCopy(); template != nil {
		d.pod.ObjectMeta, d.pod.Spec = template.ObjectMeta, template.Spec
		d.pod.Finalizers = nil // a finalizer would keep the Pod's name from the next driver
	} else if d.conf.set(driverTemplateKey) {
		d.conf.refuse(driverTemplateKey, d.conf.values[driverTemplateKey], templateFileProblem, inlineTemplateRemedy)
	}
	// The inline template is used. A path to another template would only mislead the reader of the properties.
	delete(d.conf.values, driverTemplateKey)
	container, index := takeDriverContainer(&d.pod.Spec, d.conf.text("", driverTemplateContainer))
	d.container, d.containerField = container, fmt.Sprintf("driverTemplate.spec.containers[%d]", index)
}

// takeDriverContainer removes the driver's container from the template and returns it with its index: the one with that name if
// there is exactly one, else the first, else an empty one. It mirrors KubernetesUtils.selectSparkContainer.
func takeDriverContainer(spec *corev1.PodSpec, name string) (driver *corev1.Container, index int) {
	if len(spec.Containers) == 0 {
		return &corev1.Container{}, 0
	}
	chosen := SparkContainer(spec.Containers, name)
	container := spec.Containers[chosen]
	spec.Containers = slices.Delete(spec.Containers, chosen, chosen+1)
	return &container, chosen
}

// SparkContainer returns the index of Spark's container in a template.
func SparkContainer(containers []corev1.Container, name string) int {
	named := func(c corev1.Container) bool { return c.Name == name }
	chosen := slices.IndexFunc(containers, named)
	if chosen < 0 || slices.ContainsFunc(containers[chosen+1:], named) {
		return 0
	}
	return chosen
}

// ExecutorContainer returns the index of the container that Spark completes in the template of a plan's executors. A template without
// containers gets one.
func ExecutorContainer(plan Plan, template *corev1.PodSpec) int {
	if len(template.Containers) == 0 {
		template.Containers = []corev1.Container{{Name: DefaultExecutorContainer}}
	}
	return SparkContainer(template.Containers, newDriver(plan).conf.text("", executorTemplateContainer))
}

// finishPod adds the driver's container as the last one, as Spark does, and completes the metadata.
func (d *driver) finishPod() {
	d.pod.APIVersion, d.pod.Kind = "v1", "Pod"
	d.pod.Namespace = d.plan.Namespace
	for _, key := range sortedKeys(d.plan.Labels) {
		d.addPlanLabel(key, d.plan.Labels[key])
	}
	d.pod.Spec.Containers = append(d.pod.Spec.Containers, *d.container)
	d.checkMounts()
}

// addPlanLabel sets one of the plan's labels on the pod. The Service selects by Spark's labels, so none of those may change
// afterwards.
func (d *driver) addPlanLabel(key, value string) {
	if given, set := d.labels[key]; set && given != value {
		d.conf.refuse(driverLabelPrefix+key, given, "is a label that Firesteel sets itself", "choose another name for the label")
		return
	}
	d.pod.Labels[key] = value
}

// mounted is a volume that the driver mounts.
type mounted struct {
	field string // what asks for it, empty for what every driver of Spark has
	mount corev1.VolumeMount
}

// checkMounts refuses two volumes with the same name, and two at the same path of a container. The API server would refuse them as well,
// but without naming the fields.
func (d *driver) checkMounts() {
	names, paths := map[string]string{}, map[string]string{}
	if template := d.plan.DriverTemplate; template != nil {
		for _, volume := range template.Spec.Volumes {
			names[volume.Name] = "driverTemplate.spec.volumes"
		}
		for _, shared := range SharedMountPaths("driverTemplate.spec", template.Spec) {
			d.conf.refuse(shared.Field, shared.Value.(string), shared.Message, shared.Remedy)
		}
	}
	for i, mount := range d.container.VolumeMounts[:len(d.container.VolumeMounts)-len(d.mounted)] {
		paths[mount.MountPath] = fmt.Sprintf("%s.volumeMounts[%d].mountPath", d.containerField, i)
	}
	for _, added := range d.mounted {
		d.checkAlone(names, added.mount.Name, "is the name of two volumes of the driver pod", added.field)
		d.checkAlone(paths, added.mount.MountPath, "is the path of two volumes of the driver", added.field)
	}
}

// checkAlone refuses a name or a path that another field uses already. It names the field that the user wrote.
func (d *driver) checkAlone(taken map[string]string, what, problem, field string) {
	if other, ok := taken[what]; ok {
		if other != "" && field != "" {
			problem += ", here and in " + other
		}
		d.conf.refuse(cmp.Or(field, other), what, problem, "choose another")
	}
	taken[what] = field
}
