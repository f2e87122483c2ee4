// Package uninstall installs and removes Firesteel in each way while applications run. In make e2e only upgrade comes after it, since
// others need the installation.
package uninstall

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
	"github.com/firesteel-dev/firesteel/test/harness/pages"
)

const (
	root   = "../../.."
	system = "firesteel-system"
	// patience bounds what is waited for, and each command.
	patience = 3 * time.Minute
	interval = 250 * time.Millisecond
)

// finalized are the objects that have a finalizer while a controller works, by their kinds.
var finalized = map[string]string{
	"sparkapplications.spark.apache.org":     "apache",
	"sparkapplications.sparkoperator.k8s.io": "kubeflow",
	"sparkclusters.spark.apache.org":         "cluster",
}

// env is a cluster in which applications run.
type env struct {
	*cluster.Cluster
	*testing.T
	// pods are those of the applications and of the cluster, with their uids.
	pods map[string]string
}

// run runs a command in the root of the repository, for patience at most.
func (e *env) run(variables []string, program string, args ...string) string {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.Dir, command.Env = root, append(os.Environ(), variables...)
	command.WaitDelay = time.Second
	began := time.Now()
	output, err := command.CombinedOutput()
	if err != nil {
		e.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, output)
	}
	e.Logf("%s %s: %.1f s", filepath.Base(program), strings.Join(args, " "), time.Since(began).Seconds())
	return string(output)
}

func (e *env) kubectl(args ...string) string {
	e.Helper()
	return e.run(nil, "kubectl", args...)
}

// until waits until a condition holds.
func (e *env) until(what string, holds func(context.Context) (bool, error)) {
	e.Helper()
	var last error
	err := wait.PollUntilContextTimeout(e.Context(), interval, patience, true, func(ctx context.Context) (bool, error) {
		var ok bool
		ok, last = holds(ctx)
		return ok && last == nil, nil
	})
	if err != nil {
		e.Fatalf("%s: %v (%v)", what, err, last)
	}
}

// object is what the tests read of an object.
type object struct {
	Metadata metav1.ObjectMeta
	Status   struct{ Firesteel map[string]any }
}

// objects returns the objects of a kind by their names.
func (e *env) objects(kind string) map[string]object {
	e.Helper()
	var list struct{ Items []object }
	text, err := exec.CommandContext(e.Context(), "kubectl", "-n", e.Namespace, "get", kind, "-o", "json").Output()
	cluster.Must(e.T, err)
	cluster.Must(e.T, json.Unmarshal(text, &list))
	found := map[string]object{}
	for _, o := range list.Items {
		found[o.Metadata.Name] = o
	}
	return found
}

// runningPods returns the uids of all Pods that run and are not executors.
func (e *env) runningPods() map[string]string {
	e.Helper()
	pods, err := e.Kube.CoreV1().Pods(e.Namespace).List(e.Context(), metav1.ListOptions{LabelSelector: "spark-role!=executor"})
	cluster.Must(e.T, err)
	running := map[string]string{}
	for _, pod := range pods.Items {
		if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			running[pod.Name] = string(pod.UID)
		}
	}
	return running
}

// served waits until a controller has taken up all objects.
func (e *env) served() {
	e.Helper()
	e.until("all objects have a finalizer", func(context.Context) (bool, error) {
		for kind, name := range finalized {
			if o, ok := e.objects(kind)[name]; ok && len(o.Metadata.Finalizers) != 1 {
				return false, fmt.Errorf("%s has the finalizers %v", name, o.Metadata.Finalizers)
			}
		}
		return true, nil
	})
}

// goesOn checks that Firesteel is gone and that all Pods and objects of users are there.
func (e *env) goesOn() {
	e.Helper()
	_, err := e.Kube.AppsV1().Deployments(system).Get(e.Context(), "controller", metav1.GetOptions{})
	if err == nil {
		e.Error("the controller is still deployed")
	}
	if pods := e.runningPods(); !maps.Equal(pods, e.pods) {
		e.Errorf("the Pods %v run, want %v", pods, e.pods)
	}
	for kind, name := range finalized {
		o, ok := e.objects(kind)[name]
		if !ok || o.Status.Firesteel == nil {
			e.Errorf("%s: the object is there: %t, its record: %v", name, ok, o.Status.Firesteel)
		}
	}
	if _, ok := e.objects("scheduledsparkapplications.firesteel.dev")["nightly"]; !ok {
		e.Error("the schedule is gone")
	}
}

// released checks that no object has a finalizer.
func (e *env) released() {
	e.Helper()
	for kind := range finalized {
		for name, o := range e.objects(kind) {
			if len(o.Metadata.Finalizers) > 0 {
				e.Errorf("%s has the finalizers %v", name, o.Metadata.Finalizers)
			}
		}
	}
}

// images builds images and returns their references by the names of their programs.
func (e *env) images(programs ...string) map[string]string {
	e.Helper()
	var list strings.Builder
	for _, program := range programs {
		fmt.Fprintf(&list, "%s: ko://github.com/firesteel-dev/firesteel/cmd/%[1]s\n", program)
	}
	file := filepath.Join(e.TempDir(), "images.yaml")
	cluster.Must(e.T, os.WriteFile(file, []byte(list.String()), 0o600))
	text, err := exec.CommandContext(e.Context(), root+"/hack/images.sh", file).Output()
	cluster.Must(e.T, err)
	references := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, reference, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			references[name] = reference
		}
	}
	return references
}

// helm builds Helm from its Go module, and returns a function that runs it.
func (e *env) helm() func(args ...string) string {
	e.Helper()
	dir := e.TempDir()
	program := filepath.Join(dir, "helm")
	e.Cluster.Run(e.T, "", "go", "-C", root+"/test/install", "build", "-o", program, "helm.sh/helm/v3/cmd/helm")
	variables := []string{"HELM_CACHE_HOME=" + dir, "HELM_CONFIG_HOME=" + dir, "HELM_DATA_HOME=" + dir}
	return func(args ...string) string {
		e.Helper()
		return e.run(variables, program, append(args, "--namespace", system)...)
	}
}

func (e *env) makeUninstall(args ...string) {
	e.Helper()
	e.run(nil, "make", append([]string{"uninstall", "CLUSTER=existing"}, args...)...)
}

func TestUninstallLeavesApplicationsRunning(t *testing.T) {
	e := &env{Cluster: cluster.New(t), T: t}
	line, err := pages.Command(root+"/docs/operators/uninstall.md", "for kind in ")
	cluster.Must(t, err)
	t.Cleanup(func() { // before the namespace is removed, should the test fail
		_ = exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-c", line).Run()
	})
	e.Apply(t, "testdata/running.yaml")
	e.Apply(t, root+"/examples/cluster.yaml")
	e.Apply(t, root+"/examples/nightly.yaml")
	helm, images := e.helm(), e.images("controller", "setup")
	e.Await(t, "apache", "running", cluster.InState("RunningHealthy"))
	e.AwaitKubeflow(t, "kubeflow", "running", cluster.InKubeflowState(v1beta2.RunningState))
	e.until("the cluster runs", func(context.Context) (bool, error) { e.pods = e.runningPods(); return len(e.pods) == 5, nil })
	e.served()

	// Twice: the second finds nothing to do.
	e.makeUninstall()
	e.goesOn()
	e.released()
	e.makeUninstall()
	e.replacesExecutor()

	helm("install", "firesteel", "charts/firesteel", "--create-namespace", "--take-ownership", "--wait",
		"--set", "image.repository="+images["controller"], "--set", "hook.image.repository="+images["setup"])
	e.served()
	helm("uninstall", "firesteel", "--wait")
	e.goesOn()
	e.released()

	e.plainDelete(line)

	e.run(nil, "hack/deploy.sh")
	e.served()
	e.goesWithItsCRDs()
}

// replacesExecutor deletes the executor, and waits until the driver has another: it still has the rights for that.
func (e *env) replacesExecutor() {
	e.Helper()
	const executors = "spark-role=executor,spark.operator/spark-app-name=apache"
	before := e.AwaitPods(e.T, executors, "running", func(pods []corev1.Pod) bool { return len(pods) == 1 })
	e.kubectl("-n", e.Namespace, "delete", "pod", "--now", before[0].Name)
	e.AwaitPods(e.T, executors, "replaced", func(pods []corev1.Pod) bool {
		return slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.UID != before[0].UID && pod.Status.Phase == corev1.PodRunning })
	})
}

// plainDelete applies and deletes the manifests of a release's firesteel.yaml. Without a controller, a deletion waits for the line of
// the page.
func (e *env) plainDelete(line string) {
	e.Helper()
	var files []string
	for _, pattern := range []string{"100-*", "20[01]-*", "4*", "5*"} {
		found, err := filepath.Glob(root + "/config/" + pattern + ".yaml")
		cluster.Must(e.T, err)
		for _, file := range found {
			files = append(files, strings.TrimPrefix(file, root+"/"))
		}
	}
	command := exec.CommandContext(e.Context(), "hack/images.sh", files...)
	command.Dir = root
	text, err := command.Output()
	cluster.Must(e.T, err)
	manifest := filepath.Join(e.TempDir(), "firesteel.yaml")
	cluster.Must(e.T, os.WriteFile(manifest, text, 0o600))
	e.kubectl("apply", "--server-side", "-f", manifest)
	e.kubectl("-n", system, "rollout", "status", "deployment/controller", "--timeout=60s")
	e.served()

	e.kubectl("delete", "-f", manifest)
	e.goesOn()
	e.kubectl("-n", e.Namespace, "delete", "sparkapplications.sparkoperator.k8s.io", "kubeflow", "--wait=false")
	if o := e.objects("sparkapplications.sparkoperator.k8s.io")["kubeflow"]; o.Metadata.DeletionTimestamp == nil || len(o.Metadata.Finalizers) == 0 {
		e.Errorf("without a controller, the finalizers of a deleted application are %v", o.Metadata.Finalizers)
	}
	e.run(nil, "bash", "-euo", "pipefail", "-c", line)
	e.released()
	delete(e.pods, "kubeflow-driver")
	e.until("only the deleted application's driver is gone", func(context.Context) (bool, error) { return maps.Equal(e.runningPods(), e.pods), nil })
}

// goesWithItsCRDs deletes the CRDs by name, and with them what is left. It does not do so in a cluster of others.
func (e *env) goesWithItsCRDs() {
	e.Helper()
	if os.Getenv("CLUSTER") == "existing" {
		e.makeUninstall()
		e.released()
		return
	}
	e.makeUninstall("CRDS=yes")
	if crds := e.kubectl("get", "crd", "-l", "app.kubernetes.io/part-of=firesteel", "-o", "name"); crds != "" {
		e.Errorf("the CRDs %s are left", crds)
	}
	e.until("all Pods are gone", func(context.Context) (bool, error) { return len(e.runningPods()) == 0, nil })
	e.makeUninstall()
}
