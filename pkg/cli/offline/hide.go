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
			object.Object[key] = r.Fields(key, value)
		}
	}
}
