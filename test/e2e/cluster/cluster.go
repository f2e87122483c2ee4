// Package cluster gives each end-to-end test a namespace of its own in the cluster of KUBECONFIG, where Firesteel is
// deployed, and tells what is in there when the test fails.
package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
)

// RunTime bounds a real Spark run on a machine that does other things beside.
const RunTime = 6 * time.Minute

// interval is the time between two reads of what is waited for.
const interval = 250 * time.Millisecond

// Cluster is the cluster under test, and a namespace of the test's own in it.
type Cluster struct {
	Kube      kubernetes.Interface
	Spark     versioned.Interface
	Namespace string
}

// New makes a namespace in which drivers may run, and removes it after the test.
func New(t *testing.T) *Cluster {
	t.Helper()
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		t.Fatal("KUBECONFIG is not set: run make test-e2e or make e2e")
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	Must(t, err)
	kube, err := kubernetes.NewForConfig(config)
	Must(t, err)
	spark, err := versioned.NewForConfig(config)
	Must(t, err)
	namespace, err := kube.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "firesteel-e2e-"}}, metav1.CreateOptions{})
	Must(t, err)
	c := &Cluster{Kube: kube, Spark: spark, Namespace: namespace.Name}
	t.Cleanup(func() { c.remove(t) })
	c.Run(t, "", filepath.Join(repository(t), "hack", "namespace.sh"), c.Namespace)
	return c
}

// repository is the folder of the checkout.
func repository(t *testing.T) string {
	t.Helper()
	file, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	Must(t, err)
	return filepath.Dir(string(file))
}

// remove deletes the namespace and waits until it is gone, with all that was in it.
func (c *Cluster) remove(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	if t.Failed() {
		c.logState(ctx, t)
	}
	if err := c.Kube.CoreV1().Namespaces().Delete(ctx, c.Namespace, metav1.DeleteOptions{}); err != nil {
		t.Errorf("delete namespace: %v", err)
	}
	err := wait.PollUntilContextTimeout(ctx, interval, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := c.Kube.CoreV1().Namespaces().Get(ctx, c.Namespace, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	if err != nil {
		t.Errorf("namespace %s does not go", c.Namespace)
	}
}

// logState logs what may explain a failed test.
func (c *Cluster) logState(ctx context.Context, t *testing.T) {
	show := func(args ...string) {
		args = append([]string{"-n", c.Namespace}, args...)
		output, _ := exec.CommandContext(ctx, "kubectl", args...).CombinedOutput()
		t.Logf("kubectl %s\n%s", strings.Join(args, " "), output)
	}
	show("describe", "sparkapplications.spark.apache.org,sparkapplications.sparkoperator.k8s.io,"+
		"scheduledsparkapplications.firesteel.dev,scheduledsparkapplications.sparkoperator.k8s.io,sparkclusters,statefulsets,pods")
	show("get", "events,services,configmaps,persistentvolumeclaims")
	pods, err := c.Kube.CoreV1().Pods(c.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Logf("the pods cannot be listed: %v", err)
		return
	}
	for _, pod := range pods.Items {
		show("logs", "--all-containers", "--tail=150", pod.Name)
	}
}

// Apply has kubectl apply a manifest, strictly, as a user would.
func (c *Cluster) Apply(t *testing.T, path string) {
	t.Helper()
	manifest, err := os.ReadFile(path)
	Must(t, err)
	c.ApplyText(t, string(manifest))
}

// ApplyText is Apply of a text.
func (c *Cluster) ApplyText(t *testing.T, manifest string) {
	t.Helper()
	c.Run(t, manifest, "kubectl", "apply", "-n", c.Namespace, "--validate=strict", "-f", "-")
}

// Run runs a command and returns what it prints.
func (c *Cluster) Run(t *testing.T, input, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Stdin = strings.NewReader(input)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
	return string(output)
}

// ended reports whether an application has ended for good.
var ended = InState("ResourceReleased", "TerminatedWithoutReleaseResources")

// Await waits until an application is as it should be, or has ended otherwise.
func (c *Cluster) Await(t *testing.T, name, what string, is func(*sparkv1.SparkApplication) bool) *sparkv1.SparkApplication {
	t.Helper()
	app, itIs := await(t, is, ended, func(ctx context.Context) (*sparkv1.SparkApplication, error) {
		return c.Spark.SparkV1().SparkApplications(c.Namespace).Get(ctx, name, metav1.GetOptions{})
	})
	if !itIs {
		t.Fatalf("application %s never was %s; its state: %+v", name, what, app.Status.CurrentState)
	}
	return app
}

// await reads an application until a condition holds, or it has ended otherwise.
func await[A any](t *testing.T, is, ended func(A) bool, get func(context.Context) (A, error)) (app A, itIs bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), interval, RunTime, true, func(ctx context.Context) (bool, error) {
		var err error
		app, err = get(ctx)
		itIs = err == nil && is(app)
		return itIs || err == nil && ended(app), nil
	})
	return app, itIs && err == nil
}

// InState holds for an application that is in one of these states.
func InState(wanted ...string) func(*sparkv1.SparkApplication) bool {
	return func(app *sparkv1.SparkApplication) bool {
		return app.Status.CurrentState != nil && slices.Contains(wanted, app.Status.CurrentState.CurrentStateSummary)
	}
}

// AwaitPods waits until the pods that a selector selects are as they should be.
func (c *Cluster) AwaitPods(t *testing.T, selector, what string, are func([]corev1.Pod) bool) []corev1.Pod {
	t.Helper()
	var pods []corev1.Pod
	err := wait.PollUntilContextTimeout(t.Context(), interval, RunTime, true, func(ctx context.Context) (bool, error) {
		found, err := c.Kube.CoreV1().Pods(c.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return false, nil
		}
		pods = found.Items
		return are(pods), nil
	})
	if err != nil {
		t.Fatalf("the %d pods of %s never were %s", len(pods), selector, what)
	}
	return pods
}

// FollowLog reads a driver's log until it ends; the driver may be gone right afterwards.
func (c *Cluster) FollowLog(t *testing.T, pod string) <-chan string {
	t.Helper()
	log := make(chan string, 1)
	go func() {
		defer close(log)
		options := &corev1.PodLogOptions{Follow: true, Container: "spark-kubernetes-driver"}
		stream, err := c.Kube.CoreV1().Pods(c.Namespace).GetLogs(pod, options).Stream(t.Context())
		if err != nil {
			log <- fmt.Sprintf("no log of %s: %v", pod, err)
			return
		}
		defer stream.Close()
		var text bytes.Buffer
		_, _ = text.ReadFrom(stream)
		log <- text.String()
	}()
	return log
}

// PrintedEvents returns the events of an application as the print function printed them, in the order of their arrival.
func (c *Cluster) PrintedEvents(t *testing.T, name string) []string {
	t.Helper()
	printed := c.Run(t, "", "kubectl", "-n", "firesteel-system", "logs", "deployment/print", "--since=30m")
	var lines []string
	for line := range strings.Lines(printed) {
		if strings.Contains(line, fmt.Sprintf("  %s/%s  ", c.Namespace, name)) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// Must fails the test on an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
