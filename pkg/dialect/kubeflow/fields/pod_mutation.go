package fields

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
	"github.com/firesteel-dev/firesteel/pkg/quantity"
)

// podMutation changes a Pod as the Kubeflow operator's webhook changed the Pods that Spark made. It applies to the driver's
// Pod, and to the template of the executors.
type podMutation struct {
	app  *v1beta2.SparkApplication
	role names.Role
	spec *v1beta2.SparkPodSpec
	pod  *corev1.PodSpec
	// at is the index of Spark's container in the Pod.
	at int
	// given are the volumes of spec.volumes, by name.
	given map[string]*corev1.Volume
	// added adds volumes to the Pod.
	added podVolumes
}

// mutate makes all changes, in the webhook's order.
func mutate(app *v1beta2.SparkApplication, r names.Role, pod *corev1.PodSpec, at int) {
	d := &podMutation{
		app: app, role: r, spec: r.Pods(&app.Spec), pod: pod, at: at,
		given: volumesByName(app), added: volumesOf(pod),
	}
	d.environment()
	d.hadoopConfigMap()
	d.sparkConfigMap()
	d.configMaps()
	d.secrets()
	d.volumes()
	d.ports()
	d.network()
	d.containers()
	d.scheduling()
	d.resources()
	d.metrics()
	d.security()
	d.ending()
}

func (d *podMutation) main() *corev1.Container { return &d.pod.Containers[d.at] }

func (d *podMutation) environment() {
	d.main().Env = append(d.main().Env, deepCopies(d.spec.Env)...)
	d.main().EnvFrom = append(d.main().EnvFrom, deepCopies(d.spec.EnvFrom)...)
}

// setEnv sets a variable in place of the container's variable with that name: the API server warns of a name that occurs
// twice.
func (d *podMutation) setEnv(name, value string) {
	main, set := d.main(), corev1.EnvVar{Name: name, Value: value}
	same := func(v corev1.EnvVar) bool { return v.Name == name }
	at := slices.IndexFunc(main.Env, same)
	if at < 0 {
		at = len(main.Env)
	}
	main.Env = slices.Insert(slices.DeleteFunc(main.Env, same), at, set)
}

func (d *podMutation) hadoopConfigMap() {
	if name := d.app.Spec.HadoopConfigMap; name != "" {
		d.mountConfigMap(names.HadoopConfVolume, name, names.HadoopConfDir)
		d.setEnv(names.HadoopConfDirVariable, names.HadoopConfDir)
	}
}

// sparkConfigMap mounts the config map. Executors get its path by a property: Spark's own variable would come after the
// template's.
func (d *podMutation) sparkConfigMap() {
	if name := d.app.Spec.SparkConfigMap; name != "" {
		d.mountConfigMap(names.SparkConfVolume, name, names.SparkConfDir)
		if d.role == names.Driver {
			d.setEnv(names.SparkConfDirVariable, names.SparkConfDir)
		}
	}
}

func (d *podMutation) configMaps() {
	for _, configMap := range d.spec.ConfigMaps {
		d.mountConfigMap(names.ConfigMapVolume(configMap.Name), configMap.Name, configMap.Path)
	}
}

func (d *podMutation) mountConfigMap(volume, name, path string) {
	source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
	d.added.add(corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{ConfigMap: source}})
	d.mount(corev1.VolumeMount{Name: volume, MountPath: path, ReadOnly: true})
}

// secrets mounts the secrets whose names Spark cannot use in the names of volumes.
func (d *podMutation) secrets() {
	for _, secret := range d.spec.Secrets {
		if mountedBySpark(secret) {
			continue
		}
		volume := names.SecretVolume(secret.Name)
		source := &corev1.SecretVolumeSource{SecretName: secret.Name}
		d.added.add(corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{Secret: source}})
		d.mount(corev1.VolumeMount{Name: volume, MountPath: secret.Path})
	}
}

// mountedBySpark reports whether Spark can mount a secret: Spark derives the name of the volume from it.
func mountedBySpark(secret v1beta2.SecretInfo) bool {
	return len(validation.IsDNS1123Label(secret.Name+"-volume")) == 0
}

// volumes adds the volumes of the application that Spark's container or another container of the spec mounts. Spark has its
// scratch directories already.
func (d *podMutation) volumes() {
	scratch := map[string]bool{}
	for _, mount := range d.spec.VolumeMounts {
		if isLocalDir(mount) {
			scratch[mount.Name] = true
		} else if d.hasVolume(mount.Name) {
			d.mount(*mount.DeepCopy())
		}
	}
	for _, mount := range slices.Concat(d.spec.VolumeMounts, mountsOf(d.spec.InitContainers), mountsOf(d.spec.Sidecars)) {
		if volume := d.given[mount.Name]; volume != nil && !scratch[mount.Name] {
			d.added.add(*volume.DeepCopy())
		}
	}
}

// hasVolume reports whether the Pod has a volume, or gets it from the application.
func (d *podMutation) hasVolume(name string) bool {
	return d.given[name] != nil || d.added.names[name]
}

func (d *podMutation) mount(mount corev1.VolumeMount) {
	d.main().VolumeMounts = append(d.main().VolumeMounts, mount)
}

func (d *podMutation) ports() {
	for _, port := range d.spec.Ports {
		d.addPort(port.Name, port.Protocol, port.ContainerPort)
	}
}

func (d *podMutation) addPort(name, protocol string, number int32) {
	d.main().Ports = append(d.main().Ports, corev1.ContainerPort{
		Name: name, Protocol: corev1.Protocol(protocol), ContainerPort: number,
	})
}

func (d *podMutation) network() {
	if isTrue(d.spec.HostNetwork) {
		d.pod.HostNetwork = true
		d.pod.DNSPolicy = corev1.DNSClusterFirstWithHostNet
	}
	d.pod.HostAliases = append(d.pod.HostAliases, deepCopies(d.spec.HostAliases)...)
	if d.spec.DNSConfig != nil {
		d.pod.DNSConfig = d.spec.DNSConfig.DeepCopy()
	}
}

// containers adds init containers and sidecars. The sidecars come after Spark's container.
func (d *podMutation) containers() {
	d.pod.InitContainers = withAll(d.pod.InitContainers, d.spec.InitContainers)
	d.pod.Containers = withAll(d.pod.Containers, d.spec.Sidecars)
}

// withAll adds containers, except those whose name and image another container has already.
func withAll(containers, added []corev1.Container) []corev1.Container {
	type nameAndImage struct{ name, image string }
	taken := map[nameAndImage]bool{}
	for _, container := range containers {
		taken[nameAndImage{container.Name, container.Image}] = true
	}
	for _, container := range added {
		key := nameAndImage{container.Name, container.Image}
		if !taken[key] {
			taken[key] = true
			containers = append(containers, *container.DeepCopy())
		}
	}
	return containers
}

func (d *podMutation) scheduling() {
	if class := priorityClass(d.app, d.spec); class != "" {
		d.pod.PriorityClassName = class
		// The API server derives both from the class.
		d.pod.Priority, d.pod.PreemptionPolicy = nil, nil
	}
	if len(d.spec.NodeSelector) > 0 {
		selector := map[string]string{}
		maps.Copy(selector, d.pod.NodeSelector)
		maps.Copy(selector, d.spec.NodeSelector)
		d.pod.NodeSelector = selector
	}
	if d.spec.Affinity != nil {
		d.pod.Affinity = d.spec.Affinity.DeepCopy()
	}
	d.pod.Tolerations = append(d.pod.Tolerations, deepCopies(d.spec.Tolerations)...)
	if class := d.spec.RuntimeClassName; class != "" {
		d.pod.RuntimeClassName = &class
	}
}

// priorityClass returns the priority class of a role, or else the batch scheduler's.
func priorityClass(app *v1beta2.SparkApplication, spec *v1beta2.SparkPodSpec) string {
	if spec.PriorityClassName != "" || app.Spec.BatchSchedulerOptions == nil {
		return spec.PriorityClassName
	}
	return app.Spec.BatchSchedulerOptions.PriorityClassName
}

// resources sets devices, and the memory limit of the driver. Spark limits executors to what they request.
func (d *podMutation) resources() {
	if limit, err := memoryLimit(d.spec.MemoryLimit); err == nil && d.role == names.Driver && !limit.IsZero() {
		d.limit(corev1.ResourceMemory, limit)
	}
	if gpu := d.spec.GPU; gpu != nil && gpu.Name != "" && gpu.Quantity > 0 {
		d.limit(corev1.ResourceName(gpu.Name), *resource.NewQuantity(gpu.Quantity, resource.DecimalSI))
	}
}

func (d *podMutation) limit(name corev1.ResourceName, most resource.Quantity) {
	if d.main().Resources.Limits == nil {
		d.main().Resources.Limits = corev1.ResourceList{}
	}
	d.main().Resources.Limits[name] = most
}

// metrics mounts the configuration of Spark's metrics, and names the port of Prometheus' exporter.
func (d *podMutation) metrics() {
	if !exposes(d.app, d.role) {
		return
	}
	if hasMetricsConfigMap(d.app) {
		name := names.PrometheusConfigMapName(d.app)
		d.mountConfigMap(names.ConfigMapVolume(name), name, metricsDir)
	}
	if prometheus := d.app.Spec.Monitoring.Prometheus; prometheus != nil {
		d.addPort(prometheusPortName(prometheus), string(corev1.ProtocolTCP), prometheusPort(prometheus))
	}
}

// security replaces security contexts. If the spec does not set the container's privileges, Spark's values stay.
func (d *podMutation) security() {
	if given := d.spec.SecurityContext; given != nil {
		before := d.main().SecurityContext
		context := given.DeepCopy()
		if before != nil && context.AllowPrivilegeEscalation == nil && !podsecurity.Privileged(context) {
			context.AllowPrivilegeEscalation = before.AllowPrivilegeEscalation
		}
		d.main().SecurityContext = context
	}
	if d.spec.PodSecurityContext != nil {
		d.pod.SecurityContext = d.spec.PodSecurityContext.DeepCopy()
	}
}

// ending sets the fields that control how the Pod is stopped.
func (d *podMutation) ending() {
	if seconds := d.spec.TerminationGracePeriodSeconds; seconds != nil {
		period := *seconds
		d.pod.TerminationGracePeriodSeconds = &period
	}
	if d.spec.Lifecycle != nil {
		d.main().Lifecycle = d.spec.Lifecycle.DeepCopy()
	}
	if isTrue(d.spec.ShareProcessNamespace) {
		shared := true
		d.pod.ShareProcessNamespace = &shared
	}
}

func isTrue(value *bool) bool { return value != nil && *value }

// deepCopies returns copies that share nothing with the originals.
func deepCopies[T any, P interface {
	*T
	DeepCopyInto(*T)
}](values []T) []T {
	copies := make([]T, len(values))
	for i := range values {
		P(&values[i]).DeepCopyInto(&copies[i])
	}
	return copies
}

// memoryLimit parses a limit, which may be in Java's units or in Kubernetes' units. It returns zero for none.
func memoryLimit(text string) (resource.Quantity, error) {
	if text == "" {
		return resource.Quantity{}, nil
	}
	number := strings.TrimRight(text, "bBkKmMgGtTpP")
	unit := strings.TrimSuffix(strings.ToLower(text[len(number):]), "b")
	if number == "" || strings.Trim(number, "0123456789") != "" || len(unit) > 1 {
		return parseQuantity(text)
	}
	if unit != "" {
		unit = strings.ToUpper(unit) + "i"
	}
	return parseQuantity(number + unit)
}

func parseQuantity(text string) (resource.Quantity, error) {
	parsed, err := quantity.Parse(text)
	if err != nil || parsed.Sign() <= 0 {
		return resource.Quantity{}, fmt.Errorf("%.64q is no size", text)
	}
	return parsed, nil
}
