package features

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

var completed = cluster.InKubeflowState(v1beta2.CompletedState)

func TestKubeflowFieldsReachThePods(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	manifest, err := os.ReadFile("testdata/kubeflow-pods.yaml")
	cluster.Must(t, err)
	c.ApplyText(t, strings.NewReplacer("PRIORITY", makePriority(t, c), "DEVICE", makeDevice(t, c)).Replace(string(manifest)))
	app := c.AwaitKubeflow(t, "pods", "running with a UI", func(app *v1beta2.SparkApplication) bool {
		return app.Status.AppState.State == v1beta2.RunningState && app.Status.DriverInfo.WebUIServiceName != ""
	})
	expectServices(t, c, app)
	app = c.AwaitKubeflow(t, "pods", "completed", completed)
	const found = `(['red', 'mine', 'autumn', 'still', 'hush', '/gcp/key.json', '/token/hadoop.token'], ` +
		`['begun', 'started', 'from-a-config-map', 'own=1', '<configuration></configuration>', 'gcp-key', 'HDTS\x00\x00\x00', 'hush'], ` +
		`['10.1.2.3'], True)`
	expectLog(t, c, "pods-in-charge",
		"driver has "+found, "executor has "+found, "java options hello arguments ['one', 'two words']")
	driver := c.AwaitPods(t, "spark-role=driver", "one", one)[0]
	executor := c.AwaitPods(t, executors, "one", one)[0]
	for _, pod := range []corev1.Pod{driver, executor} {
		t.Run(pod.Labels["spark-role"], func(t *testing.T) { expectFields(t, pod, app) })
	}
	t.Run("memory", func(t *testing.T) { expectMemory(t, driver, executor, app) })
}

// expectFields checks the fields that the manifest has alike for driver and executor. Sidecars follow the driver's container;
// that of an executor Spark puts last.
func expectFields(t *testing.T, pod corev1.Pod, app *v1beta2.SparkApplication) {
	t.Helper()
	role := pod.Labels["spark-role"]
	main := containerOf(t, pod, "spark-kubernetes-"+role)
	sidecar := containerOf(t, pod, "beside")
	expectLabels(t, pod, app)
	named := func(names ...string) func(corev1.Volume) bool {
		return func(v corev1.Volume) bool { return slices.Contains(names, v.Name) }
	}
	account := map[string]string{"driver": "spark", "executor": "spark-operator-spark"}[role]
	for field, is := range map[string]bool{
		"annotations":                   pod.Annotations["example.com/cost-centre"] == "42",
		"affinity":                      pod.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Weight == 7,
		"tolerations":                   slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == "example.com/spot" }),
		"nodeSelector":                  pod.Spec.NodeSelector["kubernetes.io/os"] == "linux",
		"podSecurityContext":            pod.Spec.SecurityContext.FSGroup != nil && *pod.Spec.SecurityContext.FSGroup == 185,
		"securityContext":               main.SecurityContext.AllowPrivilegeEscalation != nil && !*main.SecurityContext.AllowPrivilegeEscalation,
		"sidecars":                      (role == "executor" || pod.Spec.Containers[0].Name == main.Name) && runs(pod, "beside") && mounts(sidecar, "shared", "/shared"),
		"initContainers":                len(pod.Spec.InitContainers) == 1 && pod.Spec.InitContainers[0].Name == "begin",
		"lifecycle":                     main.Lifecycle != nil && main.Lifecycle.PostStart != nil,
		"ports":                         hasPort(main, "extra", 9999),
		"priorityClassName":             pod.Spec.PriorityClassName == app.Namespace && *pod.Spec.Priority == 7,
		"schedulerName":                 pod.Spec.SchedulerName == corev1.DefaultSchedulerName,
		"terminationGracePeriodSeconds": *pod.Spec.TerminationGracePeriodSeconds == 3,
		"dnsConfig":                     len(pod.Spec.DNSConfig.Options) == 1 && pod.Spec.DNSConfig.Options[0].Name == "ndots",
		"hostAliases":                   slices.ContainsFunc(pod.Spec.HostAliases, func(a corev1.HostAlias) bool { return a.IP == "10.1.2.3" }),
		"shareProcessNamespace":         pod.Spec.ShareProcessNamespace != nil && *pod.Spec.ShareProcessNamespace,
		"serviceAccount":                pod.Spec.ServiceAccountName == account,
		"coreRequest":                   main.Resources.Requests.Cpu().String() == "100m",
		"coreLimit":                     main.Resources.Limits.Cpu().String() == "1",
		"gpu":                           main.Resources.Limits.Name(corev1.ResourceName(device), "").String() == "1",
		"volumeMounts":                  mounts(main, "program", "/opt/program") && mounts(main, "spark-local-dir-1", "/scratch"),
		"volumes":                       slices.ContainsFunc(pod.Spec.Volumes, named("program")) && !slices.ContainsFunc(pod.Spec.Volumes, named("unused")),
		"imagePullPolicy":               main.ImagePullPolicy == corev1.PullIfNotPresent,
	} {
		if !is {
			t.Errorf("%s: %s is not as the manifest says", pod.Name, field)
		}
	}
}

// expectMemory checks the memory, whose limit is the driver's own alone: executors are limited by Spark, which the condition
// Warning says.
func expectMemory(t *testing.T, driver, executor corev1.Pod, app *v1beta2.SparkApplication) {
	t.Helper()
	for pod, want := range map[*corev1.Pod]string{
		&driver:   "896Mi to 1200Mi", // 512m, and an overhead of 384m at least
		&executor: "712Mi to 712Mi",  // 512m and 200m
	} {
		resources := containerOf(t, *pod, "spark-kubernetes-"+pod.Labels["spark-role"]).Resources
		if got := resources.Requests.Memory().String() + " to " + resources.Limits.Memory().String(); got != want {
			t.Errorf("%s has a memory of %s, not %s", pod.Name, got, want)
		}
	}
	warning := meta.FindStatusCondition(app.Status.Conditions, "Warning")
	if warning == nil || !strings.Contains(warning.Message, "spec.executor.memoryLimit") {
		t.Errorf("the condition does not name the executors' limit: %+v", warning)
	}
}

func expectLabels(t *testing.T, pod corev1.Pod, app *v1beta2.SparkApplication) {
	t.Helper()
	for label, want := range map[string]string{
		"sparkoperator.k8s.io/app-name":                   "pods",
		"sparkoperator.k8s.io/launched-by-spark-operator": "true",
		"sparkoperator.k8s.io/submission-id":              app.Status.SubmissionID,
		"spark-app-selector":                              app.Status.SparkApplicationID,
		"spark-app-name":                                  "pods",
		"team":                                            "analytics",
		"tier":                                            "batch",
		"kueue.x-k8s.io/queue-name":                       "", // Kueue would take the pod for one of its own
	} {
		if got := pod.Labels[label]; got != want {
			t.Errorf("%s has the label %s=%s, not %s", pod.Name, label, got, want)
		}
	}
}

// expectServices checks the Services of a driver that runs: its own is deleted by Spark with the end.
func expectServices(t *testing.T, c *cluster.Cluster, app *v1beta2.SparkApplication) {
	t.Helper()
	services, err := c.Kube.CoreV1().Services(c.Namespace).List(t.Context(), metav1.ListOptions{})
	cluster.Must(t, err)
	var ui, headless *corev1.Service
	for i, service := range services.Items {
		if service.Name == "pods-ui-svc" {
			ui = &services.Items[i]
		} else {
			headless = &services.Items[i]
		}
	}
	if ui == nil || headless == nil {
		t.Fatalf("the services are %+v", services.Items)
	}
	port := ui.Spec.Ports[0]
	if port.Name != "ui" || port.Port != 80 || port.TargetPort.IntValue() != 4041 || ui.Annotations["example.com/purpose"] != "ui" {
		t.Errorf("the UI's service is %+v", ui)
	}
	if headless.Labels["part"] != "service" || headless.Annotations["example.com/purpose"] != "service" {
		t.Errorf("the driver's service is %+v", headless)
	}
	info := app.Status.DriverInfo
	if info.PodName != "pods-in-charge" || info.WebUIServiceName != ui.Name || info.WebUIPort != 80 || info.WebUIAddress != ui.Spec.ClusterIP+":80" {
		t.Errorf("the status says of the driver %+v", info)
	}
}

// makePriority makes a priority class that is named after the namespace, and whose value is 7.
func makePriority(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}, Value: 7}
	_, err := c.Kube.SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{})
	cluster.Must(t, err)
	t.Cleanup(func() {
		err := c.Kube.SchedulingV1().PriorityClasses().Delete(context.WithoutCancel(t.Context()), class.Name, metav1.DeleteOptions{})
		if err != nil {
			t.Errorf("delete priority class: %v", err)
		}
	})
	return class.Name
}

// device is a resource that nodes have in this test alone. In their eyes it is as good as one of a GPU.
const device = "e2e.firesteel.dev/gpu"

// makeDevice gives each node two of the device, as one advertises it by hand.
func makeDevice(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	nodes, err := c.Kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	cluster.Must(t, err)
	patch := func(ctx context.Context, quantity any) error {
		body, err := json.Marshal(map[string]any{"status": map[string]any{"capacity": map[string]any{device: quantity}}})
		for _, node := range nodes.Items {
			if err == nil {
				_, err = c.Kube.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, body, metav1.PatchOptions{}, "status")
			}
		}
		return err
	}
	cluster.Must(t, patch(t.Context(), "2"))
	t.Cleanup(func() {
		if err := patch(context.WithoutCancel(t.Context()), nil); err != nil {
			t.Errorf("take the device away: %v", err)
		}
	})
	return device
}
