package reference

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

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

func schemaOf(kind events.Type) *jsonSchema {
	s := schemaOfStruct(reflect.TypeFor[events.ClockData]())
	if !kind.Clock() {
		s = schemaOfStruct(reflect.TypeFor[events.TransitionData]())
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

// Schema is the JSON Schema of the data of a type's events.
func Schema(kind events.Type) ([]byte, error) {
	text, err := json.MarshalIndent(schemaOf(kind), "", "  ")
	return append(text, '\n'), err
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
		if minimum, err := strconv.ParseInt(tag.Get("minimum"), 10, 64); err == nil {
			s.Minimum = &minimum
		}
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
