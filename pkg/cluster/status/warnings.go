package status

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/policy"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// longestName is the longest name of a cluster with which all its Pods can have the label with their revision.
const longestName = 45

// Warnings returns what is done differently from the spec.
func Warnings(c *sparkv1.SparkCluster) finding.List {
	var w warnings
	w.numbers(c)
	if master := c.Spec.MasterSpec; master != nil {
		w.statefulSet("masterSpec.statefulSetSpec", master.StatefulSetSpec)
		w.service("spec.masterSpec.serviceSpec", master.ServiceSpec)
		w.metadata("spec.masterSpec.statefulSetMetadata", master.StatefulSetMetadata)
		w.metadata("spec.masterSpec.serviceMetadata", master.ServiceMetadata)
	}
	if worker := c.Spec.WorkerSpec; worker != nil {
		w.statefulSet("workerSpec.statefulSetSpec", worker.StatefulSetSpec)
		w.service("spec.workerSpec.serviceSpec", worker.ServiceSpec)
		w.metadata("spec.workerSpec.statefulSetMetadata", worker.StatefulSetMetadata)
		w.metadata("spec.workerSpec.serviceMetadata", worker.ServiceMetadata)
		w.autoscaler(c, worker.HorizontalPodAutoscalerSpec)
	}
	w.Add(resources.OverruledOf(c)...)
	w.images(c)
	const namespaceKey = "spark.kubernetes.namespace"
	if given, ok := c.Spec.SparkConf[namespaceKey]; ok && given != c.Namespace {
		w.Warn(finding.Entry("spec.sparkConf", namespaceKey), given, fmt.Sprintf("has no effect, it is always %q", c.Namespace), "leave it out")
	}
	if len(c.Name) > longestName {
		w.Warn("metadata.name", c.Name, fmt.Sprintf("has %d characters, and Kubernetes may not be able to create Pods of names with more than %d",
			len(c.Name), longestName), "give the cluster a shorter name")
	}
	w.WarnOfUnknown(c.UnknownFields, c)
	if c.Spec.Suspend && c.Status.Workers != nil {
		w.Warn("spec.suspend", nil, "does nothing to a cluster that exists", "it only holds the creation")
	}
	return w.List
}

type warnings struct{ finding.List }

// images warns of images that no container can start with. An image of the Spark properties is that of both roles, whatever their templates name.
func (w *warnings) images(c *sparkv1.SparkCluster) {
	image := c.Spec.SparkConf[policy.ImageKeys[0]]
	w.Add(submission.CheckImage(finding.Entry("spec.sparkConf", policy.ImageKeys[0]), submission.WithVersion(image, c.Spec.RuntimeVersions.SparkVersion))...)
	check := func(field, role string, set *appsv1.StatefulSetSpec) {
		if set == nil {
			return
		}
		pod := set.Template.Spec
		of := resources.ContainerOf(pod.Containers, role)
		for i, container := range pod.InitContainers {
			w.Add(submission.CheckImage(fmt.Sprintf("%s.initContainers[%d].image", field, i), container.Image)...)
		}
		for i, container := range pod.Containers {
			if i != of || image == "" {
				w.Add(submission.CheckImage(fmt.Sprintf("%s.containers[%d].image", field, i), container.Image)...)
			}
		}
	}
	if master := c.Spec.MasterSpec; master != nil {
		check(masterPod, resources.Master, master.StatefulSetSpec)
	}
	if worker := c.Spec.WorkerSpec; worker != nil {
		check(workerPod, resources.Worker, worker.StatefulSetSpec)
	}
}

func (w *warnings) numbers(c *sparkv1.SparkCluster) {
	const field = "spec.clusterTolerations.instanceConfig."
	n := c.Spec.ClusterTolerations.InstanceConfig
	autoscaled := resources.Autoscaled(c)
	switch {
	case n.MinWorkers > n.MaxWorkers:
		w.Warn(field+"minWorkers", n.MinWorkers, fmt.Sprintf("is above maxWorkers %d, so no autoscaler is created and there are the %d workers of initWorkers",
			n.MaxWorkers, n.InitWorkers), "correct one of them")
	case n.MinWorkers < 0:
		w.Warn(field+"minWorkers", n.MinWorkers, "is below 0 and counts as 0", "write the number that is needed")
	case autoscaled && n.MinWorkers < 1:
		w.Warn(field+"minWorkers", n.MinWorkers, "is too low, the autoscaler keeps at least 1 worker", "write 1")
	}
	switch first := resources.InitialWorkers(c); {
	case first != n.InitWorkers:
		w.Warn(field+"initWorkers", n.InitWorkers, fmt.Sprintf("is below the autoscaler's minimum, so there are %d at first", first),
			fmt.Sprintf("write a number from %d to %d", first, n.MaxWorkers))
	case autoscaled && first > n.MaxWorkers:
		w.Warn(field+"initWorkers", first, fmt.Sprintf("is above maxWorkers %d, so the autoscaler reduces it at once", n.MaxWorkers),
			"write a number that is not above it")
	}
}

// statefulSet warns about fields of a template that the operator always sets. at is its path in the spec.
func (w *warnings) statefulSet(at string, given *appsv1.StatefulSetSpec) {
	if given == nil {
		return
	}
	values := map[string]any{}
	if given.Replicas != nil {
		values[at+".replicas"] = *given.Replicas
	}
	if given.ServiceName != "" {
		values[at+".serviceName"] = given.ServiceName
	}
	if given.Selector != nil {
		values[at+".selector"] = nil
	}
	for _, row := range policy.ClusterNoEffect {
		if value, set := values[row.Field]; set {
			w.Warn("spec."+row.Field, value, row.Message, row.Remedy)
		}
	}
	if given.PodManagementPolicy == appsv1.OrderedReadyPodManagement {
		w.Warn("spec."+at+".podManagementPolicy", given.PodManagementPolicy, "has no effect, it is always Parallel", "leave it out")
	}
	w.metadata("spec."+at+".template.metadata", &given.Template.ObjectMeta)
}

func (w *warnings) metadata(field string, given *metav1.ObjectMeta) {
	if given != nil {
		w.Add(podtemplate.FinalizersDropped(field+".finalizers", given.Finalizers)...)
	}
}

func (w *warnings) service(field string, given *corev1.ServiceSpec) {
	if given != nil && given.Type == corev1.ServiceTypeExternalName {
		w.Warn(field+".type", given.Type, "has no effect, since the Service is the cluster's own", "leave it out")
	}
}

func (w *warnings) autoscaler(c *sparkv1.SparkCluster, given *autoscalingv2.HorizontalPodAutoscalerSpec) {
	const field = "spec.workerSpec.horizontalPodAutoscalerSpec"
	if given == nil {
		return
	}
	n := c.Spec.ClusterTolerations.InstanceConfig
	switch {
	case !resources.Autoscaled(c):
		w.Warn(field, nil, fmt.Sprintf("has no effect, since minWorkers %d is not below maxWorkers %d", n.MinWorkers, n.MaxWorkers),
			"make it so, or leave it out")
	case given.MinReplicas != nil && *given.MinReplicas != n.MinWorkers:
		w.Warn(field+".minReplicas", *given.MinReplicas, "has no effect", "write it into minWorkers")
	case given.MaxReplicas != 0 && given.MaxReplicas != n.MaxWorkers:
		w.Warn(field+".maxReplicas", given.MaxReplicas, "has no effect", "write it into maxWorkers")
	}
}
