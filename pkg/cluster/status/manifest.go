package status

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podvalidation"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// The templates of the Pods that a cluster may give, and their specs.
const (
	masterTemplate, workerTemplate = "spec.masterSpec.statefulSetSpec.template", "spec.workerSpec.statefulSetSpec.template"
	masterPod, workerPod           = masterTemplate + ".spec", workerTemplate + ".spec"
)

// Invalid returns why a cluster is refused: Services with too many ports, labels and Pods that the API server refuses, and what breaks the admin's rules.
func Invalid(c *sparkv1.SparkCluster, rules policy.Rules) (found finding.List) {
	if master := c.Spec.MasterSpec; master != nil {
		found.Add(dialect.TooManyPorts("spec.masterSpec.serviceSpec", master.ServiceSpec)...)
		found.Add(invalidLabels("spec.masterSpec.serviceMetadata", master.ServiceMetadata)...)
		found.Add(invalidLabels("spec.masterSpec.statefulSetMetadata", master.StatefulSetMetadata)...)
		found.Add(invalidPods(masterTemplate, master.StatefulSetSpec, resources.Master)...)
	}
	if worker := c.Spec.WorkerSpec; worker != nil {
		found.Add(dialect.TooManyPorts("spec.workerSpec.serviceSpec", worker.ServiceSpec)...)
		found.Add(invalidLabels("spec.workerSpec.serviceMetadata", worker.ServiceMetadata)...)
		found.Add(invalidLabels("spec.workerSpec.statefulSetMetadata", worker.StatefulSetMetadata)...)
		found.Add(invalidPods(workerTemplate, worker.StatefulSetSpec, resources.Worker)...)
	}
	if len(rules) > 0 {
		found.Add(rules.Check(manifest(c))...)
	}
	return found
}

// The labels of which a cluster's objects and Pods have always the same values.
var (
	ownLabels    = map[string]bool{resources.LabelOperator: true, resources.LabelCluster: true, resources.LabelVersion: true}
	ownPodLabels = map[string]bool{resources.LabelRole: true, resources.LabelCluster: true, resources.LabelVersion: true}
)

// invalidLabels returns the labels of an object of a cluster that the API server refuses.
func invalidLabels(field string, metadata *metav1.ObjectMeta) finding.List {
	if metadata == nil {
		return nil
	}
	return podvalidation.Labels(field+".labels", metadata.Labels, ownLabels)
}

// invalidPods returns what the API server refuses about the Pods of a role, whose container is completed.
func invalidPods(field string, set *appsv1.StatefulSetSpec, role string) finding.List {
	if set == nil {
		return nil
	}
	pod := set.Template.Spec
	pod.Containers = slices.Clone(pod.Containers)
	if at := resources.ContainerOf(pod.Containers, role); at >= 0 {
		container := &pod.Containers[at]
		container.Name, container.Image = role, cmp.Or(container.Image, role)
	}
	var claims []string
	for _, claim := range set.VolumeClaimTemplates {
		claims = append(claims, claim.Name)
	}
	return slices.Concat(
		podvalidation.Labels(field+".metadata.labels", set.Template.Labels, ownPodLabels),
		podvalidation.StatefulSet(field+".spec", &pod, claims...),
	)
}

// manifest returns what the admin's rules read of a cluster.
func manifest(c *sparkv1.SparkCluster) *policy.Manifest {
	const instances = "spec.clusterTolerations.instanceConfig."
	numbers := c.Spec.ClusterTolerations.InstanceConfig
	m := &policy.Manifest{
		Labels:  c.Labels,
		Workers: []policy.Value{{Field: instances + "initWorkers", Text: fmt.Sprint(numbers.InitWorkers)}},
	}
	if resources.Autoscaled(c) {
		m.Workers = append(m.Workers, policy.Value{Field: instances + "maxWorkers", Text: fmt.Sprint(numbers.MaxWorkers)})
	}
	p := policy.Properties{Given: c.Spec.SparkConf}
	m.AddPropertyKeys(p)
	m.AddImageProperties(p, policy.ImageKeys[0]) // a cluster mounts nothing by properties
	if master := c.Spec.MasterSpec; master != nil && master.StatefulSetSpec != nil {
		m.AddPod(masterPod, &master.StatefulSetSpec.Template.Spec)
	}
	if worker := c.Spec.WorkerSpec; worker != nil && worker.StatefulSetSpec != nil {
		m.AddPod(workerPod, &worker.StatefulSetSpec.Template.Spec)
	}
	return m
}
