// Package features runs an application for each thing that one may ask of Spark, and for each line of Spark one that
// Firesteel submits to:
//
//   - versions_test.go: SparkPi on 3.5, 4.1 and 4.3, and what a pod template and properties make of an executor
//   - python_test.go: modules, scratch space in memory, a claim on a volume that was made beforehand
//   - allocation_test.go: dynamic allocation
//   - driver_service_test.go: drivers without a Service on 3.5, 4.1 and 4.3, with dynamic allocation and a lost executor
//   - failure_test.go: what the status and the events say of a package that cannot be downloaded, and of an exception
//   - plain_test.go: a run of spark-submit on 3.5 and 4.3 with annotations for the webhook
//   - servers_test.go: the Connect, Thrift and History servers
//   - schedule_test.go: a schedule that runs SparkPi every minute
//   - cluster_test.go: a standalone cluster
//   - pod_security_test.go: SparkPi on 3.5, 4.1 and 4.3, and a cluster, in a namespace that enforces the restricted profile
//   - kubeflow_pods_test.go: every field of the Kubeflow kind that pods have
//   - kubeflow_test.go: monitoring, suspension, edits, retries and the time to live of the Kubeflow kind
//   - command_line_test.go: kubectl spark, from submission to the UI
//   - upload_test.go: kubectl spark with files of this machine
//   - object_storage_test.go: the image of make spark-image, which reads and writes by s3a and exports metrics
//   - archive_test.go, archived_logs_test.go, archived_history_test.go: logs byte by byte, and Spark's History Server, when all else is deleted
//   - event_logs_test.go: sidecars that send event logs
//   - terminal_test.go: kubectl spark in a terminal, with colours and Ctrl-C
//
// The executors that it looks at are those that a real driver made.
package features

import (
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// manifested is the version that the manifests of testdata name.
const manifested = "4.1.4"

// kept is the last state of an application whose driver is kept.
var kept = cluster.InState("TerminatedWithoutReleaseResources")

const executors = "spark-role=executor"

func TestPiRunsOnEachLineOfSpark(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.5.9", manifested, "4.3.0"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := cluster.New(t)
			manifest, err := os.ReadFile("testdata/pi.yaml")
			cluster.Must(t, err)
			c.ApplyText(t, strings.ReplaceAll(string(manifest), manifested, version))
			app := c.Await(t, "pi", "kept", kept)
			if !meta.IsStatusConditionTrue(app.Status.Conditions, "Succeeded") {
				t.Errorf("the conditions are %+v", app.Status.Conditions)
			}
			expectLog(t, c, "pi-0-driver", "Pi is roughly 3.1")
			pods := c.AwaitPods(t, executors, "two with a sidecar that runs", func(pods []corev1.Pod) bool {
				return len(pods) == 2 && !slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return !runs(pod, "sidecar") })
			})
			for _, pod := range pods {
				expectExecutor(t, pod, version)
			}
		})
	}
}

// expectExecutor checks what properties and the pod template say of an executor.
func expectExecutor(t *testing.T, pod corev1.Pod, version string) {
	t.Helper()
	for label, want := range map[string]string{
		"spark-version":                 version, // which the driver takes from its own jars
		"spark-app-selector":            "pi-0",
		"spark.operator/name":           "spark-kubernetes-operator",
		"spark.operator/spark-app-name": "pi",
		"team":                          "analytics",
		"tier":                          "batch",
	} {
		if got := pod.Labels[label]; got != want {
			t.Errorf("%s has the label %s=%s, not %s", pod.Name, label, got, want)
		}
	}
	if got := pod.Annotations["example.com/cost-centre"]; got != "42" {
		t.Errorf("%s has the annotation %q", pod.Name, got)
	}
	if owner := metav1.GetControllerOf(&pod); owner == nil || owner.Name != "pi-0-driver" {
		t.Errorf("%s is owned by %+v", pod.Name, owner)
	}
	if pod.Spec.ServiceAccountName != "spark" {
		t.Errorf("%s runs as %s", pod.Name, pod.Spec.ServiceAccountName)
	}
	container := containerOf(t, pod, "spark-kubernetes-executor")
	if container.Image != "apache/spark:"+version {
		t.Errorf("%s runs %s", pod.Name, container.Image)
	}
	if !slices.Contains(container.Env, corev1.EnvVar{Name: "SEASON", Value: "autumn"}) {
		t.Errorf("%s has the variables %v", pod.Name, container.Env)
	}
	if cores := container.Resources.Requests.Cpu().String(); cores != "100m" {
		t.Errorf("%s requests %s", pod.Name, cores)
	}
	for _, name := range []string{container.Name, "sidecar"} {
		if !mounts(containerOf(t, pod, name), "shared", "/shared") {
			t.Errorf("%s of %s does not mount the volume", name, pod.Name)
		}
	}
}

func containerOf(t *testing.T, pod corev1.Pod, name string) corev1.Container {
	t.Helper()
	at := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name })
	if at < 0 {
		t.Fatalf("%s has no container %s: %+v", pod.Name, name, pod.Spec.Containers)
	}
	return pod.Spec.Containers[at]
}

func mounts(container corev1.Container, volume, path string) bool {
	return slices.ContainsFunc(container.VolumeMounts, func(mount corev1.VolumeMount) bool {
		return mount.Name == volume && mount.MountPath == path
	})
}

func runs(pod corev1.Pod, container string) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
		return status.Name == container && status.State.Running != nil
	})
}

// expectLog checks that a driver that ended wrote these lines.
func expectLog(t *testing.T, c *cluster.Cluster, driver string, lines ...string) {
	t.Helper()
	log := <-c.FollowLog(t, driver)
	for _, line := range lines {
		if !strings.Contains(log, line) {
			t.Errorf("the log of %s does not say %q", driver, line)
		}
	}
}
