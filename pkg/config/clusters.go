package config

import (
	"time"

	corev1 "k8s.io/api/core/v1"
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
