package see

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/cli/connection"
	"github.com/firesteel-dev/firesteel/test/harness/fakeclient"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// env is a cluster of fakes, and what a command printed.
type env struct {
	dynamic *dynamicfake.FakeDynamicClient
	kube    *kubefake.Clientset
	out     buffer
	errOut  buffer
	options *cli.Options
}

// buffer is written and read by several goroutines.
type buffer struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.text.String()
}

// newEnv returns a cluster with objects. Manifests are texts, in YAML.
func newEnv(t testing.TB, manifests []string, kubernetes ...runtime.Object) *env {
	t.Helper()
	var objects []runtime.Object
	for _, manifest := range manifests {
		objects = append(objects, fakeclient.Decode(t, manifest))
	}
	e := &env{
		dynamic: fakeclient.NewDynamic(map[schema.GroupVersionResource]string{podMetrics: "PodMetricsList"}, objects...),
		kube:    kubefake.NewClientset(kubernetes...),
	}
	e.options = cli.NewOptions(cli.Plugin, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &e.out, ErrOut: &e.errOut})
	e.options.Now = func() time.Time { return now }
	return e
}

// run runs a command line and returns its exit code.
func (e *env) run(ctx context.Context, line string) int {
	return e.runWith(ctx, line, &cluster{&connection.Cluster{Dynamic: e.dynamic, Kube: e.kube, Namespace: "reports"}})
}

// runWith is run with other clients.
func (e *env) runWith(ctx context.Context, line string, c *cluster) int {
	root := &cobra.Command{Use: cli.Plugin, Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl spark"}}
	root.AddCommand(commands(&verbs{Options: e.options, connect: func() (*cluster, error) { return c, nil }})...)
	return e.options.Run(ctx, root, strings.Fields(line))
}

// golden runs a command line that succeeds, and compares what it prints with a file.
func (e *env) golden(t *testing.T, file, line string) {
	t.Helper()
	if code := e.run(t.Context(), line); code != 0 {
		t.Fatalf("%s: exit code %d: %s", line, code, e.errOut.String())
	}
	golden.Want(t, "testdata/"+file+".golden", e.out.String())
}

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	const patience = 2 * time.Minute
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		select {
		case <-tick.C:
			if holds() {
				return
			}
		case <-deadline.C:
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// watches reports whether a resource of a fake is watched. A fake shows a watch nothing of what was before it.
func watches(fake *clienttesting.Fake, resource schema.GroupVersionResource) bool {
	return slices.ContainsFunc(fake.Actions(), func(action clienttesting.Action) bool {
		return action.GetVerb() == "watch" && action.GetResource() == resource
	})
}

const failed = `
apiVersion: spark.apache.org/v1
kind: SparkApplication
metadata: {namespace: reports, name: etl, uid: u-etl, creationTimestamp: "2026-01-01T11:50:00Z", labels: {team: a}}
spec:
  runtimeVersions: {sparkVersion: 4.0.1}
  mainClass: com.example.Etl
  sparkConf: {spark.kubernetes.container.image: spark, spark.driver.memory: 2g, spark.my.password: hunter2-4711}
status:
  currentState: {currentStateSummary: TerminatedWithoutReleaseResources, lastTransitionTime: "2026-01-01T11:56:00Z"}
  currentAttemptSummary: {attemptInfo: {id: 1}}
  conditions:
  - {type: Succeeded, status: "False", reason: OOMKilled, lastTransitionTime: "2026-01-01T11:56:00Z", message: "Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 137 (OOMKilled). It used more memory than its limit: raise spark.driver.memoryOverhead, or spark.driver.memory."}
  firesteel:
    attempt: {id: 1, since: "2026-01-01T11:52:00.000000Z"}
    launch: {id: l1, driverPod: etl-1-driver, driverUID: d1, applicationID: etl-1}
    sequence: 6
    acknowledged: 6
    transitions:
    - {sequence: 1, time: "2026-01-01T11:50:01.000000Z", attempt: 0, state: Submitted, message: Created.}
    - {sequence: 2, time: "2026-01-01T11:50:02.000000Z", attempt: 0, state: DriverRequested, driverPod: etl-0-driver, applicationID: etl-0}
    - {sequence: 3, time: "2026-01-01T11:51:00.000000Z", attempt: 0, state: Failed, driverPod: etl-0-driver, applicationID: etl-0, end: {outcome: Failed, restartAllowed: true, class: application, exitCode: 1, reason: Error, message: "It exited with code 1 (Error)."}}
    - {sequence: 4, time: "2026-01-01T11:52:00.000000Z", attempt: 1, state: ScheduledToRestart}
    - {sequence: 5, time: "2026-01-01T11:55:00.000000Z", attempt: 1, state: Failed, driverPod: etl-1-driver, applicationID: etl-1, end: {outcome: Failed, class: application, exitCode: 137, reason: OOMKilled, message: "Driver has one or more failed critical container(s): spark-kubernetes-driver exited with code 137 (OOMKilled). It used more memory than its limit: raise spark.driver.memoryOverhead, or spark.driver.memory."}}
    - {sequence: 6, time: "2026-01-01T11:56:00.000000Z", attempt: 1, state: TerminatedWithoutReleaseResources, driverPod: etl-1-driver, outcome: Failed}
`

// ofKubeflow is an application that the Kubeflow operator runs.
const ofKubeflow = `
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  namespace: reports
  name: daily
  uid: u-daily
  creationTimestamp: "2026-01-01T11:00:00Z"
  managedFields: [{manager: spark-operator, operation: Update, subresource: status, time: "2026-01-01T11:01:00Z"}]
spec:
  type: Python
  mode: cluster
  image: spark
  mainApplicationFile: local:///app/daily.py
  driver: {memory: 1g}
  executor: {instances: 2, memory: 2g}
status:
  applicationState: {state: RUNNING}
  driverInfo: {podName: daily-driver}
  sparkApplicationId: spark-daily
  executionAttempts: 1
  submissionAttempts: 1
  executorState: {daily-exec-1: RUNNING, daily-exec-2: PENDING}
`

const cluster1 = `
apiVersion: spark.apache.org/v1
kind: SparkCluster
metadata: {namespace: reports, name: shared, uid: u-shared, creationTimestamp: "2026-01-01T10:00:00Z"}
spec:
  runtimeVersions: {sparkVersion: 4.0.1}
  clusterTolerations: {instanceConfig: {initWorkers: 2, minWorkers: 2, maxWorkers: 2}}
status:
  currentState: {currentStateSummary: RunningHealthy}
  workers: {replicas: 2, registered: 1}
  conditions: [{type: Ready, status: "False", reason: TooFewWorkers, lastTransitionTime: "2026-01-01T11:58:00Z", message: "Too few workers are registered with the master; needed are 2."}]
`

const schedule1 = `
apiVersion: firesteel.dev/v1alpha1
kind: ScheduledSparkApplication
metadata: {namespace: other, name: nightly, uid: u-nightly, creationTimestamp: "2025-12-01T10:00:00Z"}
spec: {schedule: "0 3 * * *", template: {spec: {}}}
status:
  scheduleState: Scheduled
  conditions: [{type: Scheduled, status: "False", reason: Suspended, lastTransitionTime: "2026-01-01T11:58:00Z", message: "No run starts while spec.suspend is true. To start runs, set it to false."}]
`

func driverPod(name, uid, app string, change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "reports", Name: name, UID: apitypes.UID(uid), CreationTimestamp: metav1.NewTime(now.Add(-8 * time.Minute)),
			Labels: map[string]string{"spark-role": "driver", "spark-app-selector": app, "spark.operator/spark-app-name": "etl"},
		},
		Spec: corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{
			Name: "spark-kubernetes-driver",
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}, Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2432Mi")},
			},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	change(pod)
	return pod
}

func executorPod(name, id string, change func(*corev1.Pod)) *corev1.Pod {
	return driverPod(name, name, "spark-daily", func(pod *corev1.Pod) {
		pod.Labels = map[string]string{
			"spark-role": "executor", "spark-app-selector": "spark-daily", "spark-exec-id": id, "sparkoperator.k8s.io/app-name": "daily",
		}
		pod.Spec.Containers[0].Name = "spark-kubernetes-executor"
		change(pod)
	})
}

func ready(pod *corev1.Pod) {
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(-time.Minute))}},
	}}
}

func killed(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodFailed
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}},
	}}
}

func unscheduled(pod *corev1.Pod) {
	pod.Spec.NodeName, pod.Status.Phase = "", corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/1 nodes are available: 1 Insufficient memory.",
	}}
}

// full is a cluster with an object of each kind.
func full(t testing.TB) *env {
	daily := driverPod("daily-driver", "d-daily", "spark-daily", func(pod *corev1.Pod) {
		pod.Labels = map[string]string{"spark-role": "driver", "spark-app-selector": "spark-daily", "sparkoperator.k8s.io/app-name": "daily"}
		ready(pod)
	})
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "reports", Name: "e1", UID: "e1", ResourceVersion: "1"}, Type: "Warning", Reason: "FailedScheduling", Count: 3,
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "daily-exec-2", UID: "daily-exec-2"}, Message: "0/1 nodes are available: 1 Insufficient memory.",
		LastTimestamp: metav1.NewTime(now.Add(-10 * time.Second)),
	}
	theirs := event.DeepCopy()
	theirs.Name, theirs.UID, theirs.InvolvedObject = "e2", "e2", corev1.ObjectReference{Kind: "Pod", Name: "another", UID: "another"}
	return newEnv(t, []string{failed, ofKubeflow, cluster1, schedule1},
		driverPod("etl-1-driver", "d1", "etl-1", killed), daily, executorPod("daily-exec-1", "1", ready), executorPod("daily-exec-2", "2", unscheduled), event, theirs)
}

func TestListShowsAllKindsInOneTable(t *testing.T) {
	full(t).golden(t, "list-all", "list -A")
	full(t).golden(t, "list-wide", "list -o wide")
	full(t).golden(t, "list-sorted", "list -A --sort-by age --no-headers")
	full(t).golden(t, "list-failed", "list --state failed")
	full(t).golden(t, "list-selected", "list -l team=a")
	full(t).golden(t, "list-names", "list -A -o name")
}

func TestListSaysWhereNothingIs(t *testing.T) {
	e := newEnv(t, nil)
	if code := e.run(t.Context(), "list"); code != 0 || e.errOut.String() != "Nothing found in the namespace reports.\n" || e.out.String() != "" {
		t.Errorf("exit code %d: %s%s", code, e.out.String(), e.errOut.String())
	}
}

func TestListCountsReadyExecutorsOfWhatRuns(t *testing.T) {
	running := strings.NewReplacer("TerminatedWithoutReleaseResources", "RunningHealthy", ", outcome: Failed}\n", "}\n",
		", end: {outcome: Failed, class: application", ", end: {outcome: Failed, restartAllowed: true, class: application").Replace(failed)
	executor := func(name string, change func(*corev1.Pod)) *corev1.Pod {
		return executorPod(name, "1", func(pod *corev1.Pod) {
			pod.Labels = map[string]string{"spark-role": "executor", "spark.operator/spark-app-name": "etl"}
			change(pod)
		})
	}
	e := newEnv(t, []string{running}, executor("etl-exec-1", ready), executor("etl-exec-2", ready), executor("etl-exec-3", unscheduled))
	e.golden(t, "list-executors", "list")
}

func TestListGoesOnWithChanges(t *testing.T) {
	e := newEnv(t, []string{failed})
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int)
	go func() { code <- e.run(ctx, "list -w") }()
	resource := actions.Kinds[0].WithVersion("v1")
	eventually(t, "the first line is printed, and changes are watched", func() bool { return strings.Contains(e.out.String(), "etl") && watches(&e.dynamic.Fake, resource) })
	applications := e.dynamic.Resource(resource).Namespace("reports")
	app := fakeclient.Decode(t, strings.ReplaceAll(failed, "name: etl", "name: second"))
	if _, err := applications.Create(t.Context(), app, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := applications.Delete(t.Context(), "second", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both changes are printed", func() bool {
		return strings.Contains(e.out.String(), "second") && strings.Contains(e.out.String(), "Deleted")
	})
	stop()
	if got := <-code; got != 0 {
		t.Errorf("exit code %d: %s", got, e.errOut.String())
	}
}

// After a watch that is too old the list is read anew. No watch tells what was deleted meanwhile.
func TestListPrintsWhatChangedWhileItsWatchWasBroken(t *testing.T) {
	app := func(name, version string) *unstructured.Unstructured {
		o := fakeclient.Decode(t, strings.ReplaceAll(failed, "name: etl", "name: "+name))
		o.SetUID(apitypes.UID(name))
		o.SetResourceVersion(version)
		return o
	}
	e := newEnv(t, nil)
	resource := actions.Kinds[0].WithVersion("v1")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	must(e.dynamic.Tracker().Create(resource, app("etl", "7"), "reports"))
	must(e.dynamic.Tracker().Create(resource, app("old", "6"), "reports"))
	begun := 0
	e.dynamic.PrependWatchReactor("sparkapplications", func(action clienttesting.Action) (bool, watch.Interface, error) {
		if action.GetResource().Group != "spark.apache.org" {
			return false, nil, nil
		}
		w := watch.NewFakeWithChanSize(2, false)
		if begun++; begun == 1 {
			must(e.dynamic.Tracker().Delete(resource, "reports", "old"))
			must(e.dynamic.Tracker().Create(resource, app("second", "8"), "reports"))
			w.Error(&apierrors.NewResourceExpired("too old").ErrStatus)
		} else {
			w.Add(app("second", "8"))
			w.Add(app("third", "9"))
		}
		return true, w, nil
	})
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int)
	go func() { code <- e.run(ctx, "list -w") }()
	eventually(t, "the last object is printed", func() bool { return strings.Contains(e.out.String(), "third") })
	stop()
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
	golden.Want(t, "testdata/list-watch.golden", e.out.String())
}

// An API server that has many applications: the second page comes only after lines of the first are printed.
func TestListPrintsTheFirstPageBeforeItReadsTheNext(t *testing.T) {
	e := newEnv(t, nil)
	pages := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/apis/spark.apache.org/v1/namespaces/reports/sparkapplications" {
			http.NotFound(w, r)
			return
		}
		if r.URL.Query().Get("limit") != "2" {
			t.Errorf("the limit is %s", r.URL.RawQuery)
		}
		if pages++; pages == 2 {
			eventually(t, "the first page is printed", func() bool { return strings.Contains(e.out.String(), "app-1b") })
		}
		next := map[int]string{1: "x"}[pages]
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"apiVersion":"spark.apache.org/v1","kind":"SparkApplicationList","metadata":{"continue":%q,"resourceVersion":"1"},"items":[%s,%s]}`, next,
			fmt.Sprintf(`{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication","metadata":{"namespace":"reports","name":"app-%da"}}`, pages),
			fmt.Sprintf(`{"apiVersion":"spark.apache.org/v1","kind":"SparkApplication","metadata":{"namespace":"reports","name":"app-%db"}}`, pages))
	}))
	defer server.Close()
	client, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if code := e.runWith(t.Context(), "list --chunk-size 2", &cluster{&connection.Cluster{Dynamic: client, Kube: e.kube, Namespace: "reports"}}); code != 0 {
		t.Errorf("exit code %d: %s", code, e.errOut.String())
	}
	if lines := strings.Count(e.out.String(), "\n"); pages != 2 || lines != 5 {
		t.Errorf("%d pages have become %d lines:\n%s", pages, lines, e.out.String())
	}
}

func TestGetIsOneScreen(t *testing.T) {
	for file, line := range map[string]string{
		"get-failed": "get etl", "get-kubeflow": "get daily", "get-cluster": "get cluster/shared", "get-yaml": "get etl -o jsonpath={.metadata.name}",
	} {
		full(t).golden(t, file, line)
	}
}

func TestGetShowsADriverWhoseLabelsWereRemoved(t *testing.T) {
	for uid, want := range map[string]string{"d1": "etl-1-driver  Failed (exit code 137, OOMKilled)", "another": "etl-1-driver, which is gone"} {
		e := newEnv(t, []string{failed}, driverPod("etl-1-driver", uid, "etl-1", func(pod *corev1.Pod) {
			killed(pod)
			pod.Labels = nil
		}))
		if code := e.run(t.Context(), "get etl"); code != 0 || !strings.Contains(e.out.String(), want) {
			t.Errorf("%s: exit code %d, %s, want %s:\n%s", uid, code, e.errOut.String(), want, e.out.String())
		}
	}
}

func TestWhySaysWhatToDo(t *testing.T) {
	for file, line := range map[string]string{
		"why-failed": "why etl", "why-kubeflow": "why daily", "why-cluster": "why shared", "why-json": "why sparkapp.spark.apache.org/etl -o json",
	} {
		full(t).golden(t, file, line)
	}
}

func TestWhyExplainsWithoutTheRightToReadPods(t *testing.T) {
	e := full(t)
	e.kube.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("pods"), "", fmt.Errorf("no"))
	})
	e.golden(t, "why-forbidden", "why etl")
	if !strings.Contains(e.errOut.String(), "Warning: the Pods cannot be read") {
		t.Errorf("it says %q", e.errOut.String())
	}
}

func TestEventsAreTransitionsAndKubernetesEvents(t *testing.T) {
	full(t).golden(t, "events", "events etl")
	full(t).golden(t, "events-kubeflow", "events daily")
}

func TestEventsGoOn(t *testing.T) {
	e := full(t)
	code := make(chan int)
	go func() { code <- e.run(t.Context(), "events daily -f") }()
	resource := actions.Kinds[1].WithVersion("v1beta2")
	eventually(t, "the first lines are printed, and changes are watched", func() bool {
		return strings.Contains(e.out.String(), "FailedScheduling") && watches(&e.kube.Fake, corev1.SchemeGroupVersion.WithResource("events")) && watches(&e.dynamic.Fake, resource)
	})
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "reports", Name: "n", UID: "n"}, Reason: "Killing", Message: "Stopping container",
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "daily-driver"},
	}
	if _, err := e.kube.CoreV1().Events("reports").Create(t.Context(), event, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an Event is printed", func() bool { return strings.Contains(e.out.String(), "Killing") })
	if err := e.dynamic.Resource(resource).Namespace("reports").Delete(t.Context(), "daily", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := <-code; got != 0 {
		t.Errorf("exit code %d: %s", got, e.errOut.String())
	}
}

func TestLogsAreThoseOfTheDriverOrOfExecutors(t *testing.T) {
	for line, want := range map[string]string{
		"logs etl":             "fake logs",
		"logs daily -e 1":      "fake logs",
		"logs daily --all":     "[driver] fake logs\n[exec-1] fake logs\n",
		"logs etl --attempt 1": "fake logs",
	} {
		e := full(t)
		if code := e.run(t.Context(), line); code != 0 || e.out.String() != want {
			t.Errorf("%s: exit code %d, %q, %s", line, code, e.out.String(), e.errOut.String())
		}
	}
}

// daemonPod is a Pod of the cluster "shared".
func daemonPod(role, ordinal string) *corev1.Pod {
	name := "shared-" + role + "-" + ordinal
	return driverPod(name, name, "", func(pod *corev1.Pod) {
		pod.Labels = map[string]string{"spark-role": role, "spark.operator/spark-cluster-name": "shared"}
		pod.Spec.Containers[0].Name = role
		ready(pod)
	})
}

func TestLogsOfAClusterAreThoseOfItsMasterOrOfWorkers(t *testing.T) {
	for line, want := range map[string]string{
		"logs cluster/shared":                "fake logs",
		"logs sparkcluster/shared -e 1":      "fake logs",
		"logs cluster/shared --all":          "[master] fake logs\n[worker-0] fake logs\n[worker-1] fake logs\n",
		"logs cluster/shared -e 0 -c worker": "fake logs",
	} {
		e := newEnv(t, []string{cluster1}, daemonPod("worker", "1"), daemonPod("worker", "0"), daemonPod("master", "0"))
		if code := e.run(t.Context(), line); code != 0 || e.out.String() != want {
			t.Errorf("%s: exit code %d, %q, %s", line, code, e.out.String(), e.errOut.String())
		}
		for _, action := range e.kube.Actions() {
			if read, ok := action.(clienttesting.GenericAction); ok && action.GetSubresource() == "log" && strings.Contains(line, "-e") {
				if container := read.GetValue().(*corev1.PodLogOptions).Container; container != "worker" {
					t.Errorf("%s: it reads the container %s", line, container)
				}
			}
		}
	}
}

func TestLogsFollowAcrossRestarts(t *testing.T) {
	first := strings.NewReplacer("TerminatedWithoutReleaseResources", "DriverReady", "id: 1, since", "id: 0, since", "etl-1", "etl-0", "d1", "d0").Replace(failed)
	first, _, _ = strings.Cut(first, "    - {sequence: 3")
	e := newEnv(t, []string{first})
	code := make(chan int)
	go func() { code <- e.run(t.Context(), "logs etl -f") }()
	eventually(t, "it waits for the driver", func() bool { return strings.Contains(e.errOut.String(), "Waiting for a log of etl") })
	eventually(t, "the application and its Pods are watched", func() bool { return watches(&e.dynamic.Fake, actions.Kinds[0].WithVersion("v1")) && watchedPods(e) })
	create := func(pod *corev1.Pod) {
		t.Helper()
		if _, err := e.kube.CoreV1().Pods("reports").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	create(driverPod("etl-0-driver", "d0", "etl-0", killed))
	eventually(t, "the first log is printed", func() bool { return strings.Contains(e.errOut.String(), "Log of Pod etl-0-driver, attempt 0") })
	create(driverPod("etl-1-driver", "d1", "etl-1", killed))
	if _, err := e.dynamic.Resource(actions.Kinds[0].WithVersion("v1")).Namespace("reports").Update(t.Context(), fakeclient.Decode(t, failed), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := <-code; got != 3 {
		t.Errorf("exit code %d, want 3: %s", got, e.errOut.String())
	}
	if got := e.out.String(); got != "fake logsfake logs" {
		t.Errorf("it prints %q", got)
	}
	if !strings.Contains(e.errOut.String(), "Log of Pod etl-1-driver, attempt 1") || !strings.Contains(e.errOut.String(), "etl failed") {
		t.Errorf("it says %s", e.errOut.String())
	}
}

func TestTopShowsWhatPodsUse(t *testing.T) {
	metrics := func(name, cpu, memory string) string {
		return fmt.Sprintf(`{apiVersion: metrics.k8s.io/v1beta1, kind: PodMetrics, metadata: {namespace: reports, name: %s, labels: {sparkoperator.k8s.io/app-name: daily}},
			containers: [{name: a, usage: {cpu: %s, memory: %s}}]}`, name, cpu, memory)
	}
	e := full(t)
	for _, m := range []string{metrics("daily-driver", "250m", "1216Mi"), metrics("daily-exec-1", "900m", "2Gi")} {
		if err := e.dynamic.Tracker().Create(podMetrics, fakeclient.Decode(t, m), "reports"); err != nil {
			t.Fatal(err)
		}
	}
	e.golden(t, "top", "top daily --sort-by memory")
}

func TestTopSaysThatNothingWasMeasuredYet(t *testing.T) {
	e := full(t)
	if code := e.run(t.Context(), "top daily"); code != 0 || !strings.Contains(e.errOut.String(), "nothing was measured of its Pods yet") {
		t.Errorf("exit code %d: %s", code, e.errOut.String())
	}
}

func TestEachErrorIsOneLineWithTheRemedy(t *testing.T) {
	notServed := func(e *env) {
		e.dynamic.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "", "404 page not found", 0, true)
		})
	}
	twice := func(e *env) {
		other := strings.ReplaceAll(ofKubeflow, "daily", "etl")
		if err := e.dynamic.Tracker().Create(actions.Kinds[1].WithVersion("v1beta2"), fakeclient.Decode(t, other), "reports"); err != nil {
			t.Fatal(err)
		}
	}
	forbidden := func(e *env) {
		e.dynamic.PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "sparkapplications"}, "etl", fmt.Errorf("no"))
		})
	}
	nothing := func(*env) {}
	for _, test := range []struct {
		line  string
		given func(*env)
		code  int
		says  string
	}{
		{"get nothing", nothing, 1, `there is no application, cluster or schedule "nothing" in the namespace reports: kubectl spark list -A shows what there is`},
		{"logs nothing", nothing, 1, `there is no application "nothing" in the namespace reports: kubectl spark list -A shows what there is`},
		{"why", nothing, 2, "the name of the application is missing (kubectl spark why --help shows the usage)"},
		{"why a b", nothing, 2, "one application is expected, and a, b are given (kubectl spark why --help shows the usage)"},
		{"why etl", twice, 2, `"etl" is the name of 2 objects: write one of sparkapplications.spark.apache.org/etl, sparkapplications.sparkoperator.k8s.io/etl (kubectl spark why --help shows the usage)`},
		{"why pod/etl", nothing, 2, `"pod" is no kind that this command knows: write one of sparkapplications.spark.apache.org, sparkapplications.sparkoperator.k8s.io, ` +
			`sparkapplications.spark-operator.k8s.io, sparkclusters.spark.apache.org, scheduledsparkapplications.firesteel.dev, ` +
			`scheduledsparkapplications.sparkoperator.k8s.io (kubectl spark why --help shows the usage)`},
		{"why a/b/c", nothing, 2, `"a/b/c" is no name: write NAME or KIND/NAME, such as sparkapp.spark.apache.org/etl (kubectl spark why --help shows the usage)`},
		{"get etl", notServed, 1, "this cluster has none of the CustomResourceDefinitions of Spark applications: apply them, or choose another --context"},
		{"list", notServed, 1, "this cluster has none of the CustomResourceDefinitions of Spark applications: apply them, or choose another --context"},
		{"get etl", forbidden, 1, `sparkapplications "etl" is forbidden: no: ask for the right, or choose another user by --context, --user or --as`},
		{"list", forbidden, 1, `sparkapplications "etl" is forbidden: no: ask for the right, or choose another user by --context, --user or --as`},
		{"list --sort-by size", nothing, 2, "--sort-by size is unknown: write name, age, state, attempt or executor (kubectl spark list --help shows the usage)"},
		{"list --state runing", nothing, 2, `--state "runing" is no state: did you mean running? (kubectl spark list --help shows the usage)`},
		{"list --state foo", nothing, 2, `--state "foo" is no state: write one of waiting, running, succeeded, failed, New, Submitted, ScheduledToRestart, DriverRequested, DriverStarted, ` +
			`DriverReady, InitializedBelowThresholdExecutors, RunningHealthy, RunningWithPartialCapacity, RunningWithBelowThresholdExecutors, DriverStartTimedOut, ExecutorsStartTimedOut, ` +
			`DriverReadyTimedOut, SchedulingFailure, DriverEvicted, ResourceReleased, TerminatedWithoutReleaseResources, Suspending, Suspended, Resuming, Invalidating, Unknown, ` +
			`PENDING_RERUN, SUCCEEDING, COMPLETED, FAILING, SUBMISSION_FAILED, Degraded, Scheduled, FailedValidation (kubectl spark list --help shows the usage)`},
		{"list -w -o json", nothing, 2, "-w prints a table, and no -o json: leave one of them out (kubectl spark list --help shows the usage)"},
		{"list -w --sort-by age", nothing, 2, "-w prints changes as they come, and cannot sort them: leave --sort-by out (kubectl spark list --help shows the usage)"},
		{"list --chunk-size -1", nothing, 2, "--chunk-size -1 is below 0: write how many objects are read at once, or 0 for all (kubectl spark list --help shows the usage)"},
		{"list extra", nothing, 2, `"extra" is not expected: only flags are (kubectl spark list --help shows the usage)`},
		{"logs etl -e 1 --all", nothing, 2, "-e is for one executor and --all for all Pods: leave one of them out (kubectl spark logs --help shows the usage)"},
		{"logs etl --attempt -1", nothing, 2, "--attempt -1 is below 0: write the number of an attempt, from 0 on (kubectl spark logs --help shows the usage)"},
		{"logs etl --since -1m", nothing, 2, "--since -1m0s is in the future: write a duration such as 5m (kubectl spark logs --help shows the usage)"},
		{"logs etl --attempt 7", nothing, 1, "nothing is known of attempt 7 of etl: kubectl spark get etl lists the attempts"},
		{"logs etl --attempt 0", nothing, 1, "the driver Pod etl-0-driver of attempt 0 is gone, and its log with it: kubectl spark why etl shows what is left of it"},
		{"logs etl -e 1", nothing, 1, "etl has no executors whose Pods are there: Spark deletes those that end, unless spark.kubernetes.executor.deleteOnTermination is false"},
		{"logs daily -e 9", nothing, 1, "daily has no executor 9: it has 1, 2"},
		{"logs cluster/shared", nothing, 1, "cluster/shared has no Pod of its master (RunningHealthy): -f waits for it"},
		{"logs cluster/shared -e 7", nothing, 1, "cluster/shared has no Pod of a worker 7: kubectl get pods -l spark.operator/spark-cluster-name=shared shows what there is"},
		{"logs cluster/shared --attempt 0", nothing, 2, "--attempt is for applications, and cluster/shared is a cluster: leave it out (kubectl spark logs --help shows the usage)"},
		{"logs schedule/nightly", nothing, 2, `"schedule" is no kind that this command knows: write one of sparkapplications.spark.apache.org, sparkapplications.sparkoperator.k8s.io, ` +
			`sparkapplications.spark-operator.k8s.io (kubectl spark logs --help shows the usage)`},
		{"ui etl", nothing, 1, "the driver Pod etl-1-driver does not run (Failed): kubectl spark why etl says why"},
		{"ui etl --port 70000", nothing, 2, "--port 70000 is no port: write a number up to 65535 (kubectl spark ui --help shows the usage)"},
		{"top etl --sort-by age", nothing, 2, "--sort-by age is unknown: write cpu or memory (kubectl spark top --help shows the usage)"},
		{"top etl", nothing, 1, "etl has no Pods that run (TerminatedWithoutReleaseResources): kubectl spark why etl says why"},
		{"top daily", func(e *env) {
			e.dynamic.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "", "404 page not found", 0, true)
			})
		}, 1, "this cluster has no metrics of Pods: install a metrics server (metrics.k8s.io)"},
		{"top daily", func(e *env) {
			e.dynamic.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewServiceUnavailable("the server is currently unable to handle the request")
			})
		}, 1, "the metrics server does not answer (the server is currently unable to handle the request): kubectl describe apiservices v1beta1.metrics.k8s.io says why"},
	} {
		e := full(t)
		test.given(e)
		code := e.run(t.Context(), test.line)
		if want := "error: " + test.says + "\n"; code != test.code || e.errOut.String() != want {
			t.Errorf("%s: exit code %d\n%s\nwant %d\n%s", test.line, code, e.errOut.String(), test.code, want)
		}
	}
}

func TestSuggestedCommandsNameTheNamespaceOfTheCommandLine(t *testing.T) {
	for line, want := range map[string]string{
		"top etl": "kubectl spark why etl -n reports says why", "ui etl": "kubectl spark why etl -n reports says why",
		"logs etl --attempt 7": "kubectl spark get etl -n reports lists the attempts", "get etl": "kubectl spark why etl -n reports says what keeps it.",
		"logs etl --attempt 0": "kubectl spark why etl -n reports shows what is left of it", "why etl": "kubectl spark rerun etl -n reports --set",
	} {
		e := full(t)
		e.runWith(t.Context(), line, &cluster{&connection.Cluster{Dynamic: e.dynamic, Kube: e.kube, Namespace: "reports", Suggested: "reports"}})
		if printed := e.out.String() + e.errOut.String(); !strings.Contains(printed, want) {
			t.Errorf("%s prints no %q:\n%s", line, want, printed)
		}
	}
}

func TestUIsPortIsThatOfTheDriver(t *testing.T) {
	named := driverPod("d", "d", "a", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "blockmanager", ContainerPort: 7079}, {Name: "spark-ui", ContainerPort: 4050}}
	})
	plain := driverPod("d", "d", "a", func(*corev1.Pod) {})
	for want, got := range map[int]int{
		4050: uiPort(named, nil), 4045: uiPort(plain, map[string]string{"spark.ui.port": "4045"}), 4040: uiPort(plain, map[string]string{"spark.ui.port": "-1"}),
	} {
		if got != want {
			t.Errorf("it is %d, want %d", got, want)
		}
	}
}
