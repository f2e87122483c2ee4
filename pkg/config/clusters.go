package config

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
)

// Clusters holds the settings of standalone clusters.
type Clusters struct {
	// MasterStartTimeout is how long a master may take until it answers. Zero means no limit.
	MasterStartTimeout time.Duration
}

// NewClusters reads config-clusters.
func NewClusters(configMap *corev1.ConfigMap) (*Clusters, error) {
	clusters := &Clusters{MasterStartTimeout: 5 * time.Minute}
	err := Keys{
		"master-start-timeout": nonNegativeDuration(&clusters.MasterStartTimeout),
	}.Read(ClustersName, configMap)
	return clusters, err
}

// OfClusters returns the settings of the clusters in a namespace. Their image is the installation's.
func (c *Config) OfClusters(namespace string) resources.Defaults {
	return resources.Defaults{Image: c.Defaults.Image, PodSecurity: c.In(namespace).Defaults.PodSecurity}
}
