package actions

import (
	"fmt"
	"math"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
)

// Scale plans to set the number of a cluster's workers.
func Scale(s *Subject, workers int) (*Plan, error) {
	if workers < 0 || workers > math.MaxInt32 {
		return nil, Invalid("%d is no number of workers: write 0 or more", workers)
	}
	cluster, ok := s.View.Typed.(*sparkv1.SparkCluster)
	if !ok || cluster.Undecodable != "" {
		return nil, fmt.Errorf("%s cannot be read: %s says why", s.Reference(), s.Suggest("why"))
	}
	limits := cluster.Spec.ClusterTolerations.InstanceConfig
	if resources.Autoscaled(cluster) {
		return nil, fmt.Errorf("%s has an autoscaler, which decides between %d and %d workers: change minWorkers or maxWorkers of "+
			"spec.clusterTolerations.instanceConfig", s.Reference(), limits.MinWorkers, limits.MaxWorkers)
	}
	instances := map[string]any{"initWorkers": workers}
	effect := fmt.Sprintf("The cluster gets %d workers in place of %d.", workers, limits.InitWorkers)
	if workers < int(limits.InitWorkers) {
		effect += " The executors on the workers that end are lost, and Spark runs their tasks again."
	}
	return &Plan{
		Effect: effect, Done: fmt.Sprintf("scaled from %d to %d workers", limits.InitWorkers, workers),
		do: s.patch(map[string]any{"spec": map[string]any{"clusterTolerations": map[string]any{"instanceConfig": instances}}}),
	}, nil
}
