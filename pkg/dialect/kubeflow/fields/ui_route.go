package fields

import (
	"cmp"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// routeOf returns the HTTPRoute from an address to the Service of an endpoint, by the Gateway of the operator's settings. It has the name
// that the Ingress would have. A path below the host is removed, as the Ingress' rewrite does.
func (f endpoint) routeOf(app *v1beta2.SparkApplication, objects *submission.Objects, address *url.URL) *unstructured.Unstructured {
	gateway := f.settings.Gateway
	parent := map[string]any{"name": gateway.Name, "namespace": cmp.Or(gateway.Namespace, app.Namespace)}
	if gateway.Listener != "" {
		parent["sectionName"] = gateway.Listener
	}
	rule := map[string]any{
		"matches":     []any{map[string]any{"path": map[string]any{"type": "PathPrefix", "value": cmp.Or(address.Path, "/")}}},
		"backendRefs": []any{map[string]any{"name": f.service, "port": int64(f.port)}},
	}
	if hasPath(address) {
		rule["filters"] = []any{map[string]any{
			"type":       "URLRewrite",
			"urlRewrite": map[string]any{"path": map[string]any{"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}},
		}}
	}
	spec := map[string]any{"parentRefs": []any{parent}, "rules": []any{rule}}
	if address.Host != "" {
		spec["hostnames"] = []any{address.Host}
	}
	return dialect.NewRoute("HTTPRoute", metav1.ObjectMeta{
		Name: f.ingress, Namespace: app.Namespace, Labels: names.ObjectLabels(objects),
	}, spec)
}
