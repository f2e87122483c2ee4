package features

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

const (
	driverContainer = "spark-kubernetes-driver"
	// The first and the last line of what a loud driver logs.
	firstLine, lastLine = " line 000000 ", " the last line\n"
)

// applyLoud runs a driver that logs as much as the node holds of a log, and ends well or badly when goOn lets it.
func applyLoud(t *testing.T, c *cluster.Cluster, name, ending string) {
	t.Helper()
	nodes, err := c.Kube.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{Limit: 1})
	cluster.Must(t, err)
	var node struct {
		KubeletConfig struct{ ContainerLogMaxSize resource.Quantity }
	}
	cluster.Must(t, json.Unmarshal([]byte(c.Run(t, "", "kubectl", "get", "--raw", "/api/v1/nodes/"+nodes.Items[0].Name+"/proxy/configz")), &node))
	manifest, err := os.ReadFile("testdata/loud.yaml")
	cluster.Must(t, err)
	size := strconv.FormatInt(node.KubeletConfig.ContainerLogMaxSize.Value(), 10)
	c.ApplyText(t, strings.NewReplacer("NAME", name, "SIZE", size, "ENDING", ending).Replace(string(manifest)))
}

// shownLog is the log of a driver as kubectl logs shows it while the driver runs.
type shownLog struct {
	pod   string
	ended chan error

	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *shownLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

// sofar returns what was shown until now.
func (l *shownLog) sofar() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// all returns what was shown until the end of the driver.
func (l *shownLog) all(t *testing.T) string {
	t.Helper()
	if err := <-l.ended; err != nil {
		t.Errorf("kubectl logs --follow %s: %v", l.pod, err)
	}
	return l.sofar()
}

// showLog has kubectl show the log of an application's driver from its beginning, until the driver ends.
func showLog(t *testing.T, c *cluster.Cluster, app string) *shownLog {
	t.Helper()
	pods := c.AwaitPods(t, "spark-role=driver,spark.operator/spark-app-name="+app, "started", func(pods []corev1.Pod) bool {
		return len(pods) == 1 && (runs(pods[0], driverContainer) || pods[0].Status.Phase == corev1.PodSucceeded || pods[0].Status.Phase == corev1.PodFailed)
	})
	shown := &shownLog{pod: pods[0].Name, ended: make(chan error, 1)}
	kubectl := exec.CommandContext(t.Context(), "kubectl", "-n", c.Namespace, "logs", shown.pod, "-c", driverContainer, "--timestamps", "--follow")
	kubectl.Stdout, kubectl.Stderr = shown, os.Stderr
	cluster.Must(t, kubectl.Start())
	go func() { shown.ended <- kubectl.Wait() }()
	return shown
}

// awaitRotation waits until the node has begun another file for the log of a loud driver: what was before is only in what was shown.
func (l *shownLog) awaitRotation(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	eventually(t, "the log of "+l.pod+" is rotated", func(ctx context.Context) error {
		options := &corev1.PodLogOptions{Container: driverContainer, Timestamps: true, LimitBytes: ptr.To[int64](30)}
		beginning, err := c.Kube.CoreV1().Pods(c.Namespace).GetLogs(l.pod, options).DoRaw(ctx)
		if err != nil {
			return err
		}
		shown := l.sofar()
		return unless(strings.Contains(shown, firstLine) && (len(beginning) == 0 || !strings.HasPrefix(shown, string(beginning))), "it begins with %q", beginning)
	})
}

// goOn lets a loud driver go on when its log is rotated.
func (l *shownLog) goOn(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	l.awaitRotation(t, c)
	c.Run(t, "", "kubectl", "-n", c.Namespace, "exec", l.pod, "-c", driverContainer, "--", "touch", "/tmp/go-on")
}

// storedApplication is an application in the archive, with the logs of its last attempt.
type storedApplication struct {
	archive.Application
	logs []storedLog
}

type storedLog struct {
	archive.Log
	text string
}

// readArchive reads an application of the test's namespace.
func readArchive(t *testing.T, c *cluster.Cluster, stored *archive.Archive, name string) storedApplication {
	t.Helper()
	namespace, err := c.Kube.CoreV1().Namespaces().Get(t.Context(), c.Namespace, metav1.GetOptions{})
	cluster.Must(t, err)
	found, err := stored.Find(t.Context(), archive.Namespace{Name: c.Namespace, UID: namespace.UID}, "sparkapplications.spark.apache.org", name)
	cluster.Must(t, err)
	if len(found) != 1 {
		t.Fatalf("the archive has %d applications %s", len(found), name)
	}
	app := storedApplication{Application: found[0]}
	attempt := stored.Attempt(app.ID(), app.Attempt)
	manifest, err := attempt.Manifest(t.Context())
	cluster.Must(t, err)
	for _, log := range manifest.Logs {
		if log.Bytes == 0 {
			app.logs = append(app.logs, storedLog{Log: log})
			continue
		}
		reader, err := attempt.OpenLog(t.Context(), log.LogID, archive.LogOptions{Timestamps: true, Tail: -1})
		cluster.Must(t, err)
		text, err := io.ReadAll(reader)
		cluster.Must(t, err)
		if int64(len(text)) < log.Bytes { // there may be more: a follower that the end overtook stores what it has read
			t.Errorf("%s: the log of %s in %s has %d bytes, and its manifest says %d", name, log.Container, log.Pod, len(text), log.Bytes)
		}
		app.logs = append(app.logs, storedLog{log, string(text)})
	}
	return app
}

// driver returns the log of the driver.
func (a storedApplication) driver(t *testing.T) storedLog {
	t.Helper()
	for _, log := range a.logs {
		if log.Role == archive.RoleDriver {
			return log
		}
	}
	t.Fatalf("the archive has no log of the driver of %s", a.Name)
	return storedLog{}
}

// expectLogsOfPods compares the logs of all containers of an application byte by byte with what kubectl logs shows, as long as its Pods are there.
func expectLogsOfPods(t *testing.T, c *cluster.Cluster, app storedApplication) {
	t.Helper()
	stored := map[string]storedLog{}
	for _, log := range app.logs {
		stored[log.Pod+"/"+log.Container] = log
	}
	pods, err := c.Kube.CoreV1().Pods(c.Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "spark.operator/spark-app-name=" + app.Name})
	cluster.Must(t, err)
	for _, pod := range pods.Items {
		for _, status := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
			log, ok := stored[pod.Name+"/"+status.Name]
			if !ok {
				t.Errorf("%s: the archive has no log of %s in %s", app.Name, status.Name, pod.Name)
				continue
			}
			shows := c.Run(t, "", "kubectl", "-n", c.Namespace, "logs", pod.Name, "-c", status.Name, "--timestamps")
			// A sidecar ends after the driver, and an executor whose driver was killed may.
			mayGoOn := log.Role == archive.RoleSidecar || log.Role == archive.RoleExecutor && log.Missing != ""
			rotated := log.Followed && strings.HasSuffix(log.text, shows) // the node has only its end
			if shows != log.text && !rotated && !(mayGoOn && strings.HasPrefix(shows, log.text)) {
				t.Errorf("%s: the log of %s in %s (%+v) is not what kubectl logs shows. %s", app.Name, status.Name, pod.Name, log.Log, difference(log.text, shows))
			}
		}
	}
	if len(pods.Items) == 0 {
		t.Errorf("%s has no Pods any more", app.Name)
	}
}

// expectWhole compares the log of a driver byte by byte with what kubectl logs showed while it ran.
func expectWhole(t *testing.T, app storedApplication, shown *shownLog, wants ...string) {
	t.Helper()
	log, showed := app.driver(t), shown.all(t)
	if log.text != showed || log.BeginningMissing || log.Missing != "" {
		t.Errorf("the log of the driver of %s (%+v) is not what kubectl logs showed. %s", app.Name, log.Log, difference(log.text, showed))
	}
	log.expect(t, app.Name, wants)
}

// expectWholeOrSaid is expectWhole for a driver whose Pod was deleted while it ran: what the follower had read last may be missing, or be there although the
// manifest says that something is missing.
func expectWholeOrSaid(t *testing.T, app storedApplication, shown *shownLog, wants ...string) {
	t.Helper()
	log, showed := app.driver(t), shown.all(t)
	if !strings.HasPrefix(showed, log.text) || log.BeginningMissing || log.Missing == "" && log.text != showed {
		t.Errorf("the log of the driver of %s (%+v) is neither what kubectl logs showed, nor its beginning that is said to be one. %s", app.Name, log.Log, difference(log.text, showed))
	}
	log.expect(t, app.Name, wants)
}

// expect checks that a log has texts.
func (l storedLog) expect(t *testing.T, app string, wants []string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(l.text, want) {
			t.Errorf("the log of the driver of %s has no %q", app, want)
		}
	}
}

// expectEnd checks that the archive has the end of a driver's log, which is all that the node had of it, and says so.
func expectEnd(t *testing.T, app storedApplication, shown *shownLog) {
	t.Helper()
	log, showed := app.driver(t), shown.all(t)
	if !log.BeginningMissing || strings.Contains(log.text, firstLine) || !strings.Contains(log.text, lastLine) {
		t.Errorf("the log of the driver of %s (%+v) is not said to have no beginning: it has %d bytes of %d", app.Name, log.Log, len(log.text), len(showed))
	}
	if !strings.HasSuffix(showed, log.text) {
		t.Errorf("the log of the driver of %s is not the end of what kubectl logs showed. %s", app.Name, difference(log.text, showed[max(len(showed)-len(log.text), 0):]))
	}
}

// difference describes where two texts begin to differ.
func difference(stored, shown string) string {
	same := 0
	for same < min(len(stored), len(shown)) && stored[same] == shown[same] {
		same++
	}
	after := func(text string) string { return strconv.Quote(text[same:min(len(text), same+200)]) }
	return "Stored are " + strconv.Itoa(len(stored)) + " bytes and shown " + strconv.Itoa(len(shown)) + "; from byte " + strconv.Itoa(same) + " on stored is " +
		after(stored) + " and shown " + after(shown)
}
