package reference

import (
	"bytes"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

type object = map[string]any

const eventTypesHead = `# Made by make generate from pkg/events/contract.go. Do not edit.
# The events that the Broker delivers: kubectl -n firesteel-system get eventtypes
`

// eventTypes returns the manifests of Knative's EventTypes.
func eventTypes() ([]byte, error) {
	out := bytes.NewBufferString(eventTypesHead)
	for i, eventType := range events.Types {
		text, err := yaml.Marshal(eventTypeManifest(eventType))
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

func eventTypeManifest(eventType events.Type) object {
	return object{
		"apiVersion": "eventing.knative.dev/v1beta3",
		"kind":       "EventType",
		"metadata": object{
			"name":      eventType.Name,
			"namespace": "firesteel-system",
			"labels":    object{"app.kubernetes.io/part-of": "firesteel"},
		},
		"spec": object{
			"description": eventType.Description,
			"reference":   object{"apiVersion": "eventing.knative.dev/v1", "kind": "Broker", "name": "firesteel"},
			"attributes":  attributesOf(eventType),
		},
	}
}

// attributesOf returns the attributes of a type's events. An attribute has a value, or a pattern of one, if that is known.
func attributesOf(eventType events.Type) []object {
	values := map[string]string{
		"type":                eventType.Name,
		"specversion":         "1.0",
		"datacontenttype":     "application/json",
		"dataschema":          eventType.Schema(),
		"source":              strings.Replace("/apis/{group}/namespaces/{namespace}/RESOURCE/{name}/{uid}", "RESOURCE", eventType.Resource(), 1),
		"subject":             "{namespace}/{name}",
		events.ExtensionState: eventType.State,
	}
	var attributes []object
	for _, a := range events.Attributes {
		if !a.AllowedOn(eventType) {
			continue
		}
		attribute := object{"name": a.Name, "required": a.RequiredOn(eventType)}
		if value := values[a.Name]; value != "" {
			attribute["value"] = value
		}
		attributes = append(attributes, attribute)
	}
	return attributes
}
