package reference

import (
	"bytes"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

type object = map[string]any

const eventTypesHead = `# Made by make generate from pkg/events/contract.go. Do not edit.
# The events that are to be had from the Broker: kubectl -n firesteel-system get eventtypes
`

// eventTypes are Knative's EventTypes.
func eventTypes() ([]byte, error) {
	out := bytes.NewBufferString(eventTypesHead)
	for i, kind := range events.Types {
		text, err := yaml.Marshal(eventType(kind))
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}

func eventType(kind events.Type) object {
	return object{
		"apiVersion": "eventing.knative.dev/v1beta3",
		"kind":       "EventType",
		"metadata": object{
			"name":      kind.Name,
			"namespace": "firesteel-system",
			"labels":    object{"app.kubernetes.io/part-of": "firesteel"},
		},
		"spec": object{
			"description": kind.Description,
			"reference":   object{"apiVersion": "eventing.knative.dev/v1", "kind": "Broker", "name": "firesteel"},
			"attributes":  attributesOf(kind),
		},
	}
}

// attributesOf are the attributes of a type's events, with values where those are known, or parts of them.
func attributesOf(kind events.Type) []object {
	values := map[string]string{
		"type":                kind.Name,
		"specversion":         "1.0",
		"datacontenttype":     "application/json",
		"dataschema":          kind.Schema(),
		"source":              strings.Replace("/apis/{group}/namespaces/{namespace}/RESOURCE/{name}/{uid}", "RESOURCE", kind.Resource(), 1),
		"subject":             "{namespace}/{name}",
		events.ExtensionState: kind.State,
	}
	var attributes []object
	for _, a := range events.Attributes {
		if !a.AllowedOn(kind) {
			continue
		}
		attribute := object{"name": a.Name, "required": a.RequiredOn(kind)}
		if value := values[a.Name]; value != "" {
			attribute["value"] = value
		}
		attributes = append(attributes, attribute)
	}
	return attributes
}
