package resources

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/podsecurity"
)

// The labels that the Apache operator sets on the objects of a cluster.
const (
	LabelOperator = "spark.operator/name"
	LabelCluster  = "spark.operator/spark-cluster-name"
	LabelRole     = "spark-role"
	LabelVersion  = "spark-version"
)

// operatorName is the value of LabelOperator, the Apache operator's default.
const operatorName = "spark-kubernetes-operator"

// The roles. They are also the names of the containers.
const (
	Master = "master"
	Worker = "worker"
)

// Defaults are the operator's settings for fields that clusters leave out.
type Defaults struct {
	// Image is the image of clusters that name none. {{SPARK_VERSION}} stands for the cluster's version. Empty means
	// apache/spark:<sparkVersion>.
	Image string
	// PodSecurity is what the Pods get for a profile of the Pod Security Standards.
	PodSecurity podsecurity.Profile
}

// Object is an object of a cluster.
type Object interface {
	metav1.Object
	runtime.Object
}

// Objects are all objects of a cluster.
type Objects struct {
	MasterService, WorkerService *corev1.Service
	Master, Worker               *appsv1.StatefulSet
	NetworkPolicy                *networkingv1.NetworkPolicy
	// Autoscaler is nil if no autoscaler sets the number of workers.
	Autoscaler *autoscalingv2.HorizontalPodAutoscaler
	// Budget is nil if no worker is required.
	Budget *policyv1.PodDisruptionBudget
}

// Build builds the objects of a cluster, each with its HashAnnotation.
func Build(cluster *sparkv1.SparkCluster, defaults Defaults) (*Objects, error) {
	b := newBuilder(cluster, defaults)
	objects := &Objects{
		MasterService: b.masterService(), WorkerService: b.workerService(),
		Master: b.masterSet(), Worker: b.workerSet(),
		NetworkPolicy: b.networkPolicy(), Autoscaler: b.autoscaler(), Budget: b.budget(),
	}
	b.completePods(objects)
	if objects.Autoscaler != nil {
		// The initial number of workers is not part of the hash: the autoscaler changes it.
		defer func(initially *int32) { objects.Worker.Spec.Replicas = initially }(objects.Worker.Spec.Replicas)
		objects.Worker.Spec.Replicas = nil
	}
	for _, object := range objects.All() {
		if err := sign(object); err != nil {
			return nil, err
		}
	}
	master, worker := ptr.Deref(cluster.Spec.MasterSpec, sparkv1.MasterSpec{}), ptr.Deref(cluster.Spec.WorkerSpec, sparkv1.WorkerSpec{})
	if err := b.nameSources(objects.Master, master.StatefulSetMetadata, master.StatefulSetSpec); err != nil {
		return nil, err
	}
	return objects, b.nameSources(objects.Worker, worker.StatefulSetMetadata, worker.StatefulSetSpec)
}

// All returns the objects in the order of their creation: first those that Pods need.
func (o *Objects) All() []Object {
	all := []Object{o.MasterService, o.WorkerService, o.NetworkPolicy, o.Master, o.Worker}
	if o.Autoscaler != nil {
		all = append(all, o.Autoscaler)
	}
	if o.Budget != nil {
		all = append(all, o.Budget)
	}
	return all
}

// Pods returns a Pod of the master and one of a worker, as their StatefulSets make them.
func (o *Objects) Pods() (master, worker *corev1.Pod) {
	return &corev1.Pod{Spec: o.Master.Spec.Template.Spec}, &corev1.Pod{Spec: o.Worker.Spec.Template.Spec}
}

// MasterName names the master's StatefulSet.
func MasterName(cluster string) string { return cluster + "-master" }

// WorkerName names the workers' StatefulSet and their NetworkPolicy.
func WorkerName(cluster string) string { return cluster + "-worker" }

// MasterServiceName names the master's Service.
func MasterServiceName(cluster string) string { return cluster + "-master-svc" }

// WorkerServiceName names the workers' Service.
func WorkerServiceName(cluster string) string { return cluster + "-worker-svc" }

// AutoscalerName names the workers' autoscaler.
func AutoscalerName(cluster string) string { return cluster + "-worker-hpa" }

// BudgetName names the workers' PodDisruptionBudget.
func BudgetName(cluster string) string { return cluster + "-worker-pdb" }

// PagePort returns the port of the master's page at the name of its Service. A headless Service has the ports of its
// Pods.
func PagePort(service *corev1.Service, master *appsv1.StatefulSet) int32 {
	if service.Spec.ClusterIP == corev1.ClusterIPNone {
		for _, container := range master.Spec.Template.Spec.Containers {
			for _, port := range container.Ports {
				if port.Name == PortWeb {
					return port.ContainerPort
				}
			}
		}
	}
	for _, port := range service.Spec.Ports {
		if port.Name == PortWeb {
			return port.Port
		}
	}
	return MasterWebPort
}

// Autoscaled reports whether an autoscaler sets the number of workers.
func Autoscaled(cluster *sparkv1.SparkCluster) bool {
	instances := cluster.Spec.ClusterTolerations.InstanceConfig
	return instances.MinWorkers < instances.MaxWorkers
}

// InitialWorkers returns the initial number of workers: initWorkers, or the autoscaler's minimum if that is larger.
// An autoscaler never scales up a StatefulSet with zero Pods.
func InitialWorkers(cluster *sparkv1.SparkCluster) int32 {
	instances := cluster.Spec.ClusterTolerations.InstanceConfig
	if Autoscaled(cluster) {
		return max(instances.InitWorkers, autoscalerMinimum(instances))
	}
	return instances.InitWorkers
}

// autoscalerMinimum returns the autoscaler's minimum, which must be at least one.
func autoscalerMinimum(instances sparkv1.WorkerInstanceConfig) int32 {
	return max(instances.MinWorkers, 1)
}

// Selector returns the labels that select the Pods of a role.
func Selector(cluster, role string) map[string]string {
	return map[string]string{LabelRole: role, LabelCluster: cluster}
}

// builder builds the objects of one cluster.
type builder struct {
	cluster *sparkv1.SparkCluster
	master  sparkv1.MasterSpec
	worker  sparkv1.WorkerSpec
	conf    map[string]string
	// image is the image of containers whose template names none. named reports whether the Spark properties name it.
	image string
	named bool
	// podSecurity is what the Pods get.
	podSecurity podsecurity.Profile
}

func newBuilder(cluster *sparkv1.SparkCluster, defaults Defaults) *builder {
	b := &builder{cluster: cluster, conf: properties(cluster), podSecurity: defaults.PodSecurity}
	if given := cluster.Spec.MasterSpec; given != nil {
		b.master = *given.DeepCopy()
	}
	if given := cluster.Spec.WorkerSpec; given != nil {
		b.worker = *given.DeepCopy()
	}
	b.image, b.named = b.conf[imageKey], b.conf[imageKey] != ""
	if !b.named {
		b.image = imageOf(defaults.Image, cluster.Spec.RuntimeVersions.SparkVersion)
	}
	return b
}

// metadata returns the metadata of a template with the operator's labels, name and owner.
func (b *builder) metadata(template *metav1.ObjectMeta, name string) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Name: name, Namespace: b.cluster.Namespace, Labels: map[string]string{}}
	if template != nil {
		maps.Copy(meta.Labels, template.Labels)
		meta.Annotations = maps.Clone(template.Annotations)
	}
	maps.Copy(meta.Labels, map[string]string{LabelOperator: operatorName, LabelCluster: b.cluster.Name})
	b.addVersion(meta.Labels)
	meta.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(b.cluster, sparkv1.SchemeGroupVersion.WithKind("SparkCluster")),
	}
	return meta
}

func (b *builder) addVersion(labels map[string]string) {
	if version := b.cluster.Spec.RuntimeVersions.SparkVersion; version != "" {
		labels[LabelVersion] = version
	}
}
