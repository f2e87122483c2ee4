// Package promtool tests the alerts with Prometheus' own tool. make test-alerts installs it.
package promtool

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/firesteel-dev/firesteel/test/observability"
)

func TestAlertsFireAsTheirTestsSay(t *testing.T) {
	_, rules, err := observability.Rules("../../..")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile("../testdata/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string][]byte{"rules.yaml": rules, "alerts.yaml": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, arguments := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "alerts.yaml"}} {
		command := exec.CommandContext(t.Context(), "promtool", arguments...)
		command.Dir = dir
		if output, err := command.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v (make test-alerts installs promtool)\n%s", arguments, err, output)
		}
	}
}
