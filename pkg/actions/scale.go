package actions

import (
	"fmt"
	"math"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
)

// Scalable says what Scale will do while the number of workers is not known yet. It fails if the cluster cannot be scaled.
func Scalable(s *Subject) (*Plan, error) {
	limits, err := s.scalable()
	if err != nil {
		return nil, err
	}
	return &Plan{Effect: fmt.Sprintf("The spec asks for %s. The cluster gets as many as you write.%s", workersOf(int(limits.InitWorkers)), lostExecutors)}, nil
}

const lostExecutors = " The executors on workers that end are lost, and Spark runs their tasks again."

// workersOf returns a number of workers in words.
func workersOf(count int) string {
	if count == 1 {
		return "1 worker"
	}
	return fmt.Sprintf("%d workers", count)
}

// Scale plans to set the number of a cluster's workers.
func Scale(s *Subject, workers int) (*Plan, error) {
	if workers < 0 || workers > math.MaxInt32 {
		return nil, Invalid("%d is no number of workers: write 0 or more", workers)
	}
	limits, err := s.scalable()
	if err != nil {
		return nil, err
	}
	if workers == int(limits.InitWorkers) {
		return &Plan{Nothing: "asks for " + workersOf(workers) + " already"}, nil
	}
	effect := fmt.Sprintf("The cluster gets %s in place of %d.", workersOf(workers), limits.InitWorkers)
	if workers < int(limits.InitWorkers) {
		effect += lostExecutors
	}
	instances := map[string]any{"initWorkers": workers}
	return &Plan{
		Effect: effect, Done: fmt.Sprintf("scaled from %d to %s", limits.InitWorkers, workersOf(workers)),
		do: s.patch(map[string]any{"spec": map[string]any{"clusterTolerations": map[string]any{"instanceConfig": instances}}}),
	}, nil
}

// scalable returns the workers that a cluster asks for, if users decide on their number.
func (s *Subject) scalable() (*sparkv1.WorkerInstanceConfig, error) {
	cluster, ok := s.View.Typed.(*sparkv1.SparkCluster)
	if !ok || cluster.Undecodable != "" {
		return nil, fmt.Errorf("%s cannot be read: %s says why", s.Reference(), s.Suggest("why"))
	}
	limits := &cluster.Spec.ClusterTolerations.InstanceConfig
	if resources.Autoscaled(cluster) {
		return nil, fmt.Errorf("%s has an autoscaler, which decides between %d and %d workers: change minWorkers or maxWorkers of "+
			"spec.clusterTolerations.instanceConfig", s.Reference(), limits.MinWorkers, limits.MaxWorkers)
	}
	return limits, nil
}
