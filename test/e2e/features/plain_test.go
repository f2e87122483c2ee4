package features

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// drivers selects drivers.
const drivers = "spark-role=driver"

// A run of spark-submit itself, with the webhook and without an application.
func TestAnnotatedPlainRunHasItsFilesAndItsOwner(t *testing.T) {
	command := func(ctx context.Context, text string) {
		if output, err := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
	t.Cleanup(func() { command(context.Background(), "../../../hack/deploy.sh --remove-webhook") })
	command(t.Context(), "../../../hack/images.sh config/webhook/ | kubectl apply --server-side -f -; "+
		"kubectl -n firesteel-system rollout status deployment/webhook --timeout=180s")
	for _, version := range []string{"3.5.9", "4.3.0"} {
		t.Run(version, func(t *testing.T) { plainRun(t, cluster.New(t), version) })
	}
}

func plainRun(t *testing.T, c *cluster.Cluster, version string) {
	t.Helper()
	for name, data := range map[string]map[string]string{
		// Had these properties an effect, the driver would end at its start: the folder does not exist.
		"spark":  {"log4j2.properties": "# of the run\n", "spark-defaults.conf": "spark.eventLog.enabled true\nspark.eventLog.dir file:///does/not/exist\n"},
		"hadoop": {"core-site.xml": "<configuration/>\n"},
		"run":    {},
	} {
		_, err := c.Kube.CoreV1().ConfigMaps(c.Namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, metav1.CreateOptions{})
		cluster.Must(t, err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "keys"}, StringData: map[string]string{"key": "hidden"}}
	_, err := c.Kube.CoreV1().Secrets(c.Namespace).Create(t.Context(), secret, metav1.CreateOptions{})
	cluster.Must(t, err)
	run, err := c.Kube.CoreV1().ConfigMaps(c.Namespace).Get(t.Context(), "run", metav1.GetOptions{})
	cluster.Must(t, err)
	annotated := map[string]string{}
	for _, role := range []string{"driver", "executor"} {
		for key, value := range map[string]string{
			"sparkConfigMap": "spark", "hadoop-configmap": "hadoop", "secret.keys": "/etc/keys",
			"ownerReference": fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q}`, run.Name, run.UID),
		} {
			annotated["spark.kubernetes."+role+".annotation.sparkoperator.k8s.io/"+key] = value
		}
		annotated["spark.kubernetes."+role+".annotations.example.com/plural"] = "x"
	}
	submit(t, c, version, annotated, "1000000") // it runs until its owner is deleted
	for selector, container := range map[string]string{drivers: "spark-kubernetes-driver", executors: "spark-kubernetes-executor"} {
		pods := c.AwaitPods(t, selector, "one that runs", func(pods []corev1.Pod) bool { return len(pods) > 0 && runs(pods[0], container) })
		pod := pods[0]
		for file, want := range map[string]string{
			"/etc/spark/conf/log4j2.properties": "# of the run\n", "/etc/hadoop/conf/core-site.xml": "<configuration/>\n", "/etc/keys/key": "hidden",
		} {
			if got := c.Run(t, "", "kubectl", "--namespace="+c.Namespace, "exec", pod.Name, "--container="+container, "--", "cat", file); got != want {
				t.Errorf("%s: %s holds %q", pod.Name, file, got)
			}
		}
		environment := c.Run(t, "", "kubectl", "--namespace="+c.Namespace, "exec", pod.Name, "--container="+container, "--", "env")
		for _, variable := range []string{"SPARK_CONF_DIR=/etc/spark/conf\n", "HADOOP_CONF_DIR=/etc/hadoop/conf\n"} {
			if !strings.Contains(environment, variable) {
				t.Errorf("%s has not %s: %s", pod.Name, variable, environment)
			}
		}
		if owners := fmt.Sprint(pod.OwnerReferences); !strings.Contains(owners, string(run.UID)) {
			t.Errorf("%s is owned by %s", pod.Name, owners)
		}
		if _, plural := pod.Annotations["example.com/plural"]; plural {
			t.Errorf("%s has an annotation by the plural spelling: %v", pod.Name, pod.Annotations)
		}
	}
	cluster.Must(t, c.Kube.CoreV1().ConfigMaps(c.Namespace).Delete(t.Context(), "run", metav1.DeleteOptions{}))
	for _, selector := range []string{drivers, executors} {
		c.AwaitPods(t, selector, "none, since their owner was deleted", func(pods []corev1.Pod) bool { return len(pods) == 0 })
	}
}

// submit runs spark-submit in the cluster for a Pi of so many parts, with more properties.
func submit(t *testing.T, c *cluster.Cluster, version string, properties map[string]string, parts string) {
	t.Helper()
	// spark-submit creates a NetworkPolicy from Spark 4.2 on, which drivers may not.
	c.Run(t, "", "kubectl", "--namespace="+c.Namespace, "create", "serviceaccount", "submitter")
	c.Run(t, "", "kubectl", "--namespace="+c.Namespace, "create", "rolebinding", "submitter", "--clusterrole=edit", "--serviceaccount="+c.Namespace+":submitter")
	arguments := []string{
		"--master", "k8s://https://kubernetes.default.svc", "--deploy-mode", "cluster", "--name", "plain",
		"--class", "org.apache.spark.examples.SparkPi",
	}
	conf := func(key, value string) { arguments = append(arguments, "--conf", key+"="+value) }
	for key, value := range map[string]string{
		"spark.kubernetes.namespace": c.Namespace, "spark.kubernetes.authenticate.driver.serviceAccountName": "spark",
		"spark.kubernetes.container.image": "apache/spark:" + version, "spark.kubernetes.submission.waitAppCompletion": "false",
		"spark.executor.instances": "1", "spark.driver.memory": "512m", "spark.executor.memory": "512m",
		"spark.kubernetes.driver.request.cores": "100m", "spark.kubernetes.executor.request.cores": "100m",
	} {
		conf(key, value)
	}
	for key, value := range properties {
		conf(key, value)
	}
	arguments = append(arguments, "local:///opt/spark/examples/jars/spark-examples.jar", parts)
	_, err := c.Kube.CoreV1().Pods(c.Namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "submitter"},
		Spec: corev1.PodSpec{
			ServiceAccountName: "submitter", RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "submitter", Image: "apache/spark:" + version, Command: append([]string{"/opt/spark/bin/spark-submit"}, arguments...),
			}},
		},
	}, metav1.CreateOptions{})
	cluster.Must(t, err)
}
