// Package promtool tests alerts and panels with Prometheus' own tool. make test-alerts installs it.
package promtool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// Two installations are in one Prometheus, the first with two replicas, which count the same applications.
func TestPanelsAddUpInstallationsAndNotReplicas(t *testing.T) {
	const series = `
  - {series: 'firesteel_application_wait_longest_seconds{namespace="one", job="j", instance="a", firesteel_state="New"}', values: 0x10}
  - {series: 'firesteel_application_wait_longest_seconds{namespace="one", job="j", instance="b", firesteel_state="New"}', values: 0x10}
  - {series: 'firesteel_application_wait_longest_seconds{namespace="two", job="j", instance="c", firesteel_state="New"}', values: 7x10}
  - {series: 'firesteel_namespace_applications{namespace="one", job="j", instance="a", k8s_namespace_name="etl", firesteel_phase="Running"}', values: 3x10}
  - {series: 'firesteel_namespace_applications{namespace="one", job="j", instance="b", k8s_namespace_name="etl", firesteel_phase="Running"}', values: 3x10}
  - {series: 'firesteel_namespace_applications{namespace="two", job="j", instance="c", k8s_namespace_name="etl", firesteel_phase="Running"}', values: 2x10}
  - {series: 'firesteel_clusters{namespace="one", job="j", instance="a", firesteel_state="RunningHealthy"}', values: 1x10}
  - {series: 'firesteel_clusters{namespace="one", job="j", instance="b", firesteel_state="RunningHealthy"}', values: 1x10}
  - {series: 'firesteel_clusters{namespace="two", job="j", instance="c", firesteel_state="RunningHealthy"}', values: 1x10}
  - {series: 'leader_election_master_status{namespace="one", job="j", instance="a", name="lease"}', values: 1x10}
  - {series: 'leader_election_master_status{namespace="one", job="j", instance="w", name="of-another"}', values: 1x10}
  - {series: 'leader_election_master_status{namespace="two", job="j", instance="c", name="lease"}', values: 1x10}
`
	tests := "rule_files: []\ntests:\n- interval: 1m\n  input_series:" + series + "  promql_expr_test:\n"
	for _, test := range []struct {
		dashboard, panel, installation string
		labels                         string
		value                          int
	}{
		{"firesteel-overview", "Replicas", ".*", `{}`, 3},
		{"firesteel-overview", "Replicas", "two", `{}`, 1},
		{"firesteel-overview", "Running", ".*", `{}`, 5},
		{"firesteel-overview", "Running", "one", `{}`, 3},
		{"firesteel-overview", "Clusters", ".*", `{}`, 2},
		{"firesteel-overview", "Longest wait", "one", `{}`, 0},
		{"firesteel-overview", "Busiest namespaces", ".*", `{k8s_namespace_name="etl"}`, 5},
		{"firesteel-overview", "Leases", "one", `{namespace="one", name="lease"}`, 1},
		{"firesteel-namespace", "Applications", ".*", `{firesteel_phase="Running"}`, 5},
		{"firesteel-namespace", "Applications", "one|two", `{firesteel_phase="Running"}`, 5},
		{"firesteel-namespace", "Running", "two", `{}`, 2},
	} {
		panels, err := observability.Panels("../../..", observability.Choice{Installation: test.installation, Job: "j", Namespace: "etl"})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(panels, func(p observability.Panel) bool { return p.Dashboard == test.dashboard && p.Title == test.panel })
		if i < 0 {
			t.Fatalf("%s has no panel %s", test.dashboard, test.panel)
		}
		tests += fmt.Sprintf("  - {expr: '%s', eval_time: 5m, exp_samples: [{labels: '%s', value: %d}]}\n", panels[i].Queries[0], test.labels, test.value)
	}
	file := filepath.Join(t.TempDir(), "panels.yaml")
	if err := os.WriteFile(file, []byte(tests), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), "promtool", "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("promtool: %v (make test-alerts installs promtool)\n%s", err, output)
	}
}
