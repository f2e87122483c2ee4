package cluster

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// AwaitCluster is Await of a standalone cluster.
func (c *Cluster) AwaitCluster(t *testing.T, name, what string, is func(*sparkv1.SparkCluster) bool) *sparkv1.SparkCluster {
	t.Helper()
	ended := func(found *sparkv1.SparkCluster) bool {
		return found.Status.CurrentState != nil && found.Status.CurrentState.CurrentStateSummary == "ResourceReleased"
	}
	found, itIs := await(t, is, ended, func(ctx context.Context) (*sparkv1.SparkCluster, error) {
		return c.Spark.SparkV1().SparkClusters(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	})
	if !itIs {
		t.Fatalf("cluster %s never was %s; its state: %+v, its conditions: %+v",
			name, what, found.Status.CurrentState, found.Status.Conditions)
	}
	return found
}
