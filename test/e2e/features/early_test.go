package features

import (
	"context"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// The object that the early operator's documentation prints, with its images of Spark 2.2, runs to its result on the Spark that the settings
// name in their place. It is not edited: it runs in the namespace default.
func TestFirstManifestOfTheEarlyAPIRunsUnedited(t *testing.T) {
	const manifest, name = "../../../pkg/dialect/early/testdata/seed.yaml", "spark-app-example"
	c := *cluster.New(t)
	c.Namespace = metav1.NamespaceDefault
	finally := func(args ...string) {
		t.Cleanup(func() {
			if output, err := exec.CommandContext(context.WithoutCancel(t.Context()), "kubectl", args...).CombinedOutput(); err != nil {
				t.Errorf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
			}
		})
	}
	set := func(configMap, value, before string) {
		finally("-n", "firesteel-system", "patch", "configmap/"+configMap, "--type=merge", "-p", before)
		c.Run(t, "", "kubectl", "-n", "firesteel-system", "patch", "configmap/"+configMap, "--type=merge", "-p", value)
	}
	// With the CRD, kubectl takes the bare word sparkapplications for its kind.
	finally("delete", "--wait", "-f", crdOfEarlyApplications)
	c.Run(t, "", "kubectl", "apply", "--server-side", "-f", crdOfEarlyApplications)
	c.Run(t, "", "kubectl", "wait", "--for=condition=Established", "--timeout=60s", "crd/sparkapplications.spark-operator.k8s.io")
	set("config-early", `{"data":{"image-replacements":"kubespark/*=apache/spark:3.5.9"}}`, `{"data":{"image-replacements":null}}`)
	set("config-kubeflow", `{"data":{"driver-service-account":"spark"}}`, `{"data":{"driver-service-account":null}}`)
	finally("-n", c.Namespace, "delete", "--ignore-not-found", "serviceaccount/spark", "serviceaccount/spark-operator-spark", "rolebinding/spark-driver-accounts")
	c.Run(t, "", "../../../hack/namespace.sh", c.Namespace)
	c.Apply(t, manifest)

	running := c.AwaitEarly(t, name, "running, with the address of its UI", func(app *v1alpha1.SparkApplication) bool {
		return app.Status.AppState.State == v1alpha1.RunningState && app.Status.DriverInfo.WebUIAddress != ""
	})
	log := c.FollowLog(t, running.Status.DriverInfo.PodName)
	expectUI(t, running.Status.DriverInfo.WebUIAddress)
	completed := c.AwaitEarly(t, name, "completed", cluster.InEarlyState(v1alpha1.CompletedState))
	if text := <-log; !strings.Contains(text, "Pi is roughly") {
		t.Errorf("the log of the driver has no result:\n%.4000s", text)
	}
	for executor, state := range completed.Status.ExecutorState {
		if state != v1alpha1.ExecutorCompletedState {
			t.Errorf("the executor %s is %s", executor, state)
		}
	}
	if len(completed.Status.ExecutorState) != 1 {
		t.Errorf("the executors are %v", completed.Status.ExecutorState)
	}
	pod, err := c.Kube.CoreV1().Pods(c.Namespace).Get(t.Context(), completed.Status.DriverInfo.PodName, metav1.GetOptions{})
	cluster.Must(t, err)
	if image := containerOf(t, *pod, "spark-kubernetes-driver").Image; image != "apache/spark:3.5.9" {
		t.Errorf("the driver runs %s", image)
	}
}

// expectUI asks for the page of Spark's UI until it is there: the driver serves it some seconds after its start.
func expectUI(t *testing.T, address string) {
	t.Helper()
	var answer string
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", nil)
		if err != nil {
			return false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			answer = err.Error()
			return false, nil
		}
		defer response.Body.Close()
		body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		answer = response.Status + " " + string(body)
		return err == nil && response.StatusCode == http.StatusOK && strings.Contains(string(body), "Spark"), nil
	})
	if err != nil {
		t.Errorf("the UI at %s answers: %.500s", address, answer)
	}
}
