package features

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

func TestExecutorsFollowTheWorkWithDynamicAllocation(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "testdata/allocation.yaml")
	c.AwaitPods(t, executors, "two", func(pods []corev1.Pod) bool { return len(pods) == 2 })
	c.Await(t, "allocation", "kept", kept)
	expectLog(t, c, "allocation-0-driver", "executors at first: 0\n", "executors at work: 2\n", "executors at rest: 0\n")
	c.AwaitPods(t, executors, "gone, though the driver is kept", func(pods []corev1.Pod) bool { return len(pods) == 0 })
}
