package events

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

var update = flag.Bool("update", false, "write docs/events.md and docs/events/*.schema.json")

const docs = "../../docs"

// TestReference keeps the documentation of the events, and their schemas, what the table of types says.
func TestReference(t *testing.T) {
	want := reference(t)
	if *update {
		writeReference(t, want)
	}
	for path, text := range want {
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s is stale: run go generate ./pkg/events (-want +got):\n%s", path, cmp.Diff(string(text), string(got)))
		}
	}
	for _, path := range schemaFiles(t) {
		if _, known := want[path]; !known {
			t.Errorf("%s is the schema of no type", path)
		}
	}
}

func writeReference(t *testing.T, files map[string][]byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(docs, "events"), 0o755))
	for _, path := range schemaFiles(t) {
		must(t, os.Remove(path))
	}
	for path, text := range files {
		must(t, os.WriteFile(path, text, 0o644))
	}
}

func schemaFiles(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(docs, "events", "*.schema.json"))
	must(t, err)
	return paths
}

func reference(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{filepath.Join(docs, "events.md"): page(t)}
	for _, kind := range Types {
		text, err := json.MarshalIndent(schemaOf(kind), "", "  ")
		must(t, err)
		files[filepath.Join(docs, "events", kind.Name+".schema.json")] = append(text, '\n')
	}
	return files
}

// jsonSchema is a JSON Schema 2020-12, as far as the events need it.
type jsonSchema struct {
	Schema      string                 `json:"$schema,omitempty"`
	ID          string                 `json:"$id,omitempty"`
	Title       string                 `json:"title,omitempty"`
	Description string                 `json:"description,omitempty"`
	Type        string                 `json:"type,omitempty"`
	Format      string                 `json:"format,omitempty"`
	Const       string                 `json:"const,omitempty"`
	Enum        []string               `json:"enum,omitempty"`
	Minimum     *int64                 `json:"minimum,omitempty"`
	Properties  map[string]*jsonSchema `json:"properties,omitempty"`
	Required    []string               `json:"required,omitempty"`
	Additional  *bool                  `json:"additionalProperties,omitempty"`
}

func schemaOf(kind Type) *jsonSchema {
	s := schemaOfStruct(reflect.TypeFor[ClockData]())
	if !kind.Clock() {
		s = schemaOfStruct(reflect.TypeFor[TransitionData]())
		s.Properties["state"].Const = kind.State
		if !kind.EndsAttempt {
			delete(s.Properties, "end")
		}
		if kind.Cluster { // it has no driver
			drop(s, "driverPod", "applicationID")
			drop(s.Properties["end"], "exitCode", "pod")
		}
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.ID = kind.Schema()
	s.Title = kind.Name
	s.Description = kind.Description
	return s
}

func drop(s *jsonSchema, fields ...string) {
	for _, field := range fields {
		if s != nil {
			delete(s.Properties, field)
		}
	}
}

func schemaOfStruct(of reflect.Type) *jsonSchema {
	yes := true
	s := &jsonSchema{Type: "object", Properties: map[string]*jsonSchema{}, Additional: &yes}
	for _, field := range fieldsOf(of) {
		s.Properties[field.Name] = field.schema
		if !field.Optional {
			s.Required = append(s.Required, field.Name)
		}
	}
	return s
}

// field is a field of an event's data, for the page and for the schema.
type field struct {
	Name        string
	Type        string
	Description string
	Optional    bool
	schema      *jsonSchema
}

func fieldsOf(of reflect.Type) []field {
	var fields []field
	for i := range of.NumField() {
		tag := of.Field(i).Tag
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		s := schemaOfValue(of.Field(i).Type)
		s.Description = tag.Get("doc")
		if enum := tag.Get("enum"); enum != "" {
			s.Enum = strings.Split(enum, ",")
		}
		fields = append(fields, field{
			Name: name, Type: s.Type, Description: s.Description, Optional: options == "omitempty", schema: s,
		})
	}
	return fields
}

func schemaOfValue(of reflect.Type) *jsonSchema {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case of == reflect.TypeFor[time.Time]():
		return &jsonSchema{Type: "string", Format: "date-time"}
	case of.Kind() == reflect.Struct:
		return schemaOfStruct(of)
	case of.Kind() == reflect.Bool:
		return &jsonSchema{Type: "boolean"}
	case of.Kind() == reflect.Int32:
		return &jsonSchema{Type: "integer"}
	case of.Kind() == reflect.Int64:
		var none int64
		return &jsonSchema{Type: "integer", Minimum: &none}
	default:
		return &jsonSchema{Type: "string"}
	}
}

func page(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/events.md.tmpl")
	must(t, err)
	layout, err := template.New("events.md").Parse(string(text))
	must(t, err)
	var out bytes.Buffer
	must(t, layout.Execute(&out, map[string]any{
		"Types":      Types,
		"Transition": fieldsOf(reflect.TypeFor[TransitionData]()),
		"End":        fieldsOf(reflect.TypeFor[End]()),
		"Clock":      fieldsOf(reflect.TypeFor[ClockData]()),
		"Example":    example(t),
	}))
	return out.Bytes()
}

func example(t *testing.T) string {
	t.Helper()
	exitCode := int32(52)
	object := pi
	object.UID = "5f0a7c9e-6f4b-4d8e-9f57-0c1d5b7e2a31"
	event, err := ForTransition(object, v1alpha1.Transition{
		Sequence:      8,
		Time:          microTime("2026-03-01T08:15:30.123456Z"),
		State:         "Failed",
		Message:       "Driver container exited with 52.",
		DriverPod:     "pi-0-driver",
		ApplicationID: "spark-3f0c9d5c2b8e4d51",
		End: &v1alpha1.AttemptEnd{
			Outcome:        v1alpha1.OutcomeFailed,
			RestartAllowed: true,
			Class:          "application",
			ExitCode:       &exitCode,
			Reason:         "OOM",
			Message:        "Driver container exited with 52.",
		},
	})
	must(t, err)
	text, err := json.MarshalIndent(event, "", "  ")
	must(t, err)
	return string(text)
}
