// Package reference generates the published documents of the events' contract from its table: a page, a JSON schema for each type,
// an AsyncAPI document and Knative's EventTypes. hack/contract writes the files.
package reference

import (
	"fmt"
	"path"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

// SchemaDir is the directory of the JSON schemas. It holds no other files.
const SchemaDir = "docs/users/events"

// Files returns the published documents by their paths in the repository.
func Files() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, eventType := range events.Types {
		text, err := Schema(eventType)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", eventType.Name, err)
		}
		files[schemaPath(eventType)] = text
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

func schemaPath(eventType events.Type) string {
	return path.Join(SchemaDir, eventType.Name+".schema.json")
}
