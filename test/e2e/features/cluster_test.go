package features

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

const (
	standalone    = "cluster"
	masterService = standalone + "-master-svc"
	ofStandalone  = "spark.operator/spark-cluster-name=" + standalone
)

// TestStandaloneClusterRunsJobs takes a cluster through its life. What it is put through comes in this order.
func TestStandaloneClusterRunsJobs(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	c := u.Cluster
	c.Apply(t, "../../../examples/cluster.yaml")
	c.AwaitCluster(t, standalone, "ready", ready(2))
	u.opens(t, "Spark Master at spark://", "cluster", "ui", standalone)
	expectListed(t, u, "RunningHealthy", "2", "2")
	t.Run("a job in client mode survives a worker", func(t *testing.T) { runJobAndKillWorker(t, c) })
	t.Run("a job through the REST server", func(t *testing.T) { submitOverREST(t, c) })
	t.Run("the workers come back to another master", func(t *testing.T) { killMaster(t, c) })
	t.Run("scaling", func(t *testing.T) { scale(t, u) })
	c.Run(t, "", "kubectl", "-n", c.Namespace, "delete", "sparkcluster", standalone, "--timeout=2m")
	eventually(t, "nothing is left", func(context.Context) error {
		left := c.Run(t, "", "kubectl", "-n", c.Namespace, "get", "-l", ofStandalone, "-o", "name",
			"statefulsets,pods,services,networkpolicies,poddisruptionbudgets,horizontalpodautoscalers,persistentvolumeclaims")
		return unless(left == "", "left behind:\n%s", left)
	})
	expectStory(t, c, "Submitted", "RunningHealthy", "Degraded", "RunningHealthy", "ResourceReleased")
}

// ready holds for a cluster that says it is ready, with so many workers.
func ready(workers int32) func(*sparkv1.SparkCluster) bool {
	return func(found *sparkv1.SparkCluster) bool {
		return meta.IsStatusConditionTrue(found.Status.Conditions, "Ready") && found.Status.ObservedGeneration == found.Generation &&
			found.Status.Workers != nil && found.Status.Workers.Registered == workers && found.Status.Workers.Replicas == workers
	}
}

func runJobAndKillWorker(t *testing.T, c *cluster.Cluster) {
	c.Apply(t, "testdata/cluster-job.yaml")
	awaitLog(t, c, "job", "under way")
	kill(t, c, standalone+"-worker-0")
	awaitEnd(t, c, "job")
	expectLog(t, c, "job", "sum 1770\n")
	c.AwaitCluster(t, standalone, "ready again", ready(2))
}

// awaitLog waits until a job's pod says something.
func awaitLog(t *testing.T, c *cluster.Cluster, pod, text string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the job %s says %q", pod, text), func(ctx context.Context) error {
		log, err := c.Kube.CoreV1().Pods(c.Namespace).GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(ctx)
		if err != nil {
			return err
		}
		return unless(strings.Contains(string(log), text), "its log says\n%s", log)
	})
}

// awaitEnd waits until a job's pod has ended, well or not.
func awaitEnd(t *testing.T, c *cluster.Cluster, name string) {
	t.Helper()
	eventually(t, "the job "+name+" has ended", func(ctx context.Context) error {
		pod, err := c.Kube.CoreV1().Pods(c.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return unless(pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed, "it is %s", pod.Status.Phase)
	})
}

// kill takes a pod away without a word, and waits for the one that takes its place.
func kill(t *testing.T, c *cluster.Cluster, name string) {
	t.Helper()
	uid := func(ctx context.Context) (types.UID, bool) {
		pod, err := c.Kube.CoreV1().Pods(c.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", false
		}
		return pod.UID, len(pod.Status.ContainerStatuses) > 0 && pod.Status.ContainerStatuses[0].Ready
	}
	before, _ := uid(t.Context())
	c.Run(t, "", "kubectl", "-n", c.Namespace, "delete", "pod", name, "--force", "--grace-period=0")
	eventually(t, name+" is back", func(ctx context.Context) error {
		now, running := uid(ctx)
		return unless(now != before && running, "uid %s, runs: %t", now, running)
	})
}

// submitOverREST has the master run a driver on one of the workers.
func submitOverREST(t *testing.T, c *cluster.Cluster) {
	request, err := json.Marshal(map[string]any{
		"action": "CreateSubmissionRequest", "clientSparkVersion": manifested,
		"appResource": "file:/opt/spark/examples/jars/spark-examples.jar", "mainClass": "org.apache.spark.examples.SparkPi",
		"appArgs": []string{"20"}, "environmentVariables": map[string]string{},
		"sparkProperties": map[string]string{
			"spark.app.name": "pi", "spark.master": "spark://" + masterService + ":7077", "spark.submit.deployMode": "cluster",
			"spark.driver.memory": "512m", "spark.executor.memory": "512m",
			"spark.jars": "file:/opt/spark/examples/jars/spark-examples.jar",
		},
	})
	cluster.Must(t, err)
	answer, err := c.Kube.CoreV1().RESTClient().Post().Namespace(c.Namespace).Resource("services").Name(masterService+":rest").
		SubResource("proxy").Suffix("/v1/submissions/create").SetHeader("Content-Type", "application/json").Body(request).DoRaw(t.Context())
	var created struct {
		SubmissionID string `json:"submissionId"`
		Success      bool   `json:"success"`
	}
	if err != nil || json.Unmarshal(answer, &created) != nil || !created.Success {
		t.Fatalf("the REST server answers %s: %v", answer, err)
	}
	var state string
	eventually(t, "the driver has ended", func(ctx context.Context) error {
		answer, err := c.Kube.CoreV1().Services(c.Namespace).
			ProxyGet("http", masterService, "rest", "/v1/submissions/status/"+created.SubmissionID, nil).DoRaw(ctx)
		if err != nil {
			return err
		}
		var status struct {
			DriverState string `json:"driverState"`
		}
		if err := json.Unmarshal(answer, &status); err != nil {
			return err
		}
		state = status.DriverState
		return unless(slices.Contains([]string{"FINISHED", "FAILED", "ERROR", "KILLED"}, state), "it is %s", state)
	})
	if state != "FINISHED" {
		t.Errorf("the driver is %s", state)
	}
}

func killMaster(t *testing.T, c *cluster.Cluster) {
	kill(t, c, standalone+"-master-0")
	eventually(t, "the workers are registered again", func(context.Context) error {
		alive := aliveWorkers(t, c)
		return unless(alive == 2, "%d are", alive)
	})
	c.AwaitCluster(t, standalone, "ready again", ready(2))
}

// scale adds a worker, and takes it away again while a job is not done with what that holds: it leaves by decommission, and
// its blocks to the others.
func scale(t *testing.T, u *user) {
	c := u.Cluster
	u.says(t, 0, []string{"scaled from 2 to 3 workers"}, "cluster", "scale", standalone, "--workers", "3")
	c.AwaitCluster(t, standalone, "of three workers", ready(3))
	expectListed(t, u, "RunningHealthy", "3", "3")
	c.Apply(t, "testdata/cluster-shuffle.yaml")
	awaitLog(t, c, "shuffle", "written by 3")
	c.Run(t, "", "kubectl", "-n", c.Namespace, "scale", "sparkcluster/"+standalone, "--replicas=2")
	c.AwaitCluster(t, standalone, "of two workers", ready(2))
	log := c.Run(t, "", "kubectl", "-n", c.Namespace, "logs", standalone+"-master-0")
	if !strings.Contains(log, "Decommissioning worker") {
		t.Errorf("no worker was decommissioned; the master's log:\n%s", log)
	}
	awaitEnd(t, c, "shuffle")
	expectLog(t, c, "shuffle", "sum 435 of 30\n")
}

// expectListed checks the row of the cluster in the table of clusters: state, workers and wanted workers.
func expectListed(t *testing.T, u *user, cells ...string) {
	t.Helper()
	table := u.says(t, 0, nil, "cluster", "list")
	if row := regexp.MustCompile(`(?m)^` + standalone + ` +spark\.apache\.org +` + strings.Join(cells, " +") + ` `); !row.MatchString(table) {
		t.Errorf("no row of the table has %v:\n%s", cells, table)
	}
}

// aliveWorkers is what the master's page says of its workers; below 0 if it does not answer.
func aliveWorkers(t *testing.T, c *cluster.Cluster) int {
	t.Helper()
	page := struct {
		AliveWorkers int `json:"aliveworkers"`
	}{AliveWorkers: -1}
	_ = json.Unmarshal([]byte(get(t, c, "/json/")), &page)
	return page.AliveWorkers
}

// get asks the master for a page by its Service.
func get(t *testing.T, c *cluster.Cluster, path string) string {
	t.Helper()
	proxy := fmt.Sprintf("/api/v1/namespaces/%s/services/%s:web/proxy", c.Namespace, masterService)
	answer, err := c.Kube.CoreV1().RESTClient().Get().AbsPath(proxy + path).DoRaw(t.Context())
	if err != nil {
		return err.Error()
	}
	return string(answer)
}

// eventually waits until a condition holds. The condition returns why it does not hold yet.
func eventually(t *testing.T, what string, is func(context.Context) error) {
	t.Helper()
	var problem error
	err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, cluster.RunTime, true, func(ctx context.Context) (bool, error) {
		problem = is(ctx)
		return problem == nil, nil
	})
	if err != nil {
		t.Fatalf("it never came to be that %s: %v", what, problem)
	}
}

func unless(holds bool, format string, values ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, values...)
}

// expectStory waits until the subscriber has these states of the cluster, in this order, and possibly others.
func expectStory(t *testing.T, c *cluster.Cluster, states ...string) {
	t.Helper()
	eventually(t, "its story is told", func(context.Context) error {
		lines, next := c.PrintedEvents(t, standalone), 0
		for _, line := range lines {
			if next < len(states) && strings.Contains(line, "  "+states[next]) {
				next++
			}
		}
		return unless(next == len(states), "told was\n%s", strings.Join(lines, "\n"))
	})
}
