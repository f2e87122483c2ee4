// Command dashboards generates the Grafana dashboards of config/observability: a ConfigMap for each, with the label by which
// Grafana's sidecar finds it. With -check it only compares. Run it in the module's root.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

const folder = "config/observability"

func main() {
	log.SetFlags(0)
	check := flag.Bool("check", false, "change nothing; fail if something is out of date")
	flag.Parse()
	var stale []error
	for _, d := range dashboards {
		text, err := d.configMap()
		if err != nil {
			log.Fatalf("dashboards: %v", err)
		}
		path := filepath.Join(folder, "dashboard-"+d.name+".yaml")
		current, _ := os.ReadFile(path) // a missing file is out of date
		switch {
		case bytes.Equal(current, text):
		case *check:
			stale = append(stale, fmt.Errorf("%s is out of date: run make generate", path))
		default:
			if err := os.WriteFile(path, text, 0o644); err != nil {
				log.Fatalf("dashboards: %v", err)
			}
		}
	}
	if err := errors.Join(stale...); err != nil {
		log.Fatal(err)
	}
}

// configMap returns the manifest of a dashboard.
func (d dashboard) configMap() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("    ", "  ")
	if err := encoder.Encode(d.grafana()); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `# Made by make generate from hack/dashboards. Do not edit.
apiVersion: v1
kind: ConfigMap
metadata:
  name: firesteel-dashboard-%[1]s
  namespace: firesteel-system
  labels:
    app.kubernetes.io/part-of: firesteel
    grafana_dashboard: "1"
data:
  firesteel-%[1]s.json: |
    %[2]s
`, d.name, strings.TrimSpace(text.String())), nil
}

// object is an object of Grafana's JSON.
type object = map[string]any

var datasource = object{"type": "prometheus", "uid": "$datasource"}

// The grid of Grafana has 24 columns.
const (
	columns     = 24
	statHeight  = 4
	graphHeight = 8
)

// grafana returns the dashboard as Grafana imports it.
func (d dashboard) grafana() object {
	var panels []object
	x, y, height := 0, 0, 0
	for i, p := range d.panels {
		width, tall := columns/3, graphHeight
		if p.kind == stat {
			width, tall = columns/d.stats(), statHeight
		}
		if x+width > columns || height != 0 && tall != height {
			x, y = 0, y+height
		}
		height = tall
		panels = append(panels, p.grafana(i+1, object{"x": x, "y": y, "w": width, "h": tall}))
		x += width
	}
	variables := []object{
		{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
		// A Prometheus that does not write the label namespace has no values, but All.
		variable("installation", "Installation", "label_values(firesteel_applications, namespace)", ".*"),
		variable("job", "Job", `label_values(firesteel_applications{namespace=~"$installation"}, job)`, ".+"),
	}
	if d.perNamespace {
		variables = append(variables, variable("namespace", "Namespace", "label_values("+series("firesteel_namespace_applications")+", k8s_namespace_name)", ""))
	}
	return object{
		"uid": "firesteel-" + d.name, "title": d.title, "description": d.description, "tags": []string{"firesteel", "spark"},
		"schemaVersion": 39, "editable": true, "refresh": "30s", "timezone": "browser",
		"time": object{"from": "now-6h", "to": "now"}, "templating": object{"list": variables}, "panels": panels,
		"links": []object{{
			"type": "dashboards", "title": "Firesteel", "tags": []string{"firesteel"}, "asDropdown": true, "includeVars": true, "keepTime": true,
		}},
	}
}

// stats returns the number of panels with one number.
func (d dashboard) stats() (n int) {
	for _, p := range d.panels {
		if p.kind == stat {
			n++
		}
	}
	return n
}

// variable returns a variable with the values of a label. If it has a regular expression for all, it may have several values at once,
// and has all by default.
func variable(name, label, query, all string) object {
	v := object{
		"name": name, "label": label, "type": "query", "datasource": datasource, "query": query, "refresh": 2, "sort": 1,
		"multi": all != "", "includeAll": all != "",
	}
	if all != "" {
		v["allValue"] = all
		v["current"] = object{"text": "All", "value": "$__all"}
	}
	return v
}

// grafana returns a panel at its place in the grid.
func (p panel) grafana(id int, place object) object {
	var targets []object
	for i, q := range p.queries {
		targets = append(targets, object{
			"refId": string(rune('A' + i)), "datasource": datasource, "expr": q.expr, "legendFormat": q.legend, "range": p.kind == graph, "instant": p.kind == stat,
		})
	}
	defaults := object{"unit": p.unit, "min": 0}
	panel := object{
		"id": id, "title": p.title, "description": p.description, "type": "timeseries", "gridPos": place, "datasource": datasource,
		"targets": targets, "fieldConfig": object{"defaults": defaults, "overrides": []object{}},
		"options": object{"tooltip": object{"mode": "multi", "sort": "desc"}, "legend": object{"displayMode": "list", "placement": "bottom"}},
	}
	if p.kind == stat {
		panel["type"] = "stat"
		panel["options"] = object{"reduceOptions": object{"calcs": []string{"lastNotNull"}}, "colorMode": "value", "graphMode": "area"}
	}
	return panel
}
