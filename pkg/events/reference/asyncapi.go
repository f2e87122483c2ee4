package reference

import (
	"bytes"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

const asyncAPIHead = `# Made by make generate from pkg/events/contract.go. Do not edit.
`

// asyncAPI returns an AsyncAPI document. It has one channel, with a message for each type in HTTP binary mode.
func asyncAPI() ([]byte, error) {
	messages, references := object{}, object{}
	for _, eventType := range events.Types {
		messages[eventType.Name] = message(eventType)
		references[eventType.Name] = object{"$ref": "#/components/messages/" + eventType.Name}
	}
	text, err := yaml.Marshal(object{
		"asyncapi": "3.0.0",
		"info": object{
			"title":       "Firesteel",
			"version":     "1.0.0",
			"description": "The lifecycles of Spark applications, clusters and schedules, as CloudEvents.",
			"license":     object{"name": "Apache 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
		},
		"defaultContentType": "application/json",
		"channels": object{"lifecycle": object{
			"description": "The sink in K_SINK: a Knative Broker, or any HTTP endpoint that accepts CloudEvents.",
			"messages":    references,
		}},
		"operations": object{"publish": object{
			"action":  "send",
			"channel": object{"$ref": "#/channels/lifecycle"},
			"summary": "Posts each event until the sink answers 2xx, in order for each object.",
		}},
		"components": object{"messages": messages},
	})
	return append(bytes.Clone([]byte(asyncAPIHead)), text...), err
}

func message(eventType events.Type) object {
	properties, required := object{}, []string{}
	for _, a := range events.Attributes {
		if !a.AllowedOn(eventType) {
			continue
		}
		name := "ce-" + a.Name
		if a.Name == "datacontenttype" {
			name = "content-type"
		}
		properties[name] = headerOf(eventType, a)
		if a.RequiredOn(eventType) {
			required = append(required, name)
		}
	}
	return object{
		"name":        eventType.Name,
		"summary":     eventType.Description,
		"contentType": "application/json",
		"headers":     object{"type": "object", "properties": properties, "required": required},
		"payload": object{
			"schemaFormat": "application/schema+json;version=draft-2020-12",
			"schema":       object{"$ref": "events/" + eventType.Name + ".schema.json"},
		},
	}
}

func headerOf(eventType events.Type, a events.Attribute) object {
	exact := map[string]string{"type": eventType.Name, "dataschema": eventType.Schema(), events.ExtensionState: eventType.State}
	if value := exact[a.Name]; value != "" {
		return object{"type": "string", "const": value}
	}
	return object{"type": "string", "pattern": "^(" + a.Pattern + ")$", "description": a.Description}
}
