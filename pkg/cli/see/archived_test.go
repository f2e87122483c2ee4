package see

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/cli/connection"
	"github.com/firesteel-dev/firesteel/test/harness/console"
	"github.com/firesteel-dev/firesteel/test/harness/fakeclient"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

// ended is a cluster without objects, and a console with an application that has failed there.
func ended(t *testing.T) (*env, *cluster) {
	t.Helper()
	served := console.New(t)
	log := func(pod, container, role, text string) console.Log {
		return console.Log{Log: archive.Log{LogID: archive.LogID{Pod: pod, PodUID: "u", Container: container}, Role: role}, Text: text}
	}
	cut := log("etl-exec-2", "spark-kubernetes-executor", archive.RoleExecutor, "2026-01-01T11:54:30Z second executor\n")
	cut.Missing, cut.BeginningMissing = "the first 10 MiB, which the kubelet had rotated away", true
	served.Store(t, console.Ended{
		Object: fakeclient.Decode(t, strings.ReplaceAll(failed, "hunter2-4711", "'*********(redacted)'")), Resource: "sparkapplications", Attempt: 1,
		At: now.Add(-4 * time.Minute), State: "Failed", Message: "Driver has one or more failed critical container(s)",
		Logs: []console.Log{
			log("etl-1-driver", "spark-kubernetes-driver", archive.RoleDriver, "2026-01-01T11:53:00Z started\n2026-01-01T11:54:00Z java.lang.OutOfMemoryError: Java heap space\n"),
			log("etl-1-driver", "fluentd", archive.RoleSidecar, "2026-01-01T11:53:00Z of the sidecar\n"),
			log("etl-exec-1", "spark-kubernetes-executor", archive.RoleExecutor, "2026-01-01T11:54:00Z first executor\n"), cut,
		},
		Pods:    []corev1.Pod{*driverPod("etl-1-driver", "d1", "etl-1", killed)},
		Missing: []archive.Missing{{What: "log of etl-exec-3", Why: "its Pod was gone"}},
	})
	t.Setenv("FIRESTEEL_CONSOLE", served.URL)
	e := newEnv(t, nil)
	return e, &cluster{&connection.Cluster{Dynamic: e.dynamic, Kube: e.kube, REST: served.Cluster(), Namespace: "reports"}}
}

func TestWhatIsGoneIsShownFromTheArchive(t *testing.T) {
	for file, line := range map[string]string{
		"archived-get": "get etl", "archived-why": "why sparkapp.spark.apache.org/etl", "archived-list": "list --ended", "archived-list-all": "list --ended -A --state failed -l team=a",
		"archived-yaml": "list --ended -o yaml",
	} {
		e, c := ended(t)
		if code := e.runWith(t.Context(), line, c); code != 0 {
			t.Errorf("%s: exit code %d: %s", line, code, e.errOut.String())
			continue
		}
		golden.Want(t, "testdata/"+file+".golden", e.out.String())
	}
}

func TestLogsOfWhatIsGone(t *testing.T) {
	const driver = "started\njava.lang.OutOfMemoryError: Java heap space\n"
	for line, want := range map[string]string{
		"logs etl": driver, "logs etl -f": driver, "logs etl --attempt 1 --tail 1": "java.lang.OutOfMemoryError: Java heap space\n",
		"logs etl --since 6m30s --timestamps": "2026-01-01T11:54:00Z java.lang.OutOfMemoryError: Java heap space\n",
		"logs etl -c fluentd":                 "of the sidecar\n", "logs etl -e 1": "first executor\n",
		"logs etl --all": "[driver] started\n[driver] java.lang.OutOfMemoryError: Java heap space\n[exec-1] first executor\n[exec-2] second executor\n",
	} {
		e, c := ended(t)
		if code := e.runWith(t.Context(), line, c); code != 0 || e.out.String() != want {
			t.Errorf("%s: exit code %d: %s%s, want %s", line, code, e.out.String(), e.errOut.String(), want)
		}
	}
	e, c := ended(t)
	if e.runWith(t.Context(), "logs etl -e 2", c); !strings.Contains(e.errOut.String(), "is not whole: the first 10 MiB") {
		t.Errorf("a log without its beginning: %s", e.errOut.String())
	}
}

// The logs of a cluster are those of its master, or of one of its workers.
func TestLogsOfAClusterThatIsGone(t *testing.T) {
	const master = "2026-01-01T10:00:00Z I have been elected leader!\n"
	for line, want := range map[string]string{
		"logs cluster/shared": "I have been elected leader!\n", "logs cluster/shared -f --tail 1": "I have been elected leader!\n",
		"logs cluster/shared -e 1": "second worker\nonce more\n", "logs cluster/shared -c fluentd -e 0": "of the sidecar\n",
		"logs cluster/shared --all": "[master] I have been elected leader!\n[worker-0] first worker\n[worker-1] second worker\n[worker-1] once more\n",
	} {
		served := console.New(t)
		log := func(pod, uid, container, role, text string) console.Log {
			return console.Log{Log: archive.Log{LogID: archive.LogID{Pod: pod, PodUID: types.UID(uid), Container: container}, Role: role}, Text: text}
		}
		later := now
		again := log("shared-worker-1", "a", "worker", archive.RoleWorker, "2026-01-01T11:00:00Z once more\n")
		again.From = &later // by its time, and not by the uid of its Pod
		served.Store(t, console.Ended{
			Object: fakeclient.Decode(t, cluster1), Resource: "sparkclusters", At: now.Add(-4 * time.Minute), State: "ResourceReleased",
			Logs: []console.Log{
				again, log("shared-worker-1", "b", "worker", archive.RoleWorker, "2026-01-01T10:00:00Z second worker\n"),
				log("shared-worker-0", "c", "worker", archive.RoleWorker, "2026-01-01T10:00:00Z first worker\n"),
				log("shared-worker-0", "c", "fluentd", archive.RoleSidecar, "2026-01-01T10:00:00Z of the sidecar\n"),
				log("shared-master-0", "d", "master", archive.RoleMaster, master),
			},
		})
		t.Setenv("FIRESTEEL_CONSOLE", served.URL)
		e := newEnv(t, nil)
		c := &cluster{&connection.Cluster{Dynamic: e.dynamic, Kube: e.kube, REST: served.Cluster(), Namespace: "reports"}}
		if code := e.runWith(t.Context(), line, c); code != 0 || e.out.String() != want {
			t.Errorf("%s: exit code %d: %s%s, want %s", line, code, e.out.String(), e.errOut.String(), want)
		}
		if code := e.runWith(t.Context(), "get cluster/shared", c); code != 0 || !strings.Contains(e.out.String(), "Archived") {
			t.Errorf("get: exit code %d: %s%s", code, e.out.String(), e.errOut.String())
		}
		if code := e.runWith(t.Context(), "logs shared", c); code != 1 || !strings.Contains(e.errOut.String(), `there is no application "shared"`) {
			t.Errorf("an application of the name: exit code %d: %s%s", code, e.out.String(), e.errOut.String())
		}
	}
}

// A cluster that is gone is found like an application: it is listed, shown and explained.
func TestAClusterThatIsGoneIsShownFromTheArchive(t *testing.T) {
	served := console.New(t)
	served.Store(t, console.Ended{
		Object: fakeclient.Decode(t, cluster1), Resource: "sparkclusters", At: now.Add(-4 * time.Minute), State: "ResourceReleased", Message: "It was deleted.",
		Missing: []archive.Missing{{What: "Kubernetes Events", Why: "forbidden"}},
	})
	t.Setenv("FIRESTEEL_CONSOLE", served.URL)
	for line, want := range map[string]string{
		"get cluster/shared":                    "Missing      Kubernetes Events: forbidden",
		"why cluster/shared":                    "Too few workers are registered",
		"list --ended":                          "cluster/shared   ResourceReleased",
		"list --ended -A":                       "cluster/shared   ResourceReleased",
		"list --ended -o yaml":                  "kind: SparkCluster",
		"list --ended --state running":          "The archive has nothing",
		"list --ended --state ResourceReleased": "cluster/shared",
	} {
		e := newEnv(t, nil)
		c := &cluster{&connection.Cluster{Dynamic: e.dynamic, Kube: e.kube, REST: served.Cluster(), Namespace: "reports"}}
		if code := e.runWith(t.Context(), line, c); code != 0 || !strings.Contains(e.out.String()+e.errOut.String(), want) {
			t.Errorf("%s: exit code %d: %s%s, want %q", line, code, e.out.String(), e.errOut.String(), want)
		}
	}
}

// The object is there, and its Pods are not.
func TestLogsOfPodsThatAreGone(t *testing.T) {
	_, c := ended(t)
	e := newEnv(t, []string{failed})
	c.Dynamic, c.Kube = e.dynamic, e.kube
	if code := e.runWith(t.Context(), "logs etl --tail 1", c); code != 0 || e.out.String() != "java.lang.OutOfMemoryError: Java heap space\n" {
		t.Errorf("exit code %d: %s%s", code, e.out.String(), e.errOut.String())
	}
	e = newEnv(t, []string{strings.ReplaceAll(failed, "u-etl", "u-another")})
	c.Dynamic, c.Kube = e.dynamic, e.kube
	if code := e.runWith(t.Context(), "logs etl", c); code != 1 || !strings.Contains(e.errOut.String(), "is gone, and its log with it") {
		t.Errorf("another object of the name: exit code %d: %s%s", code, e.out.String(), e.errOut.String())
	}
}

func TestWhatTheArchiveDoesNotHave(t *testing.T) {
	for line, want := range map[string]string{
		"get other":                  "there is no application, cluster or schedule \"other\" in the namespace reports: kubectl spark list -A shows what there is; the archive has none that you may read either",
		"get cluster/etl":            "there is no application, cluster or schedule \"etl\"",
		"logs etl --attempt 3":       "the archive has no attempt 3 of reports/etl",
		"logs etl -e 7":              "the archive has no such log of attempt 1: it has etl-1-driver/spark-kubernetes-driver",
		"list --ended -w":            "--ended lists what is over",
		"list --ended --sort-by age": "--ended lists the newest first",
		"get etl --console http://console.example.com": "write https://",
		"get etl --console http://127.0.0.1:1":         "the archive cannot be asked: the console at http://127.0.0.1:1 does not answer",
	} {
		e, c := ended(t)
		code := e.runWith(t.Context(), line, c)
		if text := e.errOut.String(); code == 0 || !strings.Contains(text, want) || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s, want %s", line, code, text, want)
		}
	}
	e, c := ended(t)
	c.REST.BearerToken = "other"
	if e.runWith(t.Context(), "list --ended", c); !strings.Contains(e.errOut.String(), "not authenticated") {
		t.Errorf("a bad token: %s", e.errOut.String())
	}
	c.REST.BearerToken = ""
	if e.runWith(t.Context(), "list --ended", c); !strings.Contains(e.errOut.String(), "what kubectl create token prints") {
		t.Errorf("no token: %s", e.errOut.String())
	}
	t.Setenv("FIRESTEEL_CONSOLE", "")
	if e.runWith(t.Context(), "list --ended", c); !strings.Contains(e.errOut.String(), "there is no archive to ask: write --console URL or --archive URL") {
		t.Errorf("no console: %s", e.errOut.String())
	}
}
