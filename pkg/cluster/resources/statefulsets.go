package resources

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	masterOptions = "SPARK_MASTER_OPTS"
	workerOptions = "SPARK_WORKER_OPTS"
)

func (b *builder) masterSet() *appsv1.StatefulSet {
	set := b.statefulSet(b.master.StatefulSetMetadata, b.master.StatefulSetSpec, MasterName(b.cluster.Name), Master)
	set.Spec.Replicas = ptr.To[int32](1)
	set.Spec.ServiceName = MasterServiceName(b.cluster.Name)
	container := b.container(&set.Spec.Template.Spec, Master)
	web := b.port(masterUIKey, container, masterWebVariable, MasterWebPort)
	addPorts(container,
		containerPort(PortWeb, web), containerPort(portSpark, MasterPort), containerPort(portRest, portOf(b.conf[restKey], RestPort)))
	b.addOptions(container, masterOptions)
	// A Service with a matching name adds a variable of this name that is not a number.
	setPort(container, masterPortVariable, MasterPort)
	settlePort(container, masterWebVariable, web)
	container.Command = append(container.Command, "bash", "-c", masterCommand)
	return set
}

func (b *builder) workerSet() *appsv1.StatefulSet {
	set := b.statefulSet(b.worker.StatefulSetMetadata, b.worker.StatefulSetSpec, WorkerName(b.cluster.Name), Worker)
	set.Spec.Replicas = ptr.To(InitialWorkers(b.cluster))
	set.Spec.ServiceName = WorkerServiceName(b.cluster.Name)
	pod := &set.Spec.Template.Spec
	if pod.DNSConfig == nil {
		pod.DNSConfig = &corev1.PodDNSConfig{}
	}
	pod.DNSConfig.Searches = append(pod.DNSConfig.Searches,
		fmt.Sprintf("%s.%s.svc.cluster.local", WorkerServiceName(b.cluster.Name), b.cluster.Namespace))
	container := b.container(pod, Worker)
	web := b.port(workerUIKey, container, workerWebVariable, WorkerWebPort)
	addPorts(container, containerPort(PortWeb, web))
	settlePort(container, workerWebVariable, web)
	addVariable(container, "SPARK_LOG_DIR", "/opt/spark/work/logs")
	b.addOptions(container, workerOptions)
	addCapacity(container)
	container.Command = append(container.Command, "bash", "-c",
		fmt.Sprintf(workerCommand, MasterServiceName(b.cluster.Name), MasterPort))
	if b.on(decommissionKey) {
		decommission(pod, container)
	}
	pod.TerminationGracePeriodSeconds = cmp.Or(pod.TerminationGracePeriodSeconds, ptr.To[int64](0))
	return set
}

// statefulSet completes a template with what both roles have.
func (b *builder) statefulSet(metadata *metav1.ObjectMeta, template *appsv1.StatefulSetSpec, name, role string) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: b.metadata(metadata, name),
	}
	if template != nil {
		set.Spec = *template
	}
	set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: Selector(b.cluster.Name, role)}
	labels := map[string]string{}
	maps.Copy(labels, set.Spec.Template.Labels)
	maps.Copy(labels, Selector(b.cluster.Name, role))
	b.addVersion(labels)
	set.Spec.Template.Labels, set.Spec.Template.Finalizers = labels, nil
	pod := &set.Spec.Template.Spec
	pod.SchedulerName = cmp.Or(b.conf[schedulerKey], pod.SchedulerName, corev1.DefaultSchedulerName)
	pod.EnableServiceLinks = cmp.Or(pod.EnableServiceLinks, ptr.To(false))
	if role == Master {
		pod.TerminationGracePeriodSeconds = cmp.Or(pod.TerminationGracePeriodSeconds, ptr.To[int64](0))
	}
	return set
}

// container returns the container of a role in a template: the one with its name, else the first without a name. If
// there is neither, it is added as the first, which kubectl logs shows.
func (b *builder) container(pod *corev1.PodSpec, role string) *corev1.Container {
	at := ContainerOf(pod.Containers, role)
	if at < 0 {
		at = 0
		pod.Containers = slices.Insert(pod.Containers, at, corev1.Container{})
	}
	container := &pod.Containers[at]
	container.Name = role
	if b.named || container.Image == "" {
		container.Image = b.image
	}
	return container
}

// ContainerOf returns the index of a role's container; below 0 if there is none.
func ContainerOf(containers []corev1.Container, role string) int {
	if at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == role }); at >= 0 {
		return at
	}
	return slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == "" })
}

func containerPort(name string, port int32) corev1.ContainerPort {
	return corev1.ContainerPort{Name: name, ContainerPort: port, Protocol: corev1.ProtocolTCP}
}

// addPorts adds the ports whose names the template does not use.
func addPorts(container *corev1.Container, ports ...corev1.ContainerPort) {
	for _, port := range ports {
		if !slices.ContainsFunc(container.Ports, func(p corev1.ContainerPort) bool { return p.Name == port.Name }) {
			container.Ports = append(container.Ports, port)
		}
	}
}

func variable(container *corev1.Container, name string) *corev1.EnvVar {
	at := slices.IndexFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == name })
	if at < 0 {
		return nil
	}
	return &container.Env[at]
}

// addVariable sets a variable unless the template sets it.
func addVariable(container *corev1.Container, name, value string) {
	if variable(container, name) == nil {
		container.Env = append(container.Env, corev1.EnvVar{Name: name, Value: value})
	}
}

// setPort sets a variable even if the template sets it: Services and probes use this port.
func setPort(container *corev1.Container, name string, port int32) {
	value := corev1.EnvVar{Name: name, Value: fmt.Sprint(port)}
	if given := variable(container, name); given != nil {
		*given = value
		return
	}
	container.Env = append(container.Env, value)
}

// settlePort sets a variable if the template may set it to another port.
func settlePort(container *corev1.Container, name string, port int32) {
	if variable(container, name) != nil || len(container.EnvFrom) > 0 {
		setPort(container, name, port)
	}
}

// addOptions appends the properties to the options that the template gives a daemon. The last of two equal options
// counts: the property.
func (b *builder) addOptions(container *corev1.Container, name string) {
	value := literal(options(b.conf))
	if given := variable(container, name); given != nil && given.Value != "" {
		value = given.Value + " " + value
	}
	container.Env = slices.DeleteFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == name })
	container.Env = append(container.Env, corev1.EnvVar{Name: name, Value: value})
}
