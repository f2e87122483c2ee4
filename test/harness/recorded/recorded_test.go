package recorded_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/harness/recorded"
)

// states returns the last states in the records of objects.
func states(t *testing.T, objects []recorded.Object) (found []string) {
	t.Helper()
	for _, o := range objects {
		transitions, _, err := unstructured.NestedSlice(o.Object.Object, "status", "firesteel", "transitions")
		if err != nil {
			t.Fatalf("%s: %v", o.Name, err)
		}
		if len(transitions) > 0 {
			found = append(found, transitions[len(transitions)-1].(map[string]any)["state"].(string))
		}
	}
	return found
}

func TestEachStateIsRecorded(t *testing.T) {
	apache, kubeflow := states(t, recorded.SparkApplications()), states(t, recorded.KubeflowApplications())
	instances := []lifecycle.State{ // of instanceConfig, which sparkoperator.k8s.io does not have
		lifecycle.InitializedBelowThresholdExecutors, lifecycle.RunningWithPartialCapacity, lifecycle.RunningWithBelowThresholdExecutors,
	}
	interrupts := []lifecycle.State{
		lifecycle.Suspending, lifecycle.Suspended, lifecycle.Resuming, lifecycle.Invalidating, lifecycle.Unknown,
	}
	for _, state := range lifecycle.States {
		if !slices.Contains(interrupts, state) && !slices.Contains(apache, string(state)) {
			t.Errorf("no SparkApplication of spark.apache.org is %s", state)
		}
		if !slices.Contains(instances, state) && !slices.Contains(kubeflow, string(state)) {
			t.Errorf("no SparkApplication of sparkoperator.k8s.io is %s", state)
		}
	}
	clusters := states(t, recorded.Clusters())
	for _, state := range cluster.States {
		if !slices.Contains(clusters, string(state)) {
			t.Errorf("no SparkCluster is %s", state)
		}
	}
}
