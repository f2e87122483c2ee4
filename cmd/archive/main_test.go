package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"
	"k8s.io/apimachinery/pkg/util/wait"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/test/harness/process"
)

func TestArgumentsAreChecked(t *testing.T) {
	if err := run(t.Context(), []string{"histroy"}); err == nil || !strings.Contains(err.Error(), "write one of handler, history, send, serve") {
		t.Errorf("the error is %v", err)
	}
}

// env is an environment with free ports and settings.
func env(t *testing.T, namespaces string) historyEnvironment {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "namespaces"), []byte(namespaces), 0o600); err != nil {
		t.Fatal(err)
	}
	ports, err := process.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	address := func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
	return historyEnvironment{WebHDFS: address(ports[0]), Probes: address(ports[1]), Settings: folder, Interval: time.Hour}
}

// get asks until the server answers with 200.
func get(t *testing.T, url string) string {
	t.Helper()
	var body []byte
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false, nil // it is not listening yet
		}
		defer response.Body.Close()
		body, err = io.ReadAll(response.Body)
		return response.StatusCode == http.StatusOK, err
	})
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return string(body)
}

func TestHistoryIsServedUntilTheProcessStops(t *testing.T) {
	ctx, stop := context.WithCancel(logging.WithLogger(t.Context(), zaptest.NewLogger(t).Sugar()))
	e, ended := env(t, "{}"), make(chan error)
	go func() { ended <- serveHistory(ctx, e) }()
	get(t, "http://"+e.Probes+"/readyz")
	if list := get(t, "http://"+e.WebHDFS+"/webhdfs/v1/?op=LISTSTATUS"); !strings.Contains(list, `"FileStatus":[]`) {
		t.Errorf("the list is %s", list)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestInvalidSettingsEndTheProcessAtItsStart(t *testing.T) {
	ctx := logging.WithLogger(t.Context(), zaptest.NewLogger(t).Sugar())
	if err := serveHistory(ctx, env(t, "team-a: ftp://logs")); err == nil || !strings.Contains(err.Error(), "s3://") {
		t.Errorf("the error is %v", err)
	}
}

func TestArchivesAreOpenedOnceAndClosedWhenTheyAreNotListed(t *testing.T) {
	opened, folder := buckets{}, "file://"+t.TempDir()
	first, err := opened.open(t.Context(), map[string]string{"a": folder, "b": "ftp://none"})
	if err == nil || len(first) != 1 || len(opened) != 1 {
		t.Fatalf("open are %v: %v", opened, err)
	}
	if _, err := opened.open(t.Context(), map[string]string{"a": folder}); err != nil || len(opened) != 1 {
		t.Errorf("open are %v: %v", opened, err)
	}
	if none, err := opened.open(t.Context(), nil); err != nil || len(none) != 0 || len(opened) != 0 {
		t.Errorf("open are %v: %v", opened, err)
	}
}
