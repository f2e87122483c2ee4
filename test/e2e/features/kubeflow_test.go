package features

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

func TestMetricsOfDriverAndExecutorsAreExported(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "testdata/kubeflow-monitoring.yaml")
	c.AwaitKubeflow(t, "monitored", "running with two executors", func(app *v1beta2.SparkApplication) bool {
		return app.Status.AppState.State == v1beta2.RunningState && running(app) == 2
	})
	for role, metric := range map[string]string{"driver": "spark_driver_jvm_", "executor": "spark_executor_jvm_"} {
		pod := c.AwaitPods(t, "spark-role="+role, "there", func(pods []corev1.Pod) bool { return len(pods) > 0 })[0]
		if pod.Annotations["prometheus.io/scrape"] != "true" || pod.Annotations["prometheus.io/port"] != "8091" ||
			pod.Annotations["prometheus.io/path"] != "/metrics" {
			t.Errorf("%s has the annotations %v", pod.Name, pod.Annotations)
		}
		if main := containerOf(t, pod, "spark-kubernetes-"+role); !hasPort(main, "metrics", 8091) {
			t.Errorf("%s has the ports %+v", pod.Name, main.Ports)
		}
		expectMetric(t, c, pod.Name, "8091", "/metrics", metric, fmt.Sprintf("app_namespace=%q", c.Namespace))
	}
	expectMetric(t, c, "monitored-driver", "4040", "/metrics/executors/prometheus/", "metrics_executor_rddBlocks")
}

// running is the number of an application's executors that run.
func running(app *v1beta2.SparkApplication) (count int) {
	for _, state := range app.Status.ExecutorState {
		if state == v1beta2.ExecutorRunningState {
			count++
		}
	}
	return count
}

func hasPort(container corev1.Container, name string, number int32) bool {
	for _, port := range container.Ports {
		if port.Name == name && port.ContainerPort == number {
			return true
		}
	}
	return false
}

// expectMetric asks a pod for its metrics until a line has these parts.
func expectMetric(t *testing.T, c *cluster.Cluster, pod, port, path string, parts ...string) {
	t.Helper()
	var answer []byte
	var problem error
	err := wait.PollUntilContextTimeout(t.Context(), time.Second, time.Minute, true, func(ctx context.Context) (bool, error) {
		answer, problem = c.Kube.CoreV1().Pods(c.Namespace).ProxyGet("http", pod, port, path, nil).DoRaw(ctx)
		for line := range strings.Lines(string(answer)) {
			if !strings.HasPrefix(line, "#") && containsAll(line, parts) {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		t.Errorf("%s does not export %v (%v):\n%.2000s", pod, parts, problem, answer)
	}
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

func TestApplicationIsSuspendedResumedEditedAndDeletedAfterItsTime(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "testdata/kubeflow-lifecycle.yaml")
	suspended, runs := cluster.InKubeflowState(v1beta2.SuspendedState), cluster.InKubeflowState(v1beta2.RunningState)
	c.AwaitKubeflow(t, "lives", "suspended", suspended)
	expectNoPods(t, c)

	edit(t, c, "lives", `{"spec":{"suspend":false}}`)
	first := c.AwaitKubeflow(t, "lives", "running", runs).Status.SubmissionID
	edit(t, c, "lives", `{"spec":{"suspend":true}}`)
	c.AwaitKubeflow(t, "lives", "suspended again", suspended)
	expectNoPods(t, c)

	edit(t, c, "lives", `{"spec":{"suspend":false}}`)
	second := c.AwaitKubeflow(t, "lives", "running again", runs).Status.SubmissionID
	edit(t, c, "lives", `{"spec":{"arguments":["20"]}}`)
	third := c.AwaitKubeflow(t, "lives", "completed", completed).Status.SubmissionID
	if first == second || second == third || third == first {
		t.Errorf("the submissions are %s, %s and %s", first, second, third)
	}
	expectLog(t, c, "lives-driver", "Pi is roughly 3.1")

	edit(t, c, "lives", `{"spec":{"timeToLiveSeconds":1}}`)
	err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := c.Spark.SparkoperatorV1beta2().SparkApplications(c.Namespace).Get(ctx, "lives", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		t.Error("the application outlives its time to live")
	}
	expectNoPods(t, c)
}

func edit(t *testing.T, c *cluster.Cluster, name, patch string) {
	t.Helper()
	_, err := c.Spark.SparkoperatorV1beta2().SparkApplications(c.Namespace).
		Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	cluster.Must(t, err)
}

func expectNoPods(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	c.AwaitPods(t, "sparkoperator.k8s.io/app-name=lives", "gone", func(pods []corev1.Pod) bool { return len(pods) == 0 })
}

func TestKubeflowFailureIsRetriedAndReported(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "testdata/kubeflow-failure.yaml")
	app := c.AwaitKubeflow(t, "fails", "failed", cluster.InKubeflowState(v1beta2.FailedState))
	if app.Status.ExecutionAttempts != 2 || app.Status.TerminationTime.IsZero() {
		t.Errorf("the status is %+v", app.Status)
	}
	const message = "driver container failed with ExitCode: 101, Reason: Error"
	if !strings.Contains(app.Status.AppState.ErrorMessage, message) {
		t.Errorf("the message is %q", app.Status.AppState.ErrorMessage)
	}
	expectLog(t, c, "fails-driver", "com.example.NoSuchClass")
}
