// Command contract writes the published documents of the events' contract: docs/users/events.md, the JSON Schemas, the
// AsyncAPI document and Knative's EventTypes. It also draws the states, in docs/users/states.md. With -check it only
// compares. Run it in the module's root.
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

	"github.com/firesteel-dev/firesteel/pkg/events/reference"
)

func main() {
	log.SetFlags(0)
	check := flag.Bool("check", false, "change nothing; fail if what is published is out of date")
	flag.Parse()

	if err := run(*check); err != nil {
		log.Fatalf("contract: %v", err)
	}
}

func run(check bool) error {
	files, err := reference.Files()
	if err != nil {
		return err
	}
	if files[statesPath], err = states(); err != nil {
		return err
	}
	schemas, err := filepath.Glob(filepath.Join(reference.SchemaDir, "*"))
	if err != nil {
		return err
	}
	var stale []error
	for _, path := range schemas {
		if files[path] != nil {
			continue
		}
		if check {
			stale = append(stale, fmt.Errorf("%s is the schema of no type: run make generate", path))
		} else if err := os.Remove(path); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		text := files[path]
		current, _ := os.ReadFile(path) // a missing file is out of date
		if bytes.Equal(current, text) {
			continue
		}
		if check {
			stale = append(stale, fmt.Errorf("%s is out of date: run make generate", path))
		} else if err := write(path, text); err != nil {
			return err
		}
	}
	return errors.Join(stale...)
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
