package install

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firesteel-dev/firesteel/hack/chart/move"
	"github.com/firesteel-dev/firesteel/test/harness/othercharts"
	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"
)

func TestConvertedDefaultsOfOtherChartsAreInstalled(t *testing.T) {
	for _, chart := range move.Charts {
		all := with(t, string(othercharts.Converted(t, root, chart)))
		expect(t, all.get(t, "ConfigMap", "config-observability"), "data: {metrics-protocol: prometheus}")
		served := map[string]string{"kubeflow": "default", "apache": "spark-operator"}[chart.Name]
		expect(t, all.get(t, "ConfigMap", "config-scope"), "data: {watched-namespaces: "+served+"}")
	}
}

// helmLine matches a command of the page that sets values: the release's chart, whether its values stay, and the values.
var helmLine = regexp.MustCompile(`helm -n \S+ (?:install|upgrade) \S+ (\S+) ?(.*?) --set '([^']*)'`)

// The commands of the page are parsed as Helm does. Those for another chart are about values that the chart has, with its recorded defaults.
func TestHelmCommandsForMovingInAreAboutValuesOfTheirCharts(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/operators/moving-in.md"))
	if err != nil {
		t.Fatal(err)
	}
	installed := map[string]any{}
	seen := map[string]int{}
	for _, line := range helmLine.FindAllStringSubmatch(string(page), -1) {
		name, options, set := filepath.Base(line[1]), line[2], line[3]
		seen[name]++
		switch name {
		case "firesteel":
			if !strings.Contains(options, "--reset-then-reuse-values") {
				installed = map[string]any{}
			}
			setValues(t, installed, set)
			text, err := yaml.Marshal(installed)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(listOf(t, set, "jobNamespaces"), ",", ", ")
			expect(t, with(t, string(text)).get(t, "ConfigMap", "config-scope"), "data: {watched-namespaces: '"+want+"'}")
		case "spark-operator":
			servesAfter(t, move.Charts[0], set, "jobNamespaces")
		case "spark-kubernetes-operator":
			servesAfter(t, move.Charts[1], set, "data")
		default:
			t.Errorf("there is no chart %s: %s", name, line[0])
		}
	}
	if seen["firesteel"] < 3 || seen["spark-operator"] < 1 || seen["spark-kubernetes-operator"] < 1 {
		t.Errorf("the page has the commands %v", seen)
	}
}

// servesAfter fails the test if a command for another chart changes a value that the chart does not have, or if the namespaces that are
// then served are not those of the command's list.
func servesAfter(t *testing.T, chart move.Chart, set, list string) {
	t.Helper()
	values := map[string]any{}
	if err := yaml.Unmarshal(othercharts.Defaults(t, root, chart), &values); err != nil {
		t.Fatal(err)
	}
	setValues(t, values, set)
	text, err := yaml.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	converted, notes, err := chart.Convert(text, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, note := range notes {
		if strings.Contains(note, "that chart has no such value") {
			t.Errorf("%s: %s", set, note)
		}
	}
	want := []any{}
	for name := range strings.SplitSeq(listOf(t, set, list), ",") {
		want = append(want, name)
	}
	spark, _ := converted["spark"].(map[string]any)
	if diff := cmp.Diff(want, spark["jobNamespaces"]); diff != "" {
		t.Errorf("%s: the namespaces differ (-want +got):\n%s", set, diff)
	}
}

// setValues sets values as the flag --set of Helm does.
func setValues(t *testing.T, values map[string]any, set string) {
	t.Helper()
	if err := strvals.ParseInto(set, values); err != nil {
		t.Fatalf("--set %s: %v", set, err)
	}
}

// listOf returns the list with a name in the values of --set.
func listOf(t *testing.T, set, name string) string {
	t.Helper()
	found := regexp.MustCompile(name + `={([^}]*)}`).FindStringSubmatch(set)
	if found == nil {
		t.Fatalf("--set %s has no list %s", set, name)
	}
	return found[1]
}
