// Package observability reads the alerts and dashboards of config/observability for tests. Its own tests need nothing but Go. Those
// in promtool need Prometheus, and those in test/integration compare the dashboards with what a controller exports.
package observability

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/VictoriaMetrics/metricsql"
	"sigs.k8s.io/yaml"
)

// folder has the alerts and dashboards, below the root of the repository.
const folder = "config/observability"

// Rule is an alert or a recording rule.
type Rule struct {
	Alert       string            `json:"alert"`
	Record      string            `json:"record"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// Rules returns the rules of the PrometheusRule, and its spec as a file of rules for Prometheus.
func Rules(root string) (rules []Rule, file []byte, err error) {
	text, err := os.ReadFile(filepath.Join(root, folder, "rules.yaml"))
	if err != nil {
		return nil, nil, err
	}
	var object struct{ Spec map[string]any }
	var groups struct {
		Spec struct{ Groups []struct{ Rules []Rule } }
	}
	if err := yaml.Unmarshal(text, &object); err != nil {
		return nil, nil, err
	}
	if err := yaml.Unmarshal(text, &groups); err != nil {
		return nil, nil, err
	}
	for _, group := range groups.Spec.Groups {
		rules = append(rules, group.Rules...)
	}
	file, err = yaml.Marshal(object.Spec)
	return rules, file, err
}

// Dashboard is a dashboard as Grafana imports it.
type Dashboard struct {
	UID        string `json:"uid"`
	Templating struct {
		Variables []Variable `json:"list"`
	} `json:"templating"`
	Panels []struct {
		Title   string
		Targets []struct{ Expr string }
	} `json:"panels"`
}

// Variable is what the reader of a dashboard chooses.
type Variable struct {
	Name, Type, Query string
	Multi, IncludeAll bool
	AllValue          string
	Current           struct{ Value string }
}

// Dashboards returns all dashboards.
func Dashboards(root string) ([]Dashboard, error) {
	files, err := filepath.Glob(filepath.Join(root, folder, "dashboard-*.yaml"))
	if err != nil {
		return nil, err
	}
	var dashboards []Dashboard
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var configMap struct{ Data map[string]string }
		if err := yaml.Unmarshal(text, &configMap); err != nil {
			return nil, err
		}
		for name, text := range configMap.Data {
			var dashboard Dashboard
			if err := json.Unmarshal([]byte(text), &dashboard); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			dashboards = append(dashboards, dashboard)
		}
	}
	return dashboards, nil
}

// Panel is a panel of a dashboard.
type Panel struct {
	Dashboard, Title string
	Queries          []string
}

// Choice is what the reader chooses. Installation and Job are regular expressions, as Grafana makes them of several values.
type Choice struct{ Installation, Job, Namespace string }

// Everything is what a dashboard shows when it is opened: all installations and jobs, with the given namespace.
func Everything(namespace string) Choice {
	return Choice{Installation: ".*", Job: ".+", Namespace: namespace}
}

// Panels returns the panels of all dashboards, with the queries that Grafana sends.
func Panels(root string, choice Choice) ([]Panel, error) {
	dashboards, err := Dashboards(root)
	if err != nil {
		return nil, err
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$installation", choice.Installation, "$job", choice.Job, "$namespace", choice.Namespace)
	var panels []Panel
	for _, dashboard := range dashboards {
		for _, p := range dashboard.Panels {
			panel := Panel{Dashboard: dashboard.UID, Title: p.Title}
			for _, target := range p.Targets {
				panel.Queries = append(panel.Queries, variables.Replace(target.Expr))
			}
			panels = append(panels, panel)
		}
	}
	return panels, nil
}

// ZeroWithoutData reports whether a query returns zero if there are no series.
func ZeroWithoutData(query string) bool { return strings.HasSuffix(query, " or vector(0)") }

// Selector is what an expression reads: a metric, and matchers of its labels.
type Selector struct {
	Metric   string
	Matchers []metricsql.LabelFilter
}

// Selectors returns what an expression of PromQL reads.
func Selectors(expr string) ([]Selector, error) {
	parsed, err := metricsql.Parse(expr)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", expr, err)
	}
	var selectors []Selector
	metricsql.VisitAll(parsed, func(part metricsql.Expr) {
		read, ok := part.(*metricsql.MetricExpr)
		if !ok {
			return
		}
		for _, filters := range read.LabelFilterss {
			var selector Selector
			for _, filter := range filters {
				if filter.Label == "__name__" {
					selector.Metric = filter.Value
				} else {
					selector.Matchers = append(selector.Matchers, filter)
				}
			}
			if !slices.ContainsFunc(selectors, func(s Selector) bool {
				return s.Metric == selector.Metric && slices.Equal(s.Matchers, selector.Matchers)
			}) {
				selectors = append(selectors, selector)
			}
		}
	})
	return selectors, nil
}

// Matches reports whether a controller exports a series that the selector selects. The labels job and instance are Prometheus' own.
func (s Selector) Matches(metric string, labels map[string]string) bool {
	return s.Metric == metric && !slices.ContainsFunc(s.Matchers, func(m metricsql.LabelFilter) bool {
		if m.Label == "job" || m.Label == "instance" {
			return false
		}
		value := labels[m.Label]
		equal := value == m.Value
		if m.IsRegexp {
			equal = regexp.MustCompile("^(?:" + m.Value + ")$").MatchString(value)
		}
		return equal == m.IsNegative
	})
}
