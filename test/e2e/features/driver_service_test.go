package features

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

func TestExecutorsOfADriverWithoutServiceAndWithOneConfigMap(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"3.5.9", manifested, "4.3.0"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := cluster.New(t)
			manifest, err := os.ReadFile("testdata/driver-service.yaml")
			cluster.Must(t, err)
			c.ApplyText(t, strings.ReplaceAll(string(manifest), manifested, version))
			const name = "alone-0-driver"
			addresses := addressesAtWork(t, c, name, 2)
			driver, err := c.Kube.CoreV1().Pods(c.Namespace).Get(t.Context(), name, metav1.GetOptions{})
			cluster.Must(t, err)
			address := driver.Status.PodIP
			if at := addresses["driver"]; at != address+":7079" {
				t.Errorf("the driver's block manager is at %q, not at port 7079 of %s", at, address)
			}
			pods := c.AwaitPods(t, executors, "two", func(pods []corev1.Pod) bool { return len(pods) == 2 })
			for _, pod := range pods {
				if tier := pod.Labels["tier"]; tier != "batch" {
					t.Errorf("%s has the tier %q, not that of the template", pod.Name, tier)
				}
				url := corev1.EnvVar{Name: "SPARK_DRIVER_URL", Value: "spark://CoarseGrainedScheduler@" + address + ":7078"}
				if container := containerOf(t, pod, "spark-kubernetes-executor"); !slices.Contains(container.Env, url) {
					t.Errorf("%s has the variables %v, without %v", pod.Name, container.Env, url)
				}
			}
			expectNoService(t, c)
			expectOneConfigMap(t, c, driver)

			cluster.Must(t, c.Kube.CoreV1().Pods(c.Namespace).Delete(t.Context(), pods[0].Name, metav1.DeleteOptions{}))
			c.Await(t, "alone", "kept", kept)
			expectLog(t, c, name, "driver at "+address+"\n", "configuration: spark.properties\n", "template: pod-spec-template.yml\n", "executors at first: 0\n", "at work were executors 1 2 3\n", "executors at rest: 0\n")
			expectNoService(t, c)
		})
	}
}

func expectNoService(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	services, err := c.Kube.CoreV1().Services(c.Namespace).List(t.Context(), metav1.ListOptions{})
	cluster.Must(t, err)
	if len(services.Items) > 0 {
		t.Errorf("there is the Service %s", services.Items[0].Name)
	}
}

// expectOneConfigMap checks that the driver has one ConfigMap besides that of its executors, which it made itself.
func expectOneConfigMap(t *testing.T, c *cluster.Cluster, driver *corev1.Pod) {
	t.Helper()
	configMaps, err := c.Kube.CoreV1().ConfigMaps(c.Namespace).List(t.Context(), metav1.ListOptions{})
	cluster.Must(t, err)
	var found []string
	for _, configMap := range configMaps.Items {
		if metav1.IsControlledBy(&configMap, driver) && !strings.HasPrefix(configMap.Name, "spark-exec-") {
			found = append(found, configMap.Name)
		}
	}
	if !slices.Equal(found, []string{"alone-0-spark-drv-conf-map"}) {
		t.Errorf("the driver has the ConfigMaps %v", found)
	}
}

// addressesAtWork asks the driver's UI, through the API server, until so many executors have done work. It returns the addresses
// of the block managers: the executors' and the driver's.
func addressesAtWork(t *testing.T, c *cluster.Cluster, driver string, count int) map[string]string {
	t.Helper()
	var addresses map[string]string
	awaitAnswer(t, c, "alone", func(ctx context.Context) error {
		answer, err := c.Kube.CoreV1().Pods(c.Namespace).ProxyGet("http", driver, "4040", "/api/v1/applications/alone-0/executors", nil).DoRaw(ctx)
		if err != nil {
			return err
		}
		var listed []struct {
			ID             string `json:"id"`
			HostPort       string `json:"hostPort"`
			CompletedTasks int    `json:"completedTasks"`
		}
		if err := json.Unmarshal(answer, &listed); err != nil {
			return err
		}
		addresses = map[string]string{}
		for _, entry := range listed {
			if entry.ID == "driver" || entry.CompletedTasks > 0 {
				addresses[entry.ID] = entry.HostPort
			}
		}
		if len(addresses) != count+1 {
			return fmt.Errorf("at work are %v", addresses)
		}
		return nil
	})
	return addresses
}
