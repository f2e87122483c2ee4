package status

import (
	"fmt"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/policy"
)

// Invalid returns why a cluster is refused: Services with too many ports, and what breaks the admin's rules.
func Invalid(c *sparkv1.SparkCluster, rules policy.Rules) (found finding.List) {
	if master := c.Spec.MasterSpec; master != nil {
		found.Add(dialect.TooManyPorts("spec.masterSpec.serviceSpec", master.ServiceSpec)...)
	}
	if worker := c.Spec.WorkerSpec; worker != nil {
		found.Add(dialect.TooManyPorts("spec.workerSpec.serviceSpec", worker.ServiceSpec)...)
	}
	if len(rules) > 0 {
		found.Add(rules.Check(manifest(c))...)
	}
	return found
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
		m.AddPod("spec.masterSpec.statefulSetSpec.template.spec", &master.StatefulSetSpec.Template.Spec)
	}
	if worker := c.Spec.WorkerSpec; worker != nil && worker.StatefulSetSpec != nil {
		m.AddPod("spec.workerSpec.statefulSetSpec.template.spec", &worker.StatefulSetSpec.Template.Spec)
	}
	return m
}
