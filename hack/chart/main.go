// Command chart generates the parts of the Helm chart that come from elsewhere: its copy of config, the schema of its
// values, the table of values in its README.md, and docs/operators/helm.md, which maps the values of both Spark operators'
// charts. With -check it only compares. Run it in the module's root.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/firesteel-dev/firesteel/hack/chart/move"
)

// folder is the folder of the chart.
const folder = "charts/firesteel"

func main() {
	log.SetFlags(0)
	check := flag.Bool("check", false, "change nothing; fail if something is out of date")
	flag.Parse()

	if err := run(*check); err != nil {
		log.Fatalf("chart: %v", err)
	}
}

func run(check bool) error {
	files, err := generate(".")
	if err != nil {
		return err
	}
	var stale []error
	for _, path := range slices.Sorted(maps.Keys(files)) {
		current, _ := os.ReadFile(path) // a missing file is out of date
		switch {
		case bytes.Equal(current, files[path]):
		case check:
			stale = append(stale, fmt.Errorf("%s is out of date: run make generate", path))
		default:
			if err := os.WriteFile(path, files[path], 0o644); err != nil {
				return err
			}
		}
	}
	return errors.Join(stale...)
}

// generate returns the text of each generated file, by its path below root.
func generate(root string) (map[string][]byte, error) {
	files, err := manifests(root)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, folder, "values.yaml"))
	if err != nil {
		return nil, err
	}
	values, err := parseValues(text)
	if err != nil {
		return nil, err
	}
	if files[folder+"/values.schema.json"], err = schemaOf(values); err != nil {
		return nil, err
	}
	if files[folder+"/README.md"], err = readme(values); err != nil {
		return nil, err
	}
	files[move.Page] = move.Markdown()
	return files, nil
}
