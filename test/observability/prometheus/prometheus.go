// Package prometheus runs a real Prometheus for tests. make e2e installs it.
package prometheus

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// configuration reads one target every two seconds, which is also how long a busy machine has for the answer, and evaluates the rules
// each second.
const configuration = `
global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 1s}
rule_files: [rules.yaml]
scrape_configs:
  - job_name: firesteel
    metrics_path: %q
    static_configs: [{targets: [%q]}]
`

// Server is a Prometheus that runs until the test ends.
type Server struct{ url string }

// Start starts a Prometheus that reads the metrics at an address and a path.
func Start(t *testing.T, address, path string, rules []byte) *Server {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"prometheus.yaml": fmt.Sprintf(configuration, path, address), "rules.yaml": string(rules),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program, err := exec.LookPath("prometheus")
	if err != nil {
		t.Fatalf("%v: install Debian's package prometheus", err)
	}
	ports, err := process.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	listen := fmt.Sprintf("127.0.0.1:%d", ports[0])
	server, err := process.Start(filepath.Join(dir, "log"), nil, program, "--config.file="+filepath.Join(dir, "prometheus.yaml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+listen)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("Prometheus:\n%s", server.Tail(20))
		}
		server.Kill()
	})
	return &Server{"http://" + listen}
}

// Series is a series of a result.
type Series struct {
	Labels map[string]string `json:"metric"`
}

// Query returns the series of an expression. It fails while Prometheus is not ready.
func (s *Server) Query(ctx context.Context, expression string) ([]Series, error) {
	var answer struct {
		Status, Error string
		Data          struct{ Result []Series }
	}
	if err := s.get(ctx, "/api/v1/query?query="+url.QueryEscape(expression), &answer); err != nil {
		return nil, err
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("query %s: %s", expression, answer.Error)
	}
	return answer.Data.Result, nil
}

// Firing returns the names of the alerts that fire.
func (s *Server) Firing(ctx context.Context) (map[string]bool, error) {
	series, err := s.Query(ctx, `ALERTS{alertstate="firing"}`)
	names := map[string]bool{}
	for _, one := range series {
		names[one.Labels["alertname"]] = true
	}
	return names, err
}

func (s *Server) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return json.NewDecoder(response.Body).Decode(into)
}
