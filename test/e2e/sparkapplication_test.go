// Package e2e runs real Spark on a real cluster in which Firesteel is deployed. make test runs the applications of this
// package, few enough for every change; make e2e also those of features, one for each thing that an application may ask of
// Spark.
package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// patience bounds what follows the end of an application. A busy machine takes a minute to stop Pods.
const patience = 3 * time.Minute

// whole is the history of an attempt that succeeds and keeps nothing.
var whole = []string{
	"Submitted", "DriverRequested", "DriverStarted", "DriverReady", "RunningHealthy", "Succeeded", "ResourceReleased",
}

// The manifests that run unedited request whole cores. So these tests run one after the other: drivers that have the cores of each other's executors
// would wait for ever.
func TestApacheOperatorsPiRunsUnedited(t *testing.T) {
	c := cluster.New(t)
	c.Apply(t, "testdata/apache-pi.yaml")
	c.Await(t, "pi", "started", cluster.InState("DriverStarted", "DriverReady", "RunningHealthy"))
	log := c.FollowLog(t, "pi-0-driver")
	app := c.Await(t, "pi", "released", cluster.InState("ResourceReleased"))
	if text := <-log; !strings.Contains(text, "Pi is roughly 3.1") {
		t.Errorf("the driver's log has no result:\n%s", text)
	}
	if got := states(app.Status.StateTransitionHistory); !slices.Equal(got, whole) {
		t.Errorf("history is %v, want %v", got, whole)
	}
	if !meta.IsStatusConditionTrue(app.Status.Conditions, "Succeeded") {
		t.Errorf("conditions are %+v", app.Status.Conditions)
	}
	expectEvents(t, c, "pi", whole)
	expectGone(t, c, "pods", "services", "networkpolicies")
}

// The manifest names the namespace in which its own operator looks for it.
func TestKubeflowOperatorsPiRunsUneditedButForTheNamespace(t *testing.T) {
	c := cluster.New(t)
	manifest, err := os.ReadFile("../../examples/kubeflow/spark-pi.yaml")
	cluster.Must(t, err)
	c.ApplyText(t, strings.Replace(string(manifest), "namespace: default", "namespace: "+c.Namespace, 1))
	app := c.AwaitKubeflow(t, "spark-pi", "completed", cluster.InKubeflowState(v1beta2.CompletedState))
	if text := <-c.FollowLog(t, app.Status.DriverInfo.PodName); !strings.Contains(text, "Pi is roughly 3.1") {
		t.Errorf("the driver's log has no result:\n%s", text)
	}
	expectEvents(t, c, "spark-pi", []string{"Submitted", "DriverRequested", "DriverStarted", "DriverReady", "Succeeded"})
	// Spark deletes its executors when it ends. One that the kubelet stops before it exits by itself has failed.
	over := []v1beta2.ExecutorState{v1beta2.ExecutorCompletedState, v1beta2.ExecutorFailedState}
	for executor, state := range app.Status.ExecutorState {
		if !slices.Contains(over, state) {
			t.Errorf("the executor %s is %s", executor, state)
		}
	}
	c.Run(t, "", "kubectl", "-n", c.Namespace, "delete", "sparkapplications.sparkoperator.k8s.io", "spark-pi")
	expectGone(t, c, "pods", "services")
}

func TestApacheOperatorsMinimalExampleRunsWithTheDefaultImageAndAccount(t *testing.T) {
	c := cluster.New(t)
	// The account has no rights until the test runs the command that the condition Warning names.
	grant := fmt.Sprintf("kubectl -n %s create rolebinding spark-driver-default --clusterrole=spark-driver --serviceaccount=%[1]s:default", c.Namespace)
	words := strings.Fields(grant)
	c.Run(t, "", words[0], words[1:]...)
	c.Apply(t, "testdata/apache-minimal.yaml")
	app := c.Await(t, "pi", "released", cluster.InState("ResourceReleased"))
	if warning := meta.FindStatusCondition(app.Status.Conditions, "Warning"); warning == nil || !strings.Contains(warning.Message, grant) {
		t.Errorf("the warning does not name the command %q: %+v", grant, warning)
	}
	if got := states(app.Status.StateTransitionHistory); !slices.Equal(got, whole) {
		t.Errorf("history is %v, want %v", got, whole)
	}
}

// This test and the next two run at once, after the others: together their Pods request less CPU than a small node has.
func TestWordCountInPythonPrintsTheWords(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "../../examples/word-count.yaml")
	c.Await(t, "word-count", "kept", cluster.InState("TerminatedWithoutReleaseResources"))
	log := <-c.FollowLog(t, "word-count-0-driver")
	if !strings.Contains(log, "that: 13\n") || !strings.Contains(log, "the: 11\n") {
		t.Errorf("the driver's log has not the most frequent words:\n%s", log)
	}
}

func TestFailedAttemptIsRestartedAndTheApplicationDeletedAfterItsTime(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "../../examples/flaky.yaml")
	app := c.Await(t, "flaky", "released", cluster.InState("ResourceReleased"))
	if app.Status.CurrentAttemptSummary.AttemptInfo.ID != 1 {
		t.Errorf("attempt is %+v, want the second", app.Status.CurrentAttemptSummary.AttemptInfo)
	}
	expectEvents(t, c, "flaky", []string{
		"Submitted", "DriverRequested", "DriverStarted", "DriverReady", "RunningHealthy", "Failed",
		"ScheduledToRestart", "DriverRequested", "DriverStarted", "DriverReady", "RunningHealthy", "Succeeded", "ResourceReleased",
	})
	err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, err := c.Spark.SparkV1().SparkApplications(c.Namespace).Get(ctx, "flaky", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		t.Error("the application outlives its time to live")
	}
	expectGone(t, c, "pods", "services")
}

func TestImageThatDoesNotExistIsNamedByTheCondition(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	c.Apply(t, "testdata/no-image.yaml")
	app := c.Await(t, "no-image", "reported", func(app *sparkv1.SparkApplication) bool {
		condition := meta.FindStatusCondition(app.Status.Conditions, "Succeeded")
		return condition != nil && condition.Reason == "ImagePullFailed"
	})
	if message := meta.FindStatusCondition(app.Status.Conditions, "Succeeded").Message; !strings.Contains(message, "127.0.0.1:1/no-such-image:1") {
		t.Errorf("the message does not name the image: %s", message)
	}
	c.Await(t, "no-image", "timed out and released", cluster.InState("ResourceReleased"))
}

// states are those of a history, in the order of its keys.
func states(history map[string]sparkv1.ApplicationState) []string {
	keys := slices.SortedFunc(maps.Keys(history), func(a, b string) int {
		left, _ := strconv.Atoi(a)
		right, _ := strconv.Atoi(b)
		return left - right
	})
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		names = append(names, history[key].CurrentStateSummary)
	}
	return names
}

// expectEvents waits until the subscriber has these states, in this order. A state may be delivered twice.
func expectEvents(t *testing.T, c *cluster.Cluster, name string, want []string) {
	t.Helper()
	var lines []string
	err := wait.PollUntilContextTimeout(t.Context(), time.Second, patience, true, func(context.Context) (bool, error) {
		lines = c.PrintedEvents(t, name)
		next := 0
		for _, line := range lines {
			if next < len(want) && strings.Contains(line, "  "+want[next]) {
				next++
			}
		}
		return next == len(want), nil
	})
	if err != nil {
		t.Errorf("the subscriber printed\n%s\nwant %v", strings.Join(lines, "\n"), want)
	}
}

// expectGone waits until none of these kinds is left in the namespace.
func expectGone(t *testing.T, c *cluster.Cluster, kinds ...string) {
	t.Helper()
	var left string
	err := wait.PollUntilContextTimeout(t.Context(), time.Second, patience, true, func(context.Context) (bool, error) {
		left = c.Run(t, "", "kubectl", "-n", c.Namespace, "get", strings.Join(kinds, ","), "-o", "name")
		return left == "", nil
	})
	if err != nil {
		t.Errorf("left behind:\n%s", left)
	}
}
