package features

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// A run of the user's own spark-submit, followed by an application to its end.
func TestDriverThatItsUserSubmitsIsFollowed(t *testing.T) {
	c := cluster.New(t)
	installEarly(t, c)
	c.ApplyText(t, `
apiVersion: spark-operator.k8s.io/v1alpha1
kind: SparkApplication
metadata: {name: followed}
spec: {submissionByUser: true}
`)
	waiting := c.AwaitEarly(t, "followed", "waiting for its user", func(app *v1alpha1.SparkApplication) bool {
		succeeded := meta.FindStatusCondition(app.Status.Conditions, "Succeeded")
		return app.Status.AppState.State == v1alpha1.NewState && succeeded != nil && succeeded.Reason == "AwaitsUserDriver"
	})
	label := "spark-operator.k8s.io/appId"
	submit(t, c, "3.5.9", map[string]string{
		"spark.kubernetes.driver.label." + label: waiting.Status.AppID, "spark.kubernetes.executor.label." + label: waiting.Status.AppID,
		"spark.kubernetes.executor.deleteOnTermination": "false",
	}, "200")
	driver := c.AwaitPods(t, drivers, "one that runs", func(pods []corev1.Pod) bool { return len(pods) == 1 && runs(pods[0], "spark-kubernetes-driver") })[0]
	log := c.FollowLog(t, driver.Name)
	running := c.AwaitEarly(t, "followed", "running, with its UI", func(app *v1alpha1.SparkApplication) bool {
		return app.Status.AppState.State == v1alpha1.RunningState && app.Status.DriverInfo.WebUIURL != ""
	})
	if info := running.Status.DriverInfo; info.PodName != driver.Name || info.WebUIURL != fmt.Sprintf("%s:%d", driver.Status.HostIP, info.WebUIPort) {
		t.Errorf("running it shows %+v", info)
	}
	completed := c.AwaitEarly(t, "followed", "completed", cluster.InEarlyState(v1alpha1.CompletedState))
	if uid := completed.Status.Firesteel.Launch.DriverUID; uid != driver.UID || len(completed.Status.ExecutorState) == 0 {
		t.Errorf("it followed %s instead of %s: %+v", uid, driver.UID, completed.Status)
	}
	if text := <-log; !strings.Contains(text, "Pi is roughly") {
		t.Errorf("the log of the driver is %s", text)
	}
	printed := c.PrintedEvents(t, "followed")
	if !slices.ContainsFunc(printed, func(line string) bool { return strings.Contains(line, "  Succeeded") }) {
		t.Errorf("its events are %q", printed)
	}
	cluster.Must(t, c.Spark.EarlyV1alpha1().SparkApplications(c.Namespace).Delete(t.Context(), "followed", metav1.DeleteOptions{}))
	c.AwaitPods(t, drivers, "deleted with the application", func(pods []corev1.Pod) bool { return len(pods) == 0 })
}
