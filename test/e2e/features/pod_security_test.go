package features

import (
	"context"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// restrictedPi is the Kubeflow operator's example with two executors.
const restrictedPi = `
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata: {name: kubeflow-pi}
spec:
  sparkVersion: 4.1.4
  image: apache/spark:4.1.4
  mainClass: org.apache.spark.examples.SparkPi
  mainApplicationFile: local:///opt/spark/examples/jars/spark-examples.jar
  arguments: ["20"]
  driver: {serviceAccount: spark-operator-spark, memory: 512m, coreRequest: 100m}
  executor: {instances: 2, memory: 512m, coreRequest: 100m}
`

// The API server refuses Pods that do not meet the restricted profile. Those of drivers, executors and clusters meet it, though no
// manifest says anything about it, and Spark works in them.
func TestPodSecurityRestrictedNamespaceRunsSpark(t *testing.T) {
	t.Parallel()
	c := cluster.New(t)
	enforce(t, c)
	for _, version := range []string{"3.5.9", manifested, "4.3.0"} {
		manifest, err := os.ReadFile("testdata/pi.yaml")
		cluster.Must(t, err)
		name := "pi-" + strings.ReplaceAll(version, ".", "-")
		text := strings.Replace(strings.ReplaceAll(string(manifest), manifested, version), "name: pi\n", "name: "+name+"\n", 1)
		c.ApplyText(t, text)
		if app := c.Await(t, name, "kept", kept); !meta.IsStatusConditionTrue(app.Status.Conditions, "Succeeded") {
			t.Errorf("the conditions of %s are %+v", name, app.Status.Conditions)
		}
		expectLog(t, c, name+"-0-driver", "Pi is roughly 3.1")
		pods := c.AwaitPods(t, executors+",spark.operator/spark-app-name="+name, "two", func(pods []corev1.Pod) bool { return len(pods) == 2 })
		if user := containerOf(t, pods[0], "spark-kubernetes-executor").SecurityContext.RunAsUser; user == nil || *user != 185 {
			t.Errorf("the executor runs as %v", user)
		}
		c.Run(t, "", "kubectl", "--namespace="+c.Namespace, "delete", "sparkapplication.spark.apache.org", name)
	}
	c.ApplyText(t, restrictedPi)
	c.AwaitKubeflow(t, "kubeflow-pi", "completed", cluster.InKubeflowState(v1beta2.CompletedState))
	c.Apply(t, "../../../examples/cluster.yaml")
	c.AwaitCluster(t, standalone, "ready", ready(2))
}

// enforce has a namespace enforce the restricted profile, and waits until the controller knows that Pods there need it.
func enforce(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	for _, name := range []string{"firesteel-defaults", "firesteel-kubeflow"} {
		_, err := c.Kube.CoreV1().ConfigMaps(c.Namespace).Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"firesteel.dev/defaults": "enabled"}},
			Data:       map[string]string{"pod-security": "restricted"},
		}, metav1.CreateOptions{})
		cluster.Must(t, err)
	}
	_, err := c.Kube.CoreV1().Namespaces().Patch(t.Context(), c.Namespace, types.MergePatchType,
		[]byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`), metav1.PatchOptions{})
	cluster.Must(t, err)
	eventually(t, "each controller knows the defaults of the namespace", func(ctx context.Context) error {
		controllers, err := c.Kube.CoreV1().Pods("firesteel-system").List(ctx, metav1.ListOptions{
			LabelSelector: "app.kubernetes.io/name=controller", FieldSelector: "status.phase=Running",
		})
		if err != nil {
			return err
		}
		for _, pod := range controllers.Items {
			log, err := c.Kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
			if err != nil {
				return err
			}
			seen := 0
			for line := range strings.Lines(string(log)) {
				if strings.Contains(line, "defaults of a namespace changed") && strings.Contains(line, `"`+c.Namespace+`"`) {
					seen++
				}
			}
			if seen < 2 {
				return unless(false, "%s has seen %d of two changes", pod.Name, seen)
			}
		}
		return unless(len(controllers.Items) > 0, "no controller runs")
	})
}
