package features

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/archive"
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
	finally(t, "-n", system, "patch", "configmap/config-archive", "--type=merge", "-p", `{"data":{"namespaces":null}}`)
	deploy(t, c, archived)
	setArchive(t, c, map[string]string{"namespaces": c.Namespace + ": " + archiveAt("http://s3."+c.Namespace+".svc:7070")})
	c.Run(t, "", "kubectl", "-n", system, "rollout", "status", "deployment/console", "--timeout=2m")
	return s
}

// archiveAt returns the URL of the archive on a server of the S3 protocol.
func archiveAt(endpoint string) string {
	return fmt.Sprintf("s3://%s/logs?region=%s&use_path_style=true&anonymous=true&endpoint=%s", archiveBucket, s3Region, endpoint)
}

// setArchive changes settings of config-archive.
func setArchive(t *testing.T, c *cluster.Cluster, settings map[string]string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"data": settings})
	cluster.Must(t, err)
	c.Run(t, "", "kubectl", "-n", system, "patch", "configmap/config-archive", "--type=merge", "-p", string(patch))
}

// deploy builds the images of manifests and applies these until the test ends. Settings are applied, too, and stay.
func deploy(t *testing.T, c *cluster.Cluster, manifests string, settings ...string) {
	t.Helper()
	for _, manifest := range strings.Fields(manifests) {
		finally(t, "delete", "--ignore-not-found", "-f", "../../../"+manifest)
	}
	c.Run(t, "", "bash", "-c", "set -o pipefail; ../../../hack/images.sh "+strings.Join(append(settings, manifests), " ")+
		" | kubectl apply --server-side --force-conflicts --field-manager=firesteel-e2e -f -")
}

// token returns a token of an account of the test's namespace.
func token(t *testing.T, c *cluster.Cluster, account string) string {
	t.Helper()
	return strings.TrimSpace(c.Run(t, "", "kubectl", "-n", c.Namespace, "create", "token", account))
}

// applyPi runs Spark's own example with another name, class and number of parts.
func (u *user) applyPi(t *testing.T, name, class, parts string) {
	t.Helper()
	manifest, err := os.ReadFile("../../../examples/pi.yaml")
	cluster.Must(t, err)
	u.ApplyText(t, strings.NewReplacer(
		"name: spark-pi", "name: "+name, "examples.SparkPi", "examples."+class, `["20"]`, `["`+parts+`"]`, "sparkConf:\n", "sparkConf:\n    spark.log.level: WARN\n",
	).Replace(string(manifest)))
}

// archivedReason is the path of the reason of the condition Archived.
const archivedReason = `jsonpath={.status.conditions[?(@.type=="Archived")].reason}`

// awaitArchived waits until an application is archived, and checks whether it is as whole as it may be.
func (u *user) awaitArchived(t *testing.T, app string, reasons ...string) {
	t.Helper()
	name := "sparkapplications.spark.apache.org/" + app
	u.Run(t, "", "kubectl", "-n", u.Namespace, "wait", "--for="+archivedReason, name, "--timeout=3m")
	if is := u.Run(t, "", "kubectl", "-n", u.Namespace, "get", name, "-o", archivedReason); !slices.Contains(reasons, is) {
		t.Errorf("the archive of %s is %s, not %v", app, is, reasons)
	}
}

// killExecutorAndDriver waits until an application has an executor, and kills first that and then the driver.
func (u *user) killExecutorAndDriver(t *testing.T, app, driver string) {
	t.Helper()
	ofApp := executors + ",spark.operator/spark-app-name=" + app
	executor := u.AwaitPods(t, ofApp, "running", func(pods []corev1.Pod) bool {
		return len(pods) > 0 && pods[0].Status.Phase == corev1.PodRunning
	})[0].Name
	u.says(t, 0, nil, "wait", app, "--for", "state=RunningHealthy", "--timeout", cluster.RunTime.String())
	eventually(t, "the executor works", func(ctx context.Context) error { // Spark begins a job when its executors have come to the driver
		jobs, err := u.Kube.CoreV1().Pods(u.Namespace).ProxyGet("http", driver, "4040", "/api/v1/applications/"+app+"-0/jobs", nil).DoRaw(ctx)
		if err != nil {
			return err
		}
		return unless(strings.Contains(string(jobs), `"RUNNING"`), "the driver has the jobs %s", jobs)
	})
	u.Run(t, "", "kubectl", "-n", u.Namespace, "exec", executor, "--", "sh", "-c", killJava)
	u.AwaitPods(t, ofApp, "replaced, and the dead one is kept", func(pods []corev1.Pod) bool { return len(pods) > 1 })
	u.Run(t, "", "kubectl", "-n", u.Namespace, "exec", driver, "-c", driverContainer, "--", "sh", "-c", killJava)
	u.says(t, 3, nil, "wait", app, "--timeout", cluster.RunTime.String())
}

// The applications, their Pods and their logs are deleted. The archive still has them, for those who may read them: byte by byte what kubectl logs had shown. Spark's
// History Server has their jobs.
func TestArchiveShowsWhatIsDeleted(t *testing.T) {
	u := newUser(t)
	s := newArchive(t, u.Cluster)
	finally(t, "-n", system, "patch", "configmap/config-archive", "--type=merge", "-p", `{"data":{"driver-logs":null,"event-logs":null,"event-logs-image":null}}`)
	deployArchiveService(t, u.Cluster)
	setArchive(t, u.Cluster, map[string]string{"event-logs": "sidecar"})
	u.ApplyText(t, accounts)
	stored, err := archive.Open(t.Context(), archiveAt(s.outside))
	cluster.Must(t, err)
	t.Cleanup(func() { stored.Close() })

	// Logs are stored at the end, as by default. The node does not have all of one any more.
	applyLoud(t, u.Cluster, "beyond", "badly")
	u.Apply(t, "../../../examples/pi.yaml")
	u.applyPi(t, "wrong", "SparkPie", "20")
	beyond, ofPi := showLog(t, u.Cluster, "beyond"), showLog(t, u.Cluster, "spark-pi")
	u.Await(t, "spark-pi", "kept", kept)
	piLog := u.Run(t, "", "kubectl", "-n", u.Namespace, "logs", ofPi.pod, "-c", driverContainer)
	u.says(t, 3, nil, "wait", "wrong", "--timeout", cluster.RunTime.String())
	beyond.goOn(t, u.Cluster)
	u.says(t, 3, nil, "wait", "beyond", "--timeout", cluster.RunTime.String())
	for _, app := range []string{"spark-pi", "wrong", "beyond"} {
		u.awaitArchived(t, app, "Archived")
		expectLogsOfPods(t, u.Cluster, readArchive(t, u.Cluster, stored, app))
	}
	expectWhole(t, readArchive(t, u.Cluster, stored, "spark-pi"), ofPi, "Pi is roughly 3.1")
	expectEnd(t, readArchive(t, u.Cluster, stored, "beyond"), beyond)

	// Logs of drivers are followed. An executor dies, and then the driver; another driver Pod is deleted.
	setArchive(t, u.Cluster, map[string]string{"driver-logs": "follow"})
	u.applyPi(t, "killed", "SparkPi", "100000")
	applyLoud(t, u.Cluster, "followed", "well")
	applyLoud(t, u.Cluster, "deleted", "never")
	killed, followed, deleted := showLog(t, u.Cluster, "killed"), showLog(t, u.Cluster, "followed"), showLog(t, u.Cluster, "deleted")
	u.killExecutorAndDriver(t, "killed", killed.pod)
	followed.goOn(t, u.Cluster)
	deleted.awaitRotation(t, u.Cluster)
	u.Run(t, "", "kubectl", "-n", u.Namespace, "delete", "pod", deleted.pod)
	// An executor may run on for longer than its driver is waited for. Then the end of its log is missing.
	u.awaitArchived(t, "killed", "Archived", "ArchivedPartly")
	u.awaitArchived(t, "followed", "Archived")
	u.awaitArchived(t, "deleted", "Archived", "ArchivedPartly", "DriverPodGone")
	for _, app := range []string{"killed", "followed"} {
		expectLogsOfPods(t, u.Cluster, readArchive(t, u.Cluster, stored, app))
	}
	expectWhole(t, readArchive(t, u.Cluster, stored, "killed"), killed, "Lost executor")
	expectWhole(t, readArchive(t, u.Cluster, stored, "followed"), followed, firstLine, lastLine)
	expectWholeOrSaid(t, readArchive(t, u.Cluster, stored, "deleted"), deleted, firstLine)

	deployHistory(t, u.Cluster)
	u.Run(t, "", "kubectl", "-n", u.Namespace, "delete", "sparkapplications.spark.apache.org", "--all", "--timeout=3m")
	u.AwaitPods(t, "spark-role in (driver, executor)", "are gone", func(pods []corev1.Pod) bool { return len(pods) == 0 })

	reader := token(t, u.Cluster, "reader")
	u.says(t, 0, []string{"spark-pi", "wrong", "killed", "Succeeded", "Failed"}, "list", "--ended", "--token", reader)
	u.says(t, 0, []string{"Succeeded"}, "get", "spark-pi", "--token", reader)
	u.says(t, 0, []string{"SparkPie"}, "why", "wrong", "--token", reader)
	u.says(t, 0, []string{piLog, "Pi is roughly 3.1"}, "logs", "spark-pi", "--token", reader)
	u.says(t, 0, []string{"SparkPie"}, "logs", "wrong", "--token", reader)
	u.says(t, 0, []string{"its beginning", strings.TrimSpace(lastLine)}, "logs", "beyond", "--token", reader)
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
	var withJobs []storedApplication
	for _, app := range []string{"spark-pi", "beyond", "killed", "followed", "deleted"} {
		withJobs = append(withJobs, readArchive(t, u.Cluster, stored, app))
	}
	expectHistory(t, u.Cluster, sparkAPI{address, reader}, stranger, withJobs, "killed")
}

// A cluster, its Pods and their logs are deleted. The archive still has them, for those who may read them.
func TestArchiveShowsTheLogsOfAClusterThatIsDeleted(t *testing.T) {
	u := newUser(t)
	newArchive(t, u.Cluster)
	finally(t, "-n", system, "patch", "configmap/config-archive", "--type=merge", "-p", `{"data":{"cluster-logs":null,"flush-interval":null}}`)
	setArchive(t, u.Cluster, map[string]string{"cluster-logs": "follow", "flush-interval": "1s"})
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
	u.says(t, 0, []string{"ResourceReleased"}, "why", "cluster/"+standalone, "--token", reader)
	u.says(t, 0, []string{"cluster/" + standalone, "ResourceReleased"}, "list", "--ended", "--token", reader)
	var shown struct{ Items []struct{ UID string } }
	code, body, err := ask(t.Context(), named, reader)
	cluster.Must(t, errors.Join(err, json.Unmarshal([]byte(body), &shown), unless(code == http.StatusOK && len(shown.Items) == 1, "%d %s", code, body)))
	code, body, err = ask(t.Context(), named+"/"+shown.Items[0].UID+"/attempts/0/objects/events.json.gz", reader)
	for _, want := range []string{master, worker, standalone + "-worker"} { // Pods and StatefulSets
		if err != nil || code != http.StatusOK || !strings.Contains(body, `"name":"`+want+`"`) {
			t.Errorf("the Kubernetes Events of %s are not archived: %d %s; %v", want, code, body, err)
		}
	}
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
