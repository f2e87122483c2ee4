package parity

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// Who refuses a submission.
const (
	BySpark  = "spark"
	ByServer = "server" // after Spark had built the objects
)

// Recording is what came of a case.
type Recording struct {
	// RefusedBy is empty where the submission was accepted, and then there are Fields.
	RefusedBy string `json:"refusedBy,omitempty"`
	Message   string `json:"message,omitempty"`
	// Fields are the objects in their normal form, as Flatten has them.
	Fields Fields `json:"fields,omitempty"`
}

// likeMinimal is the case whose recording the others of its version are kept as differences from: what a case is about
// stands out, and the recordings stay small.
const likeMinimal = "minimal"

// File is where the recording of a case is, below the folder of the package.
func File(version, name string) string {
	return filepath.Join("testdata", version, name+".yaml")
}

// Load reads the recording of a case.
func Load(version, name string) (*Recording, error) {
	recording, err := read(version, name)
	if err != nil || name == likeMinimal || recording.RefusedBy != "" {
		return recording, err
	}
	minimal, err := read(version, likeMinimal)
	if err != nil {
		return nil, err
	}
	whole := maps.Clone(minimal.Fields)
	for field, value := range recording.Fields {
		if value == nil {
			delete(whole, field)
		} else {
			whole[field] = value
		}
	}
	return &Recording{Fields: whole}, nil
}

func read(version, name string) (*Recording, error) {
	text, err := os.ReadFile(File(version, name))
	if err != nil {
		return nil, fmt.Errorf("no recording, run make parity: %w", err)
	}
	recording := &Recording{}
	return recording, yaml.UnmarshalStrict(text, recording)
}

// Text is the content of the recording's file. The one of the case minimal must have been written.
func (r *Recording) Text(version, name string) ([]byte, error) {
	if name == likeMinimal || r.RefusedBy != "" {
		return yaml.Marshal(r)
	}
	minimal, err := read(version, likeMinimal)
	if err != nil {
		return nil, err
	}
	differences := Fields{}
	for field := range minimal.Fields {
		if _, given := r.Fields[field]; !given {
			differences[field] = nil
		}
	}
	for field, value := range r.Fields {
		if minimal.Fields[field] != value {
			differences[field] = value
		}
	}
	return yaml.Marshal(Recording{Fields: differences})
}
