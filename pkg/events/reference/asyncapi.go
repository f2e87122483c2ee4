package reference

import (
	"bytes"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/events"
)

const asyncAPIHead = `# Made by make generate from pkg/events/contract.go. Do not edit.
`

// asyncAPI is an AsyncAPI document: one channel, with a message for each type in the binary mode of HTTP, as it is sent.
func asyncAPI() ([]byte, error) {
	messages, references := object{}, object{}
	for _, kind := range events.Types {
		messages[kind.Name] = message(kind)
		references[kind.Name] = object{"$ref": "#/components/messages/" + kind.Name}
	}
	text, err := yaml.Marshal(object{
		"asyncapi": "3.0.0",
		"info": object{
			"title":       "Firesteel",
			"version":     "1.0.0",
			"description": "What Firesteel tells of Spark applications, clusters and schedules, as CloudEvents.",
			"license":     object{"name": "Apache 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
		},
		"defaultContentType": "application/json",
		"channels": object{"lifecycle": object{
			"description": "The sink that K_SINK names: a Knative Broker, or any HTTP endpoint that takes CloudEvents.",
			"messages":    references,
		}},
		"operations": object{"tell": object{
			"action":  "send",
			"channel": object{"$ref": "#/channels/lifecycle"},
			"summary": "Posts each event until the sink answers 2xx, in order for each object.",
		}},
		"components": object{"messages": messages},
	})
	return append(bytes.Clone([]byte(asyncAPIHead)), text...), err
}

func message(kind events.Type) object {
	properties, required := object{}, []string{}
	for _, a := range events.Attributes {
		if !a.AllowedOn(kind) {
			continue
		}
		name := "ce-" + a.Name
		if a.Name == "datacontenttype" {
			name = "content-type"
		}
		properties[name] = headerOf(kind, a)
		if a.RequiredOn(kind) {
			required = append(required, name)
		}
	}
	return object{
		"name":        kind.Name,
		"summary":     kind.Description,
		"contentType": "application/json",
		"headers":     object{"type": "object", "properties": properties, "required": required},
		"payload": object{
			"schemaFormat": "application/schema+json;version=draft-2020-12",
			"schema":       object{"$ref": "events/" + kind.Name + ".schema.json"},
		},
	}
}

func headerOf(kind events.Type, a events.Attribute) object {
	exact := map[string]string{"type": kind.Name, "dataschema": kind.Schema(), events.ExtensionState: kind.State}
	if value := exact[a.Name]; value != "" {
		return object{"type": "string", "const": value}
	}
	return object{"type": "string", "pattern": "^(" + a.Pattern + ")$", "description": a.Description}
}
