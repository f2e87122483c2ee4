// Package upgrade replaces the previous release by this version, goes back, and upgrades again, while Spark runs.
package upgrade

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
	"github.com/firesteel-dev/firesteel/test/harness/previous"
)

const (
	root = "../../.."
	// patience bounds a deployment. Its images are compiled first.
	patience = 15 * time.Minute
)

func TestUpgradeAndRollbackKeepDriversAndLoseNoApplication(t *testing.T) {
	c := cluster.New(t)
	err := previous.InWorkTree(t.Context(), root, t.TempDir(), previous.Commit(), func(source string) error {
		deploy(t, source)
		c.Apply(t, "../uninstall/testdata/running.yaml")
		c.Await(t, "apache", "running", cluster.InState("RunningHealthy"))
		c.AwaitKubeflow(t, "kubeflow", "running", cluster.InKubeflowState(v1beta2.RunningState))
		before := drivers(t, c)
		for i, folder := range []string{root, source, root} {
			name := fmt.Sprintf("pi-%d", i)
			created := createDuringRollout(t, c, name)
			deploy(t, folder)
			<-created
			app := c.Await(t, name, "finished", cluster.InState("ResourceReleased"))
			if attempt := app.Status.CurrentAttemptSummary.AttemptInfo.ID; attempt != 0 {
				t.Errorf("%s had %d attempts", name, attempt+1)
			}
			after := drivers(t, c) // with that of the new application, if its Pod is not gone yet
			for driver, uid := range before {
				if after[driver] != uid {
					t.Errorf("after deployment %d the drivers are %v, want those of %v", i, after, before)
				}
			}
		}
		return nil
	})
	cluster.Must(t, err)
	c.Await(t, "apache", "running", cluster.InState("RunningHealthy"))
	c.AwaitKubeflow(t, "kubeflow", "running", cluster.InKubeflowState(v1beta2.RunningState))
}

// deploy deploys the version in a folder.
func deploy(t *testing.T, folder string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command, began := exec.CommandContext(ctx, "hack/deploy.sh"), time.Now()
	command.Dir, command.WaitDelay = folder, time.Second
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("deploy %s: %v\n%s", folder, err, output)
	}
	t.Logf("deployed %s in %.0f s", folder, time.Since(began).Seconds())
}

// createDuringRollout creates an application when the controller's Deployment changes. The channel is closed when that is done, or when
// the test ends.
func createDuringRollout(t *testing.T, c *cluster.Cluster, name string) <-chan struct{} {
	t.Helper()
	generation := func(ctx context.Context) (int64, error) {
		deployment, err := c.Kube.AppsV1().Deployments("firesteel-system").Get(ctx, "controller", metav1.GetOptions{})
		if err != nil {
			return 0, err
		}
		return deployment.Generation, nil
	}
	before, err := generation(t.Context())
	cluster.Must(t, err)
	created := make(chan struct{})
	go func() {
		defer close(created)
		err := wait.PollUntilContextCancel(t.Context(), 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			now, err := generation(ctx)
			return err == nil && now != before, nil
		})
		if err != nil {
			t.Errorf("the Deployment of the controller does not change: %v", err)
			return
		}
		app := pi.DeepCopy()
		app.Name = name
		if _, err := c.Spark.SparkV1().SparkApplications(c.Namespace).Create(t.Context(), app, metav1.CreateOptions{}); err != nil {
			t.Errorf("create %s: %v", name, err)
		}
	}()
	return created
}

// pi is an application that ends after some seconds.
var pi = &sparkv1.SparkApplication{Spec: sparkv1.ApplicationSpec{
	MainClass: "org.apache.spark.examples.SparkPi", Jars: "local:///opt/spark/examples/jars/spark-examples.jar",
	SparkConf: map[string]string{
		"spark.executor.instances": "1", "spark.driver.memory": "512m", "spark.executor.memory": "512m",
		"spark.kubernetes.driver.request.cores": "100m", "spark.kubernetes.executor.request.cores": "100m",
		"spark.kubernetes.authenticate.driver.serviceAccountName": "spark",
	},
	RuntimeVersions: sparkv1.RuntimeVersions{SparkVersion: "4.1.4"},
}}

// drivers returns the uids of the drivers that run, by their names.
func drivers(t *testing.T, c *cluster.Cluster) map[string]string {
	t.Helper()
	pods, err := c.Kube.CoreV1().Pods(c.Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "spark-role=driver"})
	cluster.Must(t, err)
	found := map[string]string{}
	for _, pod := range pods.Items {
		if pod.Status.Phase == corev1.PodRunning {
			found[pod.Name] = string(pod.UID)
		}
	}
	return found
}
