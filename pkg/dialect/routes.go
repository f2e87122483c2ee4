package dialect

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GatewayAPI is the version of the Gateway API in which routes are created.
var GatewayAPI = schema.GroupVersion{Group: "gateway.networking.k8s.io", Version: "v1"}

// NewRoute returns a route of the Gateway API, such as an HTTPRoute.
func NewRoute(kind string, metadata metav1.ObjectMeta, spec map[string]any) *unstructured.Unstructured {
	route := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	route.SetGroupVersionKind(GatewayAPI.WithKind(kind))
	route.SetName(metadata.Name)
	route.SetNamespace(metadata.Namespace)
	route.SetLabels(metadata.Labels)
	route.SetAnnotations(metadata.Annotations)
	return route
}
