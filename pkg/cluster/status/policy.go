package status

import (
	"time"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/spec"
)

const (
	// Resource is the name of the resource.
	Resource = "sparkclusters"
	// Definition names the CustomResourceDefinition.
	Definition = Resource + ".spark.apache.org"
	// Manifest is the file with the CustomResourceDefinition.
	Manifest = "config/300-sparkcluster.yaml"
	// Finalizer is the Apache operator's: an object that it left behind can be deleted without it.
	Finalizer = Definition + "/finalizer"
)

// Policy returns what a spec asks of the lifecycle.
func Policy(c *sparkv1.SparkCluster, masterStartTimeout, deletionGrace time.Duration) cluster.Policy {
	return cluster.Policy{
		NeededWorkers:      cluster.Needed(c.Spec.ClusterTolerations.InstanceConfig.MinWorkers, maxWorkers(c)),
		MasterStartTimeout: masterStartTimeout,
		DeletionGrace:      max(deletionGrace, 1), // zero would mean no bound
		Suspend:            c.Spec.Suspend,
		Spec:               SpecOf(c),
	}
}

// maxWorkers returns the largest number of workers that the spec asks for.
func maxWorkers(c *sparkv1.SparkCluster) int32 {
	instances := c.Spec.ClusterTolerations.InstanceConfig
	if resources.Autoscaled(c) {
		return instances.MaxWorkers
	}
	return instances.InitWorkers
}

// SpecOf returns the spec without suspend, which does not affect an existing cluster.
func SpecOf(c *sparkv1.SparkCluster) spec.Spec {
	return spec.Of(c, c.Status.ObservedGeneration, func() any {
		hashed := c.Spec
		hashed.Suspend = false
		return hashed
	})
}
