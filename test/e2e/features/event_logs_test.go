package features

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	_ "github.com/firesteel-dev/firesteel/pkg/archive/clouds"
	"github.com/firesteel-dev/firesteel/pkg/history"
	"github.com/firesteel-dev/firesteel/test/e2e/cluster"
)

// An image that knows no object storage, and a namespace without credentials: sidecars bring the event logs into the archive, that of a driver that is killed, too.
func TestSidecarsBringEventLogsIntoTheArchive(t *testing.T) {
	c := cluster.New(t)
	s := newS3(t, c)
	t.Setenv("AWS_ACCESS_KEY_ID", s3Key)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3Secret)
	archiveAt := func(endpoint string) string {
		return fmt.Sprintf("s3://%s/archive?region=%s&endpoint=%s&s3ForcePathStyle=true", bucket, s3Region, endpoint)
	}
	serveArchive(t, c, archiveAt(strings.TrimSuffix(s.inside, "/"+bucket)))
	for _, pi := range []struct{ name, slices string }{{"complete", "2"}, {"killed", "1000000"}} {
		c.ApplyText(t, strings.NewReplacer(
			"{name: kubeflow-pi}", "{name: "+pi.name+", annotations: {firesteel.dev/event-logs: sidecar}}", "instances: 2", "instances: 1", `["20"]`, `["`+pi.slices+`"]`,
		).Replace(restrictedPi))
	}
	c.AwaitKubeflow(t, "complete", "completed", cluster.InKubeflowState(v1beta2.CompletedState))
	stored, err := archive.Open(t.Context(), archiveAt(s.outside))
	cluster.Must(t, err)
	t.Cleanup(func() { stored.Close() })
	eventually(t, "one event log is complete, and the other one grows", func(context.Context) error {
		return expectEventLogs(t, c, stored, 1, 1)
	})
	c.AwaitKubeflow(t, "killed", "running", cluster.InKubeflowState(v1beta2.RunningState))
	// The shell may be ended with its container: then kubectl reports that.
	_ = exec.CommandContext(t.Context(), "kubectl", "-n", c.Namespace, "exec", "killed-driver", "-c", "spark-kubernetes-driver", "--", "sh", "-c", killJava).Run()
	c.AwaitKubeflow(t, "killed", "failed", cluster.InKubeflowState(v1beta2.FailedState))
	cluster.Must(t, expectEventLogs(t, c, stored, 1, 1))
}

// deployArchiveService deploys the archive's service until the test ends.
func deployArchiveService(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	deploy(t, c, "config/archive-service/500-archive.yaml config/archive-service/500-network-policies.yaml", "config/archive-service/900-config-archive.yaml")
}

// serveArchive runs the archive's service for an archive of the namespace until the test ends.
func serveArchive(t *testing.T, c *cluster.Cluster, url string) {
	t.Helper()
	finally(t, "-n", system, "patch", "configmap/config-archive", "--type=merge", "-p", `{"data":{"namespaces":null,"wait":null,"event-logs-image":null}}`)
	deployArchiveService(t, c)
	setArchive(t, c, map[string]string{"namespaces": c.Namespace + ": " + url, "wait": "1s"})
	c.Run(t, "", "kubectl", "-n", system, "set", "env", "deployment/archive", "AWS_ACCESS_KEY_ID="+s3Key, "AWS_SECRET_ACCESS_KEY="+s3Secret)
	c.Run(t, "", "kubectl", "-n", system, "rollout", "status", "deployment/archive", "--timeout=3m")
}

// expectEventLogs checks how many event logs the view for the History Server shows, with their jobs: those of applications that ended, and of others.
func expectEventLogs(t *testing.T, c *cluster.Cluster, stored *archive.Archive, complete, incomplete int) error {
	t.Helper()
	var view history.View
	if err := view.Refresh(t.Context(), []history.Source{history.NewArchived(c.Namespace, stored)}); err != nil {
		return err
	}
	server := httptest.NewServer(&view)
	defer server.Close()
	get := func(path, operation string) (string, error) {
		answer, err := http.Get(server.URL + "/webhdfs/v1/" + path + "?op=" + operation)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return string(text), errors.Join(err, unless(answer.StatusCode == http.StatusOK, "%s: %s", path, answer.Status))
	}
	names := func(path string) (names []string, err error) {
		text, err := get(path, "LISTSTATUS")
		var list struct {
			FileStatuses struct {
				FileStatus []struct{ PathSuffix string }
			}
		}
		err = errors.Join(err, json.Unmarshal([]byte(text), &list))
		for _, file := range list.FileStatuses.FileStatus {
			names = append(names, file.PathSuffix)
		}
		return names, err
	}
	folders, err := names("")
	if err != nil {
		return err
	}
	found := map[bool]int{}
	for _, folder := range folders {
		files, err := names(folder)
		if err != nil {
			return err
		}
		ended, events := true, ""
		for _, file := range files {
			if strings.HasSuffix(file, ".inprogress") {
				ended = false
			}
			if strings.HasPrefix(file, "events_") {
				text, err := get(folder+"/"+file, "OPEN")
				if err != nil {
					return err
				}
				events += text
			}
		}
		if !strings.Contains(events, "SparkListenerJobStart") {
			return fmt.Errorf("%s has no job yet", folder)
		}
		found[ended]++
	}
	return unless(found[true] == complete && found[false] == incomplete, "%d event logs are complete and %d are not: %v", found[true], found[false], folders)
}
