package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// copies holds the files of the chart with the manifests of config that each contains. It has no CRDs: cmd/setup applies
// them.
var copies = map[string]string{
	"core":                         "config/[124-9]*.yaml",
	"eventing":                     "config/eventing/[1-8]*.yaml",
	"external":                     "config/eventing/900-config-handlers.yaml",
	"archive":                      "config/archive/*.yaml",
	"archive-eventing":             "config/archive-eventing/[5-7]*.yaml",
	"driver-logs":                  "config/driver-logs/*.yaml",
	"history":                      "config/history/*.yaml",
	"other-operators":              "config/other-operators/*.yaml",
	"admission":                    "config/admission/*.yaml",
	"admission-accounts":           "config/admission-accounts/*.yaml",
	"admission-warnings":           "config/admission-warnings/*.yaml",
	"webhook":                      "config/webhook/*.yaml",
	"console":                      "config/console/*.yaml",
	"console-impersonation":        "config/console-impersonation/2*.yaml",
	"archive-service":              "config/archive-service/5*.yaml",
	"workload":                     "config/workload/*.yaml",
	"workload-namespaces":          "config/workload-namespaces/2*.yaml",
	"workload-namespaces-eventing": "config/workload-namespaces-eventing/[5-7]*.yaml",
	"rules":                        "config/observability/rules.yaml",
	"dashboards":                   "config/observability/dashboard-*.yaml",
}

// manifests returns the chart's copies of config.
func manifests(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, pattern := range copies {
		sources, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(sources) == 0 {
			return nil, fmt.Errorf("no manifest matches %s: %w", pattern, err)
		}
		var documents []string
		for _, source := range sources {
			text, err := os.ReadFile(source)
			if err != nil {
				return nil, err
			}
			documents = append(documents, string(bytes.TrimSpace(text)))
		}
		files[folder+"/files/"+name+".yaml"] = []byte("# Made by make generate from " + pattern + ". Do not edit.\n" +
			strings.Join(documents, "\n---\n") + "\n")
	}
	return files, nil
}
