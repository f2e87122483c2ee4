// Package e2e runs real Spark on a real cluster in which Firesteel is deployed: make test-e2e.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
)

// runTime bounds a real Spark run on a machine that does other things beside.
const runTime = 6 * time.Minute

// cluster is the cluster under test, and a namespace of the test's own in it.
type cluster struct {
	kube      kubernetes.Interface
	spark     versioned.Interface
	namespace string
}

// newCluster makes a namespace in which drivers may run, and removes it after the test.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		t.Fatal("KUBECONFIG is not set: run make test-e2e")
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	must(t, err)
	kube, err := kubernetes.NewForConfig(config)
	must(t, err)
	spark, err := versioned.NewForConfig(config)
	must(t, err)
	namespace, err := kube.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "firesteel-e2e-"}}, metav1.CreateOptions{})
	must(t, err)
	c := &cluster{kube: kube, spark: spark, namespace: namespace.Name}
	t.Cleanup(func() { c.remove(t) })
	c.run(t, "", "../../hack/workload-rbac.sh", c.namespace)
	return c
}

// remove deletes the namespace and waits until it is gone, with all that was in it.
func (c *cluster) remove(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	if err := c.kube.CoreV1().Namespaces().Delete(ctx, c.namespace, metav1.DeleteOptions{}); err != nil {
		t.Errorf("delete namespace: %v", err)
	}
	err := wait.PollUntilContextTimeout(ctx, time.Second, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := c.kube.CoreV1().Namespaces().Get(ctx, c.namespace, metav1.GetOptions{})
		return err != nil, nil
	})
	if err != nil {
		t.Errorf("namespace %s does not go", c.namespace)
	}
}

// apply has kubectl apply a manifest, strictly, as a user would.
func (c *cluster) apply(t *testing.T, path string) {
	t.Helper()
	c.run(t, "", "kubectl", "apply", "-n", c.namespace, "--validate=strict", "-f", path)
}

func (c *cluster) run(t *testing.T, input, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Stdin = strings.NewReader(input)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
	return string(output)
}

// await waits until an application is as it should be.
func (c *cluster) await(t *testing.T, name, what string, is func(*sparkv1.SparkApplication) bool) *sparkv1.SparkApplication {
	t.Helper()
	var app *sparkv1.SparkApplication
	err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, runTime, true, func(ctx context.Context) (bool, error) {
		var err error
		app, err = c.spark.SparkV1().SparkApplications(c.namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && is(app), nil
	})
	if err != nil {
		t.Fatalf("application %s never was %s; its status: %+v\n%s", name, what, app.Status.CurrentState,
			c.run(t, "", "kubectl", "-n", c.namespace, "get", "pods,events"))
	}
	return app
}

// followLog reads a driver's log until it ends; the driver may be gone right afterwards.
func (c *cluster) followLog(t *testing.T, pod string) <-chan string {
	t.Helper()
	log := make(chan string, 1)
	go func() {
		defer close(log)
		stream, err := c.kube.CoreV1().Pods(c.namespace).GetLogs(pod, &corev1.PodLogOptions{Follow: true}).Stream(t.Context())
		if err != nil {
			log <- fmt.Sprintf("no log of %s: %v", pod, err)
			return
		}
		defer stream.Close()
		var text bytes.Buffer
		_, _ = bufio.NewReader(stream).WriteTo(&text)
		log <- text.String()
	}()
	return log
}

// told are the events of an application as the print function printed them, in the order of their arrival.
func (c *cluster) told(t *testing.T, name string) []string {
	t.Helper()
	printed := c.run(t, "", "kubectl", "-n", "firesteel-system", "logs", "deployment/print", "--since=30m")
	var lines []string
	for line := range strings.Lines(printed) {
		if strings.Contains(line, fmt.Sprintf("  %s/%s  ", c.namespace, name)) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
