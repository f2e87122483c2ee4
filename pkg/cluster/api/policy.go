package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
)

const (
	// Resource is the name of the resource.
	Resource = "sparkclusters"
	// Definition names the CustomResourceDefinition.
	Definition = Resource + ".spark.apache.org"
	// Manifest is where that is.
	Manifest = "config/300-sparkcluster.yaml"
	// Finalizer is the Apache operator's, so that whoever deletes an object that it left need not wait for it.
	Finalizer = Definition + "/finalizer"
)

// Policy is what a spec says about the lifecycle.
func Policy(c *sparkv1.SparkCluster, masterStartTimeout time.Duration) (cluster.Policy, error) {
	hash, err := specHash(c)
	return cluster.Policy{
		NeededWorkers:      cluster.Needed(c.Spec.ClusterTolerations.InstanceConfig.MinWorkers, asked(c)),
		MasterStartTimeout: masterStartTimeout,
		Suspend:            c.Spec.Suspend,
		SpecHash:           hash,
	}, err
}

// asked is the largest number of workers that the spec asks for.
func asked(c *sparkv1.SparkCluster) int32 {
	instances := c.Spec.ClusterTolerations.InstanceConfig
	if resources.Autoscaled(c) {
		return instances.MaxWorkers
	}
	return instances.InitWorkers
}

// specHash is a hash of the spec but for suspend, which changes nothing of a cluster that exists.
func specHash(c *sparkv1.SparkCluster) (string, error) {
	spec := c.Spec
	spec.Suspend = false
	encoded, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encode spec: %w", err)
	}
	digest := sha256.Sum256(encoded)
	return hex.EncodeToString(digest[:8]), nil
}
