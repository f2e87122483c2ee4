// Package reference makes what is published of the events' contract from its one table: a page, a JSON Schema for each type,
// an AsyncAPI document and Knative's EventTypes. hack/codegen writes them.
package reference

import (
	"fmt"
	"path"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

// SchemaDir holds the JSON schemas, and nothing else.
const SchemaDir = "docs/users/events"

// Files are all that is published, by their paths in the repository.
func Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, kind := range events.Types {
		text, err := Schema(kind)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", kind.Name, err)
		}
		files[schemaPath(kind)] = text
	}
	for name, make := range map[string]func() ([]byte, error){
		"docs/users/events.md":                page,
		"docs/users/asyncapi.yaml":            asyncAPI,
		"config/eventing/600-eventtypes.yaml": eventTypes,
	} {
		text, err := make()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = text
	}
	return files, nil
}

func schemaPath(kind events.Type) string { return path.Join(SchemaDir, kind.Name+".schema.json") }
