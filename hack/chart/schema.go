package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/crds"
)

// schema is a JSON schema.
type schema map[string]any

func text() schema                         { return schema{"type": "string"} }
func matching(pattern string) schema       { return schema{"type": "string", "pattern": pattern} }
func oneOf(values ...string) schema        { return schema{"enum": values} }
func optional(types ...string) schema      { return schema{"type": append(types, "null")} }
func listOf(item schema) schema            { return schema{"type": "array", "items": item} }
func mapOf(item schema) schema             { return schema{"type": "object", "additionalProperties": item} }
func either(alternatives ...schema) schema { return schema{"anyOf": alternatives} }

// named is an object with a name, as Kubernetes has in many lists.
func named() schema { return schema{"type": "object", "required": []string{"name"}} }

const (
	dnsLabel     = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
	digestOrNone = `^(sha256:[0-9a-f]{64})?$`
	// longestName is the longest name of a release in Helm. The name of a Job takes ten characters more, and has room for 63.
	longestName = 53
)

// special holds the schema of values whose default does not determine it.
var special = map[string]schema{
	"apis": {
		"type": "array", "items": oneOf(crds.APIs()...), "minItems": 1, "uniqueItems": true,
	},
	"nameOverride":                                {"type": "string", "pattern": `^(` + dnsLabel + `)?$`, "maxLength": longestName},
	"fullnameOverride":                            {"type": "string", "pattern": `^(` + dnsLabel + `)?$`, "maxLength": longestName},
	"image.pullPolicy":                            oneOf("", "Always", "IfNotPresent", "Never"),
	"controller.sink.uri":                         matching(`^(https?://.+)?$`),
	"controller.sink.extensions":                  {"type": "object", "additionalProperties": text(), "propertyNames": matching(`^[a-z0-9]+$`)},
	"controller.rbac.scope":                       oneOf("Cluster", "Namespaces"),
	"controller.hostUsers":                        optional("boolean"),
	"controller.podDisruptionBudget.minAvailable": optional("integer", "string"),
	"spark.jobNamespaces":                         {"type": "array", "items": matching(`^(` + namespace + `)?$`), "uniqueItems": true},
	// Groups with system: are Kubernetes' own.
	"console.impersonationGroups": {"type": "array", "uniqueItems": true, "items": schema{
		"type": "string", "pattern": `^[^,\s]+$`, "not": matching(`^` + systemPrefix),
	}},
	"spark.serviceAccount.name":            matching(`^(` + dnsLabel + `(\.` + dnsLabel + `)*)?$`),
	"controller.serviceAccount.name":       matching(`^(` + dnsLabel + `(\.` + dnsLabel + `)*)?$`),
	"admission.namespaceSelector":          typed[metav1.LabelSelector](),
	"webhook.validation.failurePolicy":     oneOf("Ignore", "Fail"),
	"webhook.validation.namespaceSelector": typed[metav1.LabelSelector](),
}

// byKey holds the schema of values that have the same name in several sections.
var byKey = map[string]schema{
	"repository":                {"type": "string", "minLength": 1},
	"digest":                    matching(digestOrNone),
	"revisionHistoryLimit":      optional("integer"),
	"labels":                    mapOf(text()),
	"commonLabels":              mapOf(text()),
	"annotations":               mapOf(text()),
	"deploymentAnnotations":     mapOf(text()),
	"serviceAccountAnnotations": mapOf(text()),
	"nodeSelector":              mapOf(text()),
	"pullSecrets":               listOf(named()),
	"volumes":                   listOf(named()),
	"volumeMounts":              listOf(named()),
	"env":                       listOf(named()),
	"sidecars":                  listOf(named()),
}

// schemaOf returns the schema of the values.
func schemaOf(values []value) ([]byte, error) {
	all, err := object(values)
	if err != nil {
		return nil, err
	}
	all["$schema"] = "http://json-schema.org/draft-07/schema#"
	// Helm adds it if the chart is a dependency of another one.
	allow(all, "global", schema{"type": "object"})
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// object returns the schema of an object with some properties and no others.
func object(values []value) (schema, error) {
	o := closed()
	for _, v := range values {
		property, err := v.schema()
		if err != nil {
			return nil, err
		}
		allow(o, v.key(), property)
	}
	return o, nil
}

// closed returns the schema of an object. Its error for an unknown key names the object, and by propertyNames all keys.
func closed() schema {
	return schema{
		"type": "object", "properties": schema{}, "additionalProperties": false, "propertyNames": schema{"enum": []string{}},
	}
}

func allow(o schema, key string, property schema) {
	o["properties"].(schema)[key] = property
	names := o["propertyNames"].(schema)
	names["enum"] = slices.Sorted(slices.Values(append(names["enum"].([]string), key)))
}

func (v *value) schema() (schema, error) {
	if v.section != nil {
		return object(v.section)
	}
	if name, ok := strings.CutPrefix(v.path, "settings."); ok {
		return settingsOf(name, v.description)
	}
	found := special[v.path]
	if found == nil {
		found = byKey[v.key()]
	}
	if found == nil {
		switch v.node.Kind {
		case yaml.SequenceNode:
			found = listOf(schema{"type": "object"})
		case yaml.MappingNode:
			found = schema{"type": "object"}
		default:
			switch v.node.Tag {
			case "!!str":
				found = text()
			case "!!bool":
				found = schema{"type": "boolean"}
			case "!!int":
				found = schema{"type": "integer", "minimum": 0}
			default:
				return nil, fmt.Errorf("values.yaml: %s has no type: give it one in hack/chart/schema.go", v.path)
			}
		}
	}
	described := schema{"description": v.description}
	for keyword, argument := range found {
		described[keyword] = argument
	}
	return described, nil
}
