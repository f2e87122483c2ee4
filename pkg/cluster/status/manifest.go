package status

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podvalidation"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// The specs of the Pods that a cluster may give.
const masterPod, workerPod = "spec.masterSpec.statefulSetSpec.template.spec", "spec.workerSpec.statefulSetSpec.template.spec"

// Invalid returns why a cluster is refused: Services with too many ports, Pods that the API server refuses, and what breaks the admin's rules.
func Invalid(c *sparkv1.SparkCluster, rules policy.Rules) (found finding.List) {
	if master := c.Spec.MasterSpec; master != nil {
		found.Add(dialect.TooManyPorts("spec.masterSpec.serviceSpec", master.ServiceSpec)...)
		found.Add(invalidPods(masterPod, master.StatefulSetSpec)...)
	}
	if worker := c.Spec.WorkerSpec; worker != nil {
		found.Add(dialect.TooManyPorts("spec.workerSpec.serviceSpec", worker.ServiceSpec)...)
		found.Add(invalidPods(workerPod, worker.StatefulSetSpec)...)
	}
	if len(rules) > 0 {
		found.Add(rules.Check(manifest(c))...)
	}
	return found
}

func invalidPods(field string, set *appsv1.StatefulSetSpec) finding.List {
	if set == nil {
		return nil
	}
	return podvalidation.StatefulSet(field, &set.Template.Spec)
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
