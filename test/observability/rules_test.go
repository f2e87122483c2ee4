package observability

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/VictoriaMetrics/metricsql"
)

const root = "../.."

const runbook = "https://github.com/firesteel-dev/firesteel/blob/main/docs/operators/on-call.md#"

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// anchors returns the anchors of the headings of a page.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		words := regexp.MustCompile(`[^a-z0-9_ -]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		found[strings.ReplaceAll(words, " ", "-")] = true
	}
	return found
}

func TestAlertsHaveARemedyARunbookAndATest(t *testing.T) {
	rules, _, err := Rules(root)
	if err != nil {
		t.Fatal(err)
	}
	sections, page, tests := anchors(read(t, "docs/operators/on-call.md")), read(t, "docs/operators/observability.md"), read(t, "test/observability/testdata/alerts.yaml")
	alerts := 0
	for _, rule := range rules {
		if rule.Alert == "" {
			continue
		}
		alerts++
		if severity := rule.Labels["severity"]; severity != "warning" && severity != "critical" {
			t.Errorf("%s has the severity %q", rule.Alert, severity)
		}
		for _, annotation := range []string{"summary", "description"} {
			if rule.Annotations[annotation] == "" {
				t.Errorf("%s has no %s", rule.Alert, annotation)
			}
		}
		if section, ok := strings.CutPrefix(rule.Annotations["runbook_url"], runbook); !ok || !sections[section] {
			t.Errorf("%s: its runbook_url is %s, and there is no such section", rule.Alert, rule.Annotations["runbook_url"])
		}
		if !strings.Contains(tests, "alertname: "+rule.Alert+"\n        exp_alerts:\n") {
			t.Errorf("no test in testdata/alerts.yaml expects %s", rule.Alert)
		}
		if !strings.Contains(page, "`"+rule.Alert+"`") {
			t.Errorf("docs/operators/observability.md does not have %s", rule.Alert)
		}
	}
	if alerts < 10 {
		t.Errorf("there are %d alerts only", alerts)
	}
}

func TestRulesAndPanelsReadMetricsThatAreDocumented(t *testing.T) {
	rules, _, err := Rules(root)
	if err != nil {
		t.Fatal(err)
	}
	panels, err := Panels(root, Everything("team-a"))
	if err != nil {
		t.Fatal(err)
	}
	readers := map[string][]string{}
	recorded := map[string]bool{}
	for _, rule := range rules {
		recorded[rule.Record] = true
		readers[rule.Alert+rule.Record] = []string{rule.Expr}
	}
	dashboards := map[string]bool{}
	for _, panel := range panels {
		dashboards[panel.Dashboard] = true
		readers[panel.Dashboard+": "+panel.Title] = panel.Queries
	}
	if len(dashboards) != 3 {
		t.Errorf("the dashboards are %v", dashboards)
	}
	documented := read(t, "docs/operators/metrics.md")
	for reader, expressions := range readers {
		for _, expression := range expressions {
			selectors, err := Selectors(expression)
			if err != nil || len(selectors) == 0 {
				t.Fatalf("%s reads %v: %v", reader, selectors, err)
			}
			for _, selector := range selectors {
				metric := strings.TrimSuffix(selector.Metric, "_bucket")
				if !recorded[metric] && !strings.Contains(documented, "`"+metric+"`") {
					t.Errorf("%s reads %s, which docs/operators/metrics.md does not have", reader, metric)
				}
			}
		}
	}
}

// Several installations may be in one Prometheus. Each of them is chosen by the namespace of its controller.
func TestEveryPanelReadsTheChosenInstallationsOnly(t *testing.T) {
	panels, err := Panels(root, Choice{Installation: "one|two", Job: "job-a|job-b", Namespace: "team-a"})
	if err != nil {
		t.Fatal(err)
	}
	wanted := []metricsql.LabelFilter{
		{Label: "namespace", Value: "one|two", IsRegexp: true},
		{Label: "job", Value: "job-a|job-b", IsRegexp: true},
	}
	for _, panel := range panels {
		for _, query := range panel.Queries {
			selectors, err := Selectors(query)
			if err != nil {
				t.Fatal(err)
			}
			for _, selector := range selectors {
				for _, matcher := range wanted {
					if !slices.Contains(selector.Matchers, matcher) {
						t.Errorf("%s, %s: %s is read without %s=~%q", panel.Dashboard, panel.Title, selector.Metric, matcher.Label, matcher.Value)
					}
				}
			}
		}
	}
}

func TestEveryDashboardShowsAllInstallationsUntilOneIsChosen(t *testing.T) {
	dashboards, err := Dashboards(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, dashboard := range dashboards {
		offered := false
		for _, v := range dashboard.Templating.Variables {
			switch {
			case v.Name == "installation":
				offered = true
				if !v.Multi || !v.IncludeAll || v.Current.Value != "$__all" {
					t.Errorf("%s: the variable installation is not All by default: %+v", dashboard.UID, v)
				}
				// A Prometheus without its operator may not have the label.
				if all, err := regexp.Compile("^(?:" + v.AllValue + ")$"); err != nil || !all.MatchString("") || !all.MatchString("firesteel-system") {
					t.Errorf("%s: All is %q, which leaves series out", dashboard.UID, v.AllValue)
				}
			case v.Type == "query" && !strings.Contains(v.Query, `namespace=~"$installation"`):
				t.Errorf("%s: the variable %s offers values of other installations: %s", dashboard.UID, v.Name, v.Query)
			}
		}
		if !offered {
			t.Errorf("%s has no variable installation", dashboard.UID)
		}
	}
}

func TestSelectorsMatchAsInPrometheus(t *testing.T) {
	labels := map[string]string{"state": "Failed", "name": "a.b"}
	for expression, want := range map[string]bool{
		`m{state="Failed"}`:                  true,
		`m{job="other", state="Failed"}`:     true,
		`m{state="Fail"}`:                    false,
		`m{state=~"Fail"}`:                   false,
		`m{state=~"Failed|Succeeded"}`:       true,
		`m{state!="Failed"}`:                 false,
		`m{state!~"Succ.*", name=~"a[.].+"}`: true,
		`m{absent=""}`:                       true,
		`m{absent="a"}`:                      false,
		`other{state="Failed"}`:              false,
	} {
		selectors, err := Selectors("sum(rate(" + expression + "[5m])) or vector(0)")
		if err != nil || len(selectors) != 1 {
			t.Fatalf("%s reads %v: %v", expression, selectors, err)
		}
		if got := selectors[0].Matches("m", labels); got != want {
			t.Errorf("%s matches: %t, want %t", expression, got, want)
		}
	}
}
