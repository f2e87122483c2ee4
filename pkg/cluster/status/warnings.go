package status

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/internal/text"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// longestName is how long a cluster's name may be for all its Pods to have a label that names their revision.
const longestName = 45

// Warnings name what is not done as the spec asks, one sentence each.
func Warnings(c *sparkv1.SparkCluster) []string {
	var w warnings
	w.numbers(c)
	if master := c.Spec.MasterSpec; master != nil {
		w.statefulSet("spec.masterSpec.statefulSetSpec", master.StatefulSetSpec, "there is one master")
		w.service("spec.masterSpec.serviceSpec", master.ServiceSpec)
		w.metadata("spec.masterSpec.statefulSetMetadata", master.StatefulSetMetadata)
		w.metadata("spec.masterSpec.serviceMetadata", master.ServiceMetadata)
	}
	if worker := c.Spec.WorkerSpec; worker != nil {
		w.statefulSet("spec.workerSpec.statefulSetSpec", worker.StatefulSetSpec, "write the number into initWorkers")
		w.service("spec.workerSpec.serviceSpec", worker.ServiceSpec)
		w.metadata("spec.workerSpec.statefulSetMetadata", worker.StatefulSetMetadata)
		w.metadata("spec.workerSpec.serviceMetadata", worker.ServiceMetadata)
		w.autoscaler(c, worker.HorizontalPodAutoscalerSpec)
	}
	for _, overruled := range resources.OverruledOf(c) {
		w.add("spec.%[1]sSpec.statefulSetSpec container %[1]s: %[2]s %[3]s.", overruled.Role, overruled.What, overruled.Why)
	}
	const namespaceKey = "spark.kubernetes.namespace"
	if given, is := c.Spec.SparkConf[namespaceKey]; is && given != c.Namespace {
		w.add("spec.sparkConf %s %q has no effect, it is always %q: leave it out.", namespaceKey, redact.Value(namespaceKey, given), c.Namespace)
	}
	if len(c.Name) > longestName {
		w.add("metadata.name %q has %d characters, and Kubernetes may not be able to make Pods of more than %d: give the cluster a shorter name.",
			c.Name, len(c.Name), longestName)
	}
	for _, unknown := range c.UnknownFields {
		w.add("%s is dropped: correct its spelling.", unknown)
	}
	if c.Spec.Suspend && c.Status.Workers != nil {
		w.add("spec.suspend does nothing to a cluster that exists: it holds the creation.")
	}
	return w.sentences
}

// maxSentences is how many are said. Nobody reads more, and a condition holds fewer.
const maxSentences = 64

type warnings struct{ sentences []string }

func (w *warnings) add(format string, values ...any) {
	if len(w.sentences) < maxSentences {
		w.sentences = append(w.sentences, text.Format(format, values...))
	}
}

func (w *warnings) numbers(c *sparkv1.SparkCluster) {
	const field = "spec.clusterTolerations.instanceConfig."
	n := c.Spec.ClusterTolerations.InstanceConfig
	autoscaled := resources.Autoscaled(c)
	switch {
	case n.MinWorkers > n.MaxWorkers:
		w.add(field+"minWorkers %d is above maxWorkers %d, so that no autoscaler is made and there are the %d workers of initWorkers: correct one of them.",
			n.MinWorkers, n.MaxWorkers, n.InitWorkers)
	case n.MinWorkers < 0:
		w.add(field+"minWorkers %d is below 0, which is taken for it: write the number that is needed.", n.MinWorkers)
	case autoscaled && n.MinWorkers < 1:
		w.add(field+"minWorkers %d has the autoscaler keep 1 worker, since it can keep no fewer: write 1.", n.MinWorkers)
	}
	switch first := resources.InitialWorkers(c); {
	case first != n.InitWorkers:
		w.add(field+"initWorkers %d is fewer than the autoscaler keeps, so that there are %d to begin with: write a number from %d to %d.",
			n.InitWorkers, first, first, n.MaxWorkers)
	case autoscaled && first > n.MaxWorkers:
		w.add(field+"initWorkers %d is above maxWorkers %d, so that the autoscaler reduces it at once: write a number that is not.",
			first, n.MaxWorkers)
	}
}

// statefulSet is about fields of a template that are always the operator's.
func (w *warnings) statefulSet(field string, given *appsv1.StatefulSetSpec, instead string) {
	if given == nil {
		return
	}
	if given.Replicas != nil {
		w.add("%s.replicas %d has no effect: %s.", field, *given.Replicas, instead)
	}
	if given.PodManagementPolicy == appsv1.OrderedReadyPodManagement {
		w.add("%s.podManagementPolicy %q has no effect, it is always Parallel: leave it out.", field, given.PodManagementPolicy)
	}
	if given.ServiceName != "" {
		w.add("%s.serviceName %q has no effect: leave it out, the Service's template is in serviceSpec.", field, given.ServiceName)
	}
	if given.Selector != nil {
		w.add("%s.selector has no effect: leave it out.", field)
	}
	w.metadata(field+".template.metadata", &given.Template.ObjectMeta)
}

func (w *warnings) metadata(field string, given *metav1.ObjectMeta) {
	if given == nil {
		return
	}
	if sentence := podtemplate.FinalizersDropped(field+".finalizers", given.Finalizers); sentence != "" {
		w.add("%s.", sentence)
	}
}

func (w *warnings) service(field string, given *corev1.ServiceSpec) {
	if given != nil && given.Type == corev1.ServiceTypeExternalName {
		w.add("%s.type %q has no effect, since the Service is the cluster's own: leave it out.", field, given.Type)
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
		w.add("%s has no effect, since minWorkers %d is not below maxWorkers %d: make it so, or leave it out.", field, n.MinWorkers, n.MaxWorkers)
	case given.MinReplicas != nil && *given.MinReplicas != n.MinWorkers:
		w.add("%s.minReplicas %d has no effect: write it into minWorkers.", field, *given.MinReplicas)
	case given.MaxReplicas != 0 && given.MaxReplicas != n.MaxWorkers:
		w.add("%s.maxReplicas %d has no effect: write it into maxWorkers.", field, given.MaxReplicas)
	}
}
