package history

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob/fileblob"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/history"
)

// patience bounds each wait.
const patience = 10 * time.Minute

// application is an application as the History Server's REST API shows it.
type application struct {
	ID, Name string
	Attempts []struct{ Completed bool }
}

func TestHistoryServerShowsTheLogsOfEachVersion(t *testing.T) {
	homes, archive := sparkHomes(t), t.TempDir()
	folder := func(namespace string) string { return filepath.Join(archive, namespace) }
	// Two tenants choose the same ID for their applications, and one of them a short one, too.
	single := driver{version: "3.5.9", folder: folder("team-a"), name: "single"}
	rolled := driver{version: "4.3.0", folder: folder("team-b"), id: "etl", name: "rolled", rolled: true}
	killed := driver{version: "4.1.4", folder: folder("team-c"), id: "etl", name: "killed", rolled: true}
	single.run(t, homes)
	rolled.run(t, homes)
	killed.kill(t, homes)
	tear(t, killed)

	server := start(t, filepath.Join(homes, rolled.version), serve(t, archive, "team-a", "team-b", "team-c"))
	complete, incomplete := server.applications(t, "completed", 2), server.applications(t, "running", 1)
	for i, d := range []driver{rolled, single} {
		app := complete[i]
		if app.Name != d.name || len(app.Attempts) != 1 {
			t.Errorf("the application of Spark %s is shown as %+v", d.version, app)
		}
		server.expectJob(t, app)
	}
	if app := incomplete[0]; app.Name != killed.name || len(app.Attempts) != 1 {
		t.Errorf("the application that was killed is shown as %+v", app)
	}
	server.expectJob(t, incomplete[0])
}

// tear cuts the last line of a log in half, as a driver does that is killed while it writes.
func tear(t *testing.T, d driver) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(d.folder, "eventlog_v2_"+d.id, "events_1_*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the files are %v: %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], text[:len(text)-20], 0o644); err != nil {
		t.Fatal(err)
	}
}

// serve serves the view of the folders of an archive, and returns its address.
func serve(t *testing.T, archive string, namespaces ...string) string {
	t.Helper()
	var sources []history.Source
	for _, namespace := range namespaces {
		bucket, err := fileblob.OpenBucket(filepath.Join(archive, namespace), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = bucket.Close() })
		sources = append(sources, &history.Bucket{Namespace: namespace, Bucket: bucket})
	}
	return serveView(t, sources...)
}

// serveView serves the view of sources, and returns its address.
func serveView(t *testing.T, sources ...history.Source) string {
	t.Helper()
	var view history.View
	if err := view.Refresh(t.Context(), sources); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&view)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// historyServer is a real one.
type historyServer struct{ address, api string }

// start starts the History Server of a version on a view.
func start(t *testing.T, home, view string) *historyServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd := java(t, home, []string{
		"-Dspark.history.fs.logDirectory=webhdfs://" + view + "/", "-Dspark.history.fs.update.interval=1s", "-Dspark.history.ui.port=" + port,
	}, "org.apache.spark.deploy.history.HistoryServer")
	log, err := os.Create(filepath.Join(cmd.Dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("the History Server's log:\n%s", text)
		}
	})
	return &historyServer{address, "http://" + address + "/api/v1/applications"}
}

// applications waits for a number of applications with a status, and returns them by their names.
func (s *historyServer) applications(t *testing.T, status string, n int) (apps []application) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		apps = nil
		last = s.get(ctx, "?status="+status, &apps)
		return last == nil && len(apps) >= n, nil
	})
	if err != nil || len(apps) != n {
		t.Fatalf("there are %d applications that are %s, want %d: %+v: %v, %v", len(apps), status, n, apps, err, last)
	}
	slices.SortFunc(apps, func(a, b application) int { return strings.Compare(a.Name, b.Name) })
	return apps
}

// expectJob checks that an application has the job of the query.
func (s *historyServer) expectJob(t *testing.T, app application) {
	t.Helper()
	var jobs []struct {
		Status            string
		NumCompletedTasks int
	}
	if err := s.get(t.Context(), "/"+app.ID+"/jobs", &jobs); err != nil {
		t.Errorf("%s: %v", app.Name, err)
		return
	}
	if len(jobs) == 0 || jobs[0].Status != "SUCCEEDED" || jobs[0].NumCompletedTasks == 0 {
		t.Errorf("%s has the jobs %+v", app.Name, jobs)
	}
}

func (s *historyServer) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.api+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}
