package offline

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/redact"
)

// hide replaces the values of secrets in objects that were made from a manifest.
func hide(manifest []byte, objects []*unstructured.Unstructured) {
	r := redact.For(manifest)
	for _, object := range objects {
		for key, value := range object.Object {
			object.Object[key] = hidden(r, key, value)
		}
	}
}

// hidden returns a value with the secrets in it replaced. key is the field that holds it.
func hidden(r *redact.Redactor, key string, value any) any {
	switch value := value.(type) {
	case string:
		return r.Text(value)
	case map[string]any:
		name, named := value["name"].(string)
		for field, child := range value {
			text, isText := child.(string)
			switch {
			case isText && field == "value" && named:
				value[field] = r.Value(name, text)
			case isText && freeForm[key]:
				value[field] = r.Value(field, text)
			default:
				value[field] = hidden(r, field, child)
			}
		}
		return value
	case []any:
		for i, child := range value {
			value[i] = hidden(r, key, child)
		}
		return value
	default:
		return value
	}
}

// freeForm are the fields whose keys people choose. A key may be that of a secret.
var freeForm = map[string]bool{"annotations": true, "data": true, "stringData": true}
