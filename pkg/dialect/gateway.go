package dialect

import (
	"cmp"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Gateway is a Gateway of the Gateway API, from which routes lead to drivers' UIs.
type Gateway struct {
	// Namespace is empty for that of the application.
	Namespace string
	Name      string
	// Listener is a listener of the Gateway; empty for all that accept the route.
	Listener string
}

// RouteTo returns the HTTPRoute from an address to a Service. A path below the host is removed from requests, as the rewrite of an Ingress
// does.
func (g Gateway) RouteTo(service *corev1.Service, metadata metav1.ObjectMeta, address *url.URL) *unstructured.Unstructured {
	parent := map[string]any{"name": g.Name, "namespace": cmp.Or(g.Namespace, metadata.Namespace)}
	if g.Listener != "" {
		parent["sectionName"] = g.Listener
	}
	rule := map[string]any{
		"matches":     []any{map[string]any{"path": map[string]any{"type": "PathPrefix", "value": cmp.Or(address.Path, "/")}}},
		"backendRefs": []any{map[string]any{"name": service.Name, "port": int64(service.Spec.Ports[0].Port)}},
	}
	if HasPath(address) {
		rule["filters"] = []any{map[string]any{
			"type":       "URLRewrite",
			"urlRewrite": map[string]any{"path": map[string]any{"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}},
		}}
	}
	spec := map[string]any{"parentRefs": []any{parent}, "rules": []any{rule}}
	if address.Host != "" {
		spec["hostnames"] = []any{address.Host}
	}
	return NewRoute("HTTPRoute", metadata, spec)
}

// HasPath reports whether an address has a path below its host.
func HasPath(address *url.URL) bool { return address.Path != "" && address.Path != "/" }

// ProxyProperties returns the properties with which a UI works at an address: its links have the path below the host, if there is one.
func ProxyProperties(address *url.URL) map[string]string {
	if !HasPath(address) {
		return nil
	}
	return map[string]string{UIProxyBaseKey: address.Path, "spark.ui.proxyRedirectUri": "/"}
}
