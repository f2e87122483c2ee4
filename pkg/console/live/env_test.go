package live

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

const (
	apacheApps     = "sparkapplications.spark.apache.org"
	kubeflowApps   = "sparkapplications.sparkoperator.k8s.io"
	clusters       = "sparkclusters.spark.apache.org"
	apacheSchedule = "scheduledsparkapplications.firesteel.dev"
)

var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// env is a Live without watches.
type env struct {
	testing.TB
	*Live
	clock *clocktesting.FakeClock
	mutex sync.Mutex
	// version is the last resource version.
	version int
}

func newEnv(t testing.TB) *env {
	clock := clocktesting.NewFakeClock(now)
	e := &env{TB: t, clock: clock}
	e.Live = New(Options{Settings: func() Settings { return Settings{TeamLabel: "team", UserLabel: "user"} }, Clock: clock, Logger: zap.NewNop().Sugar()})
	return e
}

// everything sees all.
type everything struct{}

func (everything) Sees(string, string) bool { return true }

// only sees the groups that it has.
type only map[Group]bool

func (o only) Sees(namespace, resource string) bool { return o[Group{namespace, resource}] }

// app is an application for a test.
type app struct {
	namespace, name string
	kubeflow        bool
	labels          map[string]string
	annotations     map[string]any
	// age is how long ago it was created. Its transitions follow each other by a second.
	age    time.Duration
	states []string
	// failure is the message of the failed end; empty if it did not fail.
	failure      string
	acknowledged int64
	conf         map[string]any
	owner        map[string]any
	quota, usage map[string]any
	conditions   []any
}

func (a app) uid() types.UID { return types.UID(a.namespace + "-" + a.name) }

func (a app) applicationID() string { return "spark-" + a.name }

func (a app) object(version int) *unstructured.Unstructured {
	created := now.Add(-a.age)
	record := map[string]any{
		"format": int64(1), "attempt": map[string]any{"id": int64(0), "since": microTime(created)},
		"sequence": int64(len(a.states)), "acknowledged": a.acknowledged,
	}
	var transitions []any
	for i, state := range a.states {
		t := map[string]any{"sequence": int64(i + 1), "time": microTime(created.Add(time.Duration(i) * time.Second)), "attempt": int64(0), "state": state}
		switch state {
		case "Succeeded":
			t["end"] = map[string]any{"outcome": "Succeeded"}
		case "Failed":
			t["end"] = map[string]any{"outcome": "Failed", "class": "application", "exitCode": int64(1), "reason": "Error", "message": a.failure}
		}
		transitions = append(transitions, t)
	}
	record["transitions"] = transitions
	if len(a.states) > 1 {
		record["launch"] = map[string]any{"id": "launch", "applicationID": a.applicationID(), "driverPod": a.name + "-driver", "driverUID": a.name + "-driver"}
	}
	if a.quota != nil {
		record["quota"] = a.quota
	}
	if a.usage != nil {
		record["usage"] = a.usage
	}
	apiVersion, spec := "spark.apache.org/v1", map[string]any{
		"mainClass": "org.example.Main", "jars": "local:///app.jar", "runtimeVersions": map[string]any{"sparkVersion": "4.1.0"},
		"sparkConf": map[string]any{"spark.executor.instances": "3", "spark.kubernetes.container.image": "spark:4.1.0"},
	}
	for key, value := range a.conf {
		spec["sparkConf"].(map[string]any)[key] = value
	}
	if a.kubeflow {
		apiVersion, spec = "sparkoperator.k8s.io/v1beta2", map[string]any{
			"type": "Scala", "mode": "cluster", "image": "spark:4.1.0", "mainApplicationFile": "local:///app.jar", "mainClass": "org.example.Main",
			"sparkVersion": "4.1.0", "driver": map[string]any{"cores": int64(1)}, "executor": map[string]any{"instances": int64(3), "cores": int64(1)},
		}
	}
	last := a.states[len(a.states)-1]
	status := map[string]any{"firesteel": record, "currentState": map[string]any{"currentStateSummary": last}}
	if a.kubeflow {
		status = map[string]any{"firesteel": record, "applicationState": map[string]any{"state": map[string]string{
			"Submitted": "", "RunningHealthy": "RUNNING", "ResourceReleased": "COMPLETED",
		}[last]}}
	}
	if a.conditions != nil {
		status["conditions"] = a.conditions
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": "SparkApplication", "spec": spec, "status": status,
		"metadata": map[string]any{
			"namespace": a.namespace, "name": a.name, "uid": string(a.uid()), "resourceVersion": fmt.Sprint(version), "creationTimestamp": created.Format(time.RFC3339),
		},
	}}
	object.SetLabels(a.labels)
	if a.annotations != nil {
		object.Object["metadata"].(map[string]any)["annotations"] = a.annotations
	}
	if a.owner != nil {
		object.Object["metadata"].(map[string]any)["ownerReferences"] = []any{a.owner}
	}
	return object
}

func microTime(at time.Time) string { return at.UTC().Format(metav1.RFC3339Micro) }

func (a app) resource() string {
	if a.kubeflow {
		return kubeflowApps
	}
	return apacheApps
}

func (a app) ref() Ref { return Ref{a.namespace, a.resource(), a.name} }

var (
	runningStates = []string{"Submitted", "DriverRequested", "DriverStarted", "DriverReady", "RunningHealthy"}
	doneStates    = append(append([]string{}, runningStates...), "Succeeded", "ResourceReleased")
	failedStates  = append(append([]string{}, runningStates...), "Failed", "ResourceReleased")
)

// set stores an application.
func (e *env) set(a app) {
	e.mutex.Lock()
	e.version++
	version := e.version
	e.mutex.Unlock()
	e.read(a.object(version), a.resource())
}

func (e *env) read(object *unstructured.Unstructured, resource string) {
	e.setObject(newObject(object, resource, e.options.Settings(), e.clock.Now()))
}

// newPodOf returns a Pod of an application.
func newPodOf(a app, role, number string, phase corev1.PodPhase) *corev1.Pod {
	name := a.name + "-" + role + number
	label := "spark.operator/spark-app-name"
	if a.kubeflow {
		label = "sparkoperator.k8s.io/app-name"
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: a.namespace, Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(now.Add(-a.age + 5*time.Second)),
			Labels: map[string]string{"spark-role": role, "spark-app-selector": a.applicationID(), "spark-exec-id": number, label: a.name},
		},
		Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{
			Name: "spark-kubernetes-" + role, Image: "spark:4.1.0", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: "secret"}},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": quantity("1"), "memory": quantity("1Gi")}},
		}}},
		Status: corev1.PodStatus{Phase: phase},
	}
	if phase != corev1.PodPending {
		started := metav1.NewTime(pod.CreationTimestamp.Add(2 * time.Second))
		status := corev1.ContainerStatus{Name: "spark-kubernetes-" + role, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}}}
		if phase == corev1.PodFailed {
			status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: 137, Reason: "OOMKilled", StartedAt: started, FinishedAt: metav1.NewTime(started.Add(time.Second)),
			}}
		}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
		pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: pod.CreationTimestamp},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: started},
		}
	}
	return pod
}

func (e *env) pod(source *corev1.Pod) { e.setPod(newPod(source)) }

// names returns the names of the rows of a query.
func (e *env) names(see Visible, parameters string) (names []string) {
	e.Helper()
	for _, row := range e.page(see, parameters).Rows {
		names = append(names, row.Name)
	}
	return names
}
