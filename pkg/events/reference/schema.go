package reference

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

// jsonSchema is the part of JSON Schema 2020-12 that the events need.
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

func schemaOf(eventType events.Type) *jsonSchema {
	s := schemaOfStruct(reflect.TypeFor[events.ClockData]())
	if !eventType.Clock() {
		s = schemaOfStruct(reflect.TypeFor[events.TransitionData]())
		s.Properties["state"].Const = eventType.State
		if !eventType.EndsAttempt {
			delete(s.Properties, "end")
		}
		if eventType.Cluster { // a cluster has no driver
			drop(s, "driverPod", "applicationID", "usage")
			drop(s.Properties["end"], "exitCode", "pod")
		}
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.ID = eventType.Schema()
	s.Title = eventType.Name
	s.Description = eventType.Description
	return s
}

func drop(s *jsonSchema, fields ...string) {
	for _, field := range fields {
		if s != nil {
			delete(s.Properties, field)
		}
	}
}

func schemaOfStruct(typ reflect.Type) *jsonSchema {
	allowed := true
	s := &jsonSchema{Type: "object", Properties: map[string]*jsonSchema{}, Additional: &allowed}
	for _, field := range fieldsOf(typ) {
		s.Properties[field.Name] = field.schema
		if !field.Optional {
			s.Required = append(s.Required, field.Name)
		}
	}
	return s
}

// Schema returns the JSON schema for the data of a type's events.
func Schema(eventType events.Type) ([]byte, error) {
	text, err := json.MarshalIndent(schemaOf(eventType), "", "  ")
	return append(text, '\n'), err
}

// field describes a field of an event's data, for the page and for the schema.
type field struct {
	Name        string
	Type        string
	Description string
	Optional    bool
	schema      *jsonSchema
}

func fieldsOf(typ reflect.Type) []field {
	var fields []field
	for i := range typ.NumField() {
		tag := typ.Field(i).Tag
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		s := schemaOfValue(typ.Field(i).Type)
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

func schemaOfValue(typ reflect.Type) *jsonSchema {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch {
	case typ == reflect.TypeFor[time.Time]():
		return &jsonSchema{Type: "string", Format: "date-time"}
	case typ.Kind() == reflect.Struct:
		return schemaOfStruct(typ)
	case typ.Kind() == reflect.Bool:
		return &jsonSchema{Type: "boolean"}
	case typ.Kind() == reflect.Int32:
		return &jsonSchema{Type: "integer"}
	case typ.Kind() == reflect.Int64:
		var zero int64
		return &jsonSchema{Type: "integer", Minimum: &zero}
	default:
		return &jsonSchema{Type: "string"}
	}
}
