package features

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// A schedule for every minute runs Spark twice, and its deletion takes the runs with it.
func TestScheduleRunsSparkEachTime(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "testdata/schedule.yaml")
	schedules := c.Spark.FiresteelV1alpha1().ScheduledSparkApplications(c.Namespace)
	var schedule *firesteelv1alpha1.ScheduledSparkApplication
	err := wait.PollUntilContextTimeout(t.Context(), time.Second, 2*cluster.RunTime, true, func(ctx context.Context) (bool, error) {
		var err error
		schedule, err = schedules.Get(ctx, "minutely", metav1.GetOptions{})
		return err == nil && len(schedule.Status.PastSuccessfulRunNames) >= 2, nil
	})
	if err != nil {
		t.Fatalf("it never had two successful runs; its status: %+v", schedule.Status)
	}
	if failed := schedule.Status.PastFailedRunNames; len(failed) > 0 {
		t.Errorf("runs failed: %v", failed)
	}
	c.Run(t, "", "kubectl", "delete", "-n", c.Namespace, "schedsparkapp/minutely")
	err = wait.PollUntilContextTimeout(t.Context(), time.Second, cluster.RunTime, true, func(ctx context.Context) (bool, error) {
		runs, err := c.Spark.SparkV1().SparkApplications(c.Namespace).List(ctx, metav1.ListOptions{})
		return err == nil && len(runs.Items) == 0, nil
	})
	if err != nil {
		t.Errorf("the runs outlive their schedule: %v", err)
	}
}
