package features

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

const (
	archiveBucket = "spark-archive"
	system        = "firesteel-system"
	// archived are the manifests that the archive and the console need beside the base.
	archived = "config/archive/rbac.yaml config/console/500-console.yaml config/console/500-network-policies.yaml"
	// accounts may read the archive of the namespace, and nothing.
	accounts = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: reader}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: stranger}}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: Role
  metadata: {name: reader}
  rules:
  - {apiGroups: [spark.apache.org, sparkoperator.k8s.io, spark-operator.k8s.io, firesteel.dev], resources: ["*"], verbs: [get, list]}
  - {apiGroups: [""], resources: [pods, pods/log, events, configmaps], verbs: [get, list]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: reader}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
  subjects: [{kind: ServiceAccount, name: reader}]
`
	// killJava kills Spark in its container, as the kernel does if memory is short.
	killJava = `for process in /proc/[0-9]*; do if grep -qs "^java" $process/comm; then kill -9 ${process#/proc/}; fi; done`
)

// newArchive lets Firesteel archive the attempts of the test's namespace, and its console serve them. The archive is on a server of the S3 protocol in
// that namespace, whose bucket all in the cluster may use: so Firesteel's Pods need no credentials of a test.
func newArchive(t *testing.T, c *cluster.Cluster) *s3 {
	t.Helper()
	s := newS3(t, c)
	s.put(t, "/"+archiveBucket, "")
	s.put(t, "/"+archiveBucket+"?policy=", fmt.Sprintf(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:*","Resource":["arn:aws:s3:::%s","arn:aws:s3:::%[1]s/*"]}]}`, archiveBucket))
	for _, manifest := range strings.Fields(archived) {
		finally(t, "delete", "--ignore-not-found", "-f", "../../../"+manifest)
	}
	finally(t, "-n", system, "patch", "configmap/config-archive", "--type=merge", "-p", `{"data":{"namespaces":null}}`)
	c.Run(t, "", "bash", "-c", "set -o pipefail; ../../../hack/images.sh "+archived+" | kubectl apply --server-side --force-conflicts -f -")
	c.Run(t, "", "kubectl", "-n", system, "rollout", "status", "deployment/console", "--timeout=2m")
	url := fmt.Sprintf("s3://%s/logs?region=%s&use_path_style=true&anonymous=true&endpoint=http://s3.%s.svc:7070", archiveBucket, s3Region, c.Namespace)
	patch, err := json.Marshal(map[string]any{"data": map[string]string{"namespaces": c.Namespace + ": " + url}})
	cluster.Must(t, err)
	c.Run(t, "", "kubectl", "-n", system, "patch", "configmap", "config-archive", "--type=merge", "-p", string(patch))
	return s
}

// token returns a token of an account of the test's namespace.
func token(t *testing.T, c *cluster.Cluster, account string) string {
	t.Helper()
	return strings.TrimSpace(c.Run(t, "", "kubectl", "-n", c.Namespace, "create", "token", account))
}

// driverOf returns the name of the driver Pod of an application.
func driverOf(t *testing.T, c *cluster.Cluster, app string) string {
	t.Helper()
	return c.AwaitPods(t, "spark-role=driver,spark-app-name="+app, "there", func(pods []corev1.Pod) bool { return len(pods) == 1 })[0].Name
}

// The applications, their Pods and their logs are deleted. The archive still has them, for those who may read them.
func TestArchiveShowsWhatIsDeleted(t *testing.T) {
	u := newUser(t)
	s := newArchive(t, u.Cluster)
	u.ApplyText(t, accounts)

	u.Apply(t, "../../../examples/pi.yaml")
	u.Await(t, "spark-pi", "kept", kept)
	piLog := u.Run(t, "", "kubectl", "-n", u.Namespace, "logs", "-l", "spark-role=driver", "--tail=-1")
	u.says(t, 3, nil, "submit", append([]string{"--wait"}, pi("wrong", "20", "SparkPie")...)...)

	// An executor dies, and then the driver.
	u.says(t, 0, nil, "submit", pi("killed", "100000", "SparkPi")...)
	u.says(t, 0, nil, "wait", "killed", "--for", "state=RunningHealthy", "--timeout", cluster.RunTime.String())
	executor := u.AwaitPods(t, "spark-role=executor,spark.operator/spark-app-name=killed", "running", func(pods []corev1.Pod) bool {
		return len(pods) > 0 && pods[0].Status.Phase == corev1.PodRunning
	})[0].Name
	u.Run(t, "", "kubectl", "-n", u.Namespace, "exec", executor, "--", "sh", "-c", killJava)
	u.AwaitPods(t, "spark-role=executor,spark.operator/spark-app-name=killed", "replaced, and the dead one is kept", func(pods []corev1.Pod) bool { return len(pods) > 1 })
	u.Run(t, "", "kubectl", "-n", u.Namespace, "exec", driverOf(t, u.Cluster, "killed"), "-c", "spark-kubernetes-driver", "--", "sh", "-c", killJava)
	u.says(t, 3, nil, "wait", "killed", "--timeout", cluster.RunTime.String())
	for _, app := range []string{"spark-pi", "wrong"} {
		u.Run(t, "", "kubectl", "-n", u.Namespace, "wait", "--for=condition=Archived", "sparkapplications.spark.apache.org/"+app, "--timeout=3m")
	}
	// An executor may run on for longer than its driver is waited for. Then the end of its log is missing.
	const reason = `jsonpath={.status.conditions[?(@.type=="Archived")].reason}`
	u.Run(t, "", "kubectl", "-n", u.Namespace, "wait", "--for="+reason, "sparkapplications.spark.apache.org/killed", "--timeout=3m")
	if is := u.Run(t, "", "kubectl", "-n", u.Namespace, "get", "sparkapplications.spark.apache.org/killed", "-o", reason); is != "Archived" && is != "ArchivedPartly" {
		t.Errorf("the archive of the killed driver is %s", is)
	}
	u.Run(t, "", "kubectl", "-n", u.Namespace, "delete", "sparkapplications.spark.apache.org", "--all", "--timeout=3m")
	u.AwaitPods(t, "spark-role in (driver, executor)", "are gone", func(pods []corev1.Pod) bool { return len(pods) == 0 })

	reader := token(t, u.Cluster, "reader")
	u.says(t, 0, []string{"spark-pi", "wrong", "killed", "Succeeded", "Failed"}, "list", "--ended", "--token", reader)
	u.says(t, 0, []string{"Succeeded"}, "get", "spark-pi", "--token", reader)
	u.says(t, 0, []string{"SparkPie"}, "why", "wrong", "--token", reader)
	u.says(t, 0, []string{piLog, "Pi is roughly 3.1"}, "logs", "spark-pi", "--token", reader)
	u.says(t, 0, []string{"SparkPie"}, "logs", "wrong", "--token", reader)
	executors := map[string]bool{}
	for _, key := range regexp.MustCompile(`/killed/[^<]*/logs/[^/<]+-exec-\d+/`).FindAllString(
		string(s.send(t, http.MethodGet, "/"+archiveBucket+"?list-type=2&prefix=logs/"+u.Namespace+"/", "")), -1) {
		executors[key] = true
	}
	if len(executors) < 2 {
		t.Errorf("the archive has logs of the executors %v, want the dead one and its successor", executors)
	}

	address, stop, err := forward(t.Context(), &cluster.Cluster{Kube: u.Kube, Spark: u.Spark, Namespace: system}, "deployment/console", "8080")
	cluster.Must(t, err)
	defer stop()
	named := "http://" + address + "/api/firesteel/v1/namespaces/" + u.Namespace + "/applications/sparkapplications.spark.apache.org/spark-pi"
	stranger := token(t, u.Cluster, "stranger")
	for _, c := range []struct {
		who, method, token string
		want               int
	}{
		{"a reader", http.MethodGet, reader, http.StatusOK},
		{"a reader who overwrites", http.MethodPut, reader, http.StatusMethodNotAllowed},
		{"a reader who deletes", http.MethodDelete, reader, http.StatusMethodNotAllowed},
		{"a stranger", http.MethodGet, stranger, http.StatusNotFound},
		{"nobody", http.MethodGet, "", http.StatusUnauthorized},
	} {
		request, err := http.NewRequestWithContext(t.Context(), c.method, named, nil)
		cluster.Must(t, err)
		if c.token != "" {
			request.Header.Set("Authorization", "Bearer "+c.token)
		}
		answer, err := http.DefaultClient.Do(request)
		cluster.Must(t, err)
		_ = answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s: got %s, want %d", c.who, answer.Status, c.want)
		}
	}
}

// A cluster, its Pods and their logs are deleted. The archive still has them, for those who may read them.
func TestArchiveShowsTheLogsOfAClusterThatIsDeleted(t *testing.T) {
	u := newUser(t)
	newArchive(t, u.Cluster)
	const reset = `{"data":{"cluster-logs":null,"flush-interval":null}}`
	finally(t, "-n", system, "patch", "configmap/config-archive", "--type=merge", "-p", reset)
	u.Run(t, "", "kubectl", "-n", system, "patch", "configmap/config-archive", "--type=merge", "-p", `{"data":{"cluster-logs":"follow","flush-interval":"1s"}}`)
	u.ApplyText(t, accounts)
	u.Apply(t, "../../../examples/cluster.yaml")
	u.AwaitCluster(t, standalone, "ready", ready(2))

	// The first worker dies once: the archive has its logs before and after that.
	worker, master := standalone+"-worker-0", standalone+"-master-0"
	logOf := func(pod string) string { return u.Run(t, "", "kubectl", "-n", u.Namespace, "logs", pod) }
	u.Run(t, "", "kubectl", "-n", u.Namespace, "exec", worker, "--", "sh", "-c", killJava)
	var before string
	eventually(t, "the worker is restarted", func(ctx context.Context) error {
		pod, err := u.Kube.CoreV1().Pods(u.Namespace).Get(ctx, worker, metav1.GetOptions{})
		if err != nil {
			return err
		}
		status := pod.Status.ContainerStatuses[0]
		return unless(status.RestartCount == 1 && status.Ready, "restarts: %d, ready: %t", status.RestartCount, status.Ready)
	})
	before = u.Run(t, "", "kubectl", "-n", u.Namespace, "logs", "--previous", worker)
	u.AwaitCluster(t, standalone, "ready again", ready(2))

	// While the cluster runs, the archive has what kubectl shows.
	reader := token(t, u.Cluster, "reader")
	of := map[string]string{}
	eventually(t, "the archive has the logs of the Pods", func(context.Context) error {
		of[master], of[worker] = logOf(master), before+logOf(worker)
		return unless(strings.Contains(of[master], "Registering worker") && strings.Contains(of[worker], "Successfully registered"), "%s", of[worker])
	})
	u.says(t, 0, []string{logOf(master)}, "logs", "cluster/"+standalone)

	u.Run(t, "", "kubectl", "-n", u.Namespace, "delete", "sparkclusters.spark.apache.org", standalone, "--timeout=3m")
	u.AwaitPods(t, ofStandalone, "are gone", func(pods []corev1.Pod) bool { return len(pods) == 0 })
	address, stop, err := forward(t.Context(), &cluster.Cluster{Kube: u.Kube, Spark: u.Spark, Namespace: system}, "deployment/console", "8080")
	cluster.Must(t, err)
	defer stop()
	named := "http://" + address + "/api/firesteel/v1/namespaces/" + u.Namespace + "/applications/sparkclusters.spark.apache.org/" + standalone
	eventually(t, "the archive has the manifest of the cluster", func(ctx context.Context) error {
		code, body, err := ask(ctx, named, reader)
		return errors.Join(err, unless(code == http.StatusOK && strings.Contains(body, `"ended"`), "%d %s", code, body))
	})
	u.says(t, 0, []string{"Archived", "ResourceReleased"}, "get", "cluster/"+standalone, "--token", reader)
	u.says(t, 0, []string{of[master]}, "logs", "cluster/"+standalone, "--token", reader)
	u.says(t, 0, []string{of[worker]}, "logs", "cluster/"+standalone, "-e", "0", "--token", reader)
	u.says(t, 0, []string{"Successfully registered"}, "logs", "cluster/"+standalone, "-e", "1", "--token", reader)
	if code, body, err := ask(t.Context(), named, token(t, u.Cluster, "stranger")); err != nil || code != http.StatusNotFound {
		t.Errorf("a stranger gets %d %s; %v", code, body, err)
	}
}

// ask asks the console by a token.
func ask(ctx context.Context, url, token string) (code int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(content), err
}
