package apache

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// route is an entry of one of the three lists: a Service that selects the driver, and the object that leads to that Service.
type route struct {
	// field is the field of the entry. kind is the kind of the object that leads to the Service, as the fields of the entry
	// spell it.
	field, kind     string
	serviceMetadata metav1.ObjectMeta
	serviceSpec     corev1.ServiceSpec
	metadata        metav1.ObjectMeta
	ingress         *networkingv1.IngressSpec
	spec            *runtime.RawExtension
}

// The kinds of objects that lead to a Service.
const (
	kindIngress = "ingress"
	kindHTTP    = "httpRoute"
	kindGRPC    = "grpcRoute"
)

// objectKinds are the Kubernetes kinds of the objects that lead to a Service.
var objectKinds = map[string]string{kindIngress: "Ingress", kindHTTP: "HTTPRoute", kindGRPC: "GRPCRoute"}

func routesOf(spec sparkv1.ApplicationSpec) []route {
	var routes []route
	for i, e := range spec.DriverServiceIngressList {
		routes = append(routes, route{
			field: fmt.Sprintf("driverServiceIngressList[%d]", i), kind: kindIngress,
			serviceMetadata: e.ServiceMetadata, serviceSpec: e.ServiceSpec, metadata: e.IngressMetadata, ingress: e.IngressSpec,
		})
	}
	for i, e := range spec.DriverHTTPRouteList {
		routes = append(routes, route{
			field: fmt.Sprintf("driverHttpRouteList[%d]", i), kind: kindHTTP,
			serviceMetadata: e.ServiceMetadata, serviceSpec: e.ServiceSpec, metadata: e.HTTPRouteMetadata, spec: e.HTTPRouteSpec,
		})
	}
	for i, e := range spec.DriverGRPCRouteList {
		routes = append(routes, route{
			field: fmt.Sprintf("driverGrpcRouteList[%d]", i), kind: kindGRPC,
			serviceMetadata: e.ServiceMetadata, serviceSpec: e.ServiceSpec, metadata: e.GRPCRouteMetadata, spec: e.GRPCRouteSpec,
		})
	}
	return routes
}

// missingInRoutes returns, for each route, the first field that the Apache operator requires and that is missing. The Apache
// operator requires nothing of Ingresses.
func missingInRoutes(spec sparkv1.ApplicationSpec) []string {
	var missing []string
	for _, r := range routesOf(spec) {
		parents, given := r.decoded()["parentRefs"]
		list, isList := parents.([]any)
		switch {
		case r.kind == kindIngress:
		case equality.Semantic.DeepEqual(r.serviceSpec, corev1.ServiceSpec{}):
			missing = append(missing, r.field+".serviceSpec")
		case r.serviceMetadata.Name == "":
			missing = append(missing, r.field+".serviceMetadata.name")
		case r.metadata.Name == "":
			missing = append(missing, r.field+"."+r.kind+"Metadata.name")
		case !given, isList && len(list) == 0:
			missing = append(missing, r.field+"."+r.kind+"Spec.parentRefs")
		}
	}
	return missing
}

// Routes returns the objects by which the driver is reached from outside. The driver will own them. If a name is given
// twice, the first entry is used. UnsupportedFields warns if the entries differ.
func Routes(app *sparkv1.SparkApplication, objects *submission.Objects) ([]submission.Object, error) {
	var made []submission.Object
	taken := map[string]bool{}
	for _, r := range routesOf(app.Spec) {
		if found := dialect.TooManyPorts("spec."+r.field+".serviceSpec", &r.serviceSpec); len(found) > 0 {
			return nil, &found[0]
		}
		service := r.service(app.Namespace)
		if len(service.Spec.Selector) == 0 {
			service.Spec.Selector = maps.Clone(objects.Driver.Labels) // the label of the launch is one of them, so no other driver is selected
		}
		front, err := r.front(app.Namespace)
		if err != nil {
			return nil, err
		}
		if isAmong(objects.Owned, service) {
			return nil, r.refuse("serviceMetadata.name", service.Name, "is the name of the driver's own Service", "choose another")
		}
		for _, object := range []submission.Object{service, front} {
			if key := identity(object); !taken[key] {
				taken[key] = true
				made = append(made, object)
			}
		}
	}
	return made, nil
}

// unsupportedInRoutes returns what the routes ask for and Firesteel does not do.
func unsupportedInRoutes(app *sparkv1.SparkApplication) finding.List {
	var found finding.List
	first := map[string]route{}
	for _, r := range routesOf(app.Spec) {
		for _, part := range []struct {
			kind     string
			metadata metav1.ObjectMeta
		}{{"service", r.serviceMetadata}, {r.kind, r.metadata}} {
			field := fmt.Sprintf("spec.%s.%sMetadata", r.field, part.kind)
			if given := part.metadata.Namespace; given != "" && given != app.Namespace {
				found.Warn(field+".namespace", given, "has no effect", fmt.Sprintf("it is always %q", app.Namespace))
			}
			found.Add(podtemplate.FinalizersDropped(field+".finalizers", part.metadata.Finalizers)...)
			key := part.kind + " " + part.metadata.Name
			earlier, named := first[key]
			if !named {
				first[key] = r
			} else if !earlier.sameAs(r, part.kind) {
				found.Warn(field+".name", part.metadata.Name, fmt.Sprintf("is also in spec.%s, where it stands for another object, "+
					"and only that one is made", earlier.field), "choose another name")
			}
		}
	}
	return found
}

func (r route) sameAs(other route, part string) bool {
	if part == "service" {
		return equality.Semantic.DeepEqual(r.serviceMetadata, other.serviceMetadata) &&
			equality.Semantic.DeepEqual(r.serviceSpec, other.serviceSpec)
	}
	return equality.Semantic.DeepEqual(r.metadata, other.metadata) && equality.Semantic.DeepEqual(r.ingress, other.ingress) &&
		equality.Semantic.DeepEqual(r.decoded(), other.decoded())
}

func (r route) service(namespace string) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metadataIn(namespace, r.serviceMetadata),
		Spec:       *r.serviceSpec.DeepCopy(),
	}
}

// front returns the object that leads to the Service.
func (r route) front(namespace string) (submission.Object, error) {
	switch {
	case r.serviceMetadata.Name == "":
		return nil, r.unnamed("serviceMetadata.name", "Service")
	case r.metadata.Name == "":
		return nil, r.unnamed(r.kind+"Metadata.name", objectKinds[r.kind])
	case r.kind == kindIngress:
		return r.ingressIn(namespace)
	case r.kind == kindHTTP:
		everything := map[string]any{"path": map[string]any{"type": "PathPrefix", "value": "/"}}
		return r.routeIn(namespace, objectKinds[r.kind], everything)
	default:
		return r.routeIn(namespace, objectKinds[r.kind], nil)
	}
}

// ingressIn returns an Ingress. If its spec has no rules, it leads all requests to the Service. Unlike the Apache operator,
// Firesteel then keeps the rest of the spec.
func (r route) ingressIn(namespace string) (*networkingv1.Ingress, error) {
	ingress := &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "Ingress"},
		ObjectMeta: metadataIn(namespace, r.metadata),
	}
	if r.ingress != nil {
		r.ingress.DeepCopyInto(&ingress.Spec)
	}
	if len(ingress.Spec.Rules) > 0 {
		return ingress, nil
	}
	port, err := r.firstPort()
	if err != nil {
		return nil, err
	}
	anyPath := networkingv1.PathTypeImplementationSpecific
	ingress.Spec.Rules = []networkingv1.IngressRule{{IngressRuleValue: networkingv1.IngressRuleValue{
		HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
			Path: "/", PathType: &anyPath,
			Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
				Name: r.serviceMetadata.Name, Port: networkingv1.ServiceBackendPort{Number: port},
			}},
		}}},
	}}}
	return ingress, nil
}

// routeIn returns a route of the Gateway API. If its spec has no rules, it leads the requests that match, or all requests,
// to the Service.
func (r route) routeIn(namespace, kind string, match map[string]any) (*unstructured.Unstructured, error) {
	spec := r.decoded()
	for _, field := range []string{"parentRefs", "rules"} {
		if value, given := spec[field]; given {
			if _, isList := value.([]any); !isList {
				return nil, r.refuse(r.kind+"Spec."+field, fmt.Sprint(value), "is no list", "write one")
			}
		}
	}
	if rules, _ := spec["rules"].([]any); len(rules) == 0 {
		port, err := r.firstPort()
		if err != nil {
			return nil, err
		}
		rule := map[string]any{"backendRefs": []any{map[string]any{"name": r.serviceMetadata.Name, "port": int64(port)}}}
		if match != nil {
			rule["matches"] = []any{match}
		}
		spec["rules"] = []any{rule}
	}
	return dialect.NewRoute(kind, metadataIn(namespace, r.metadata), spec), nil
}

// decoded returns the spec of a route of the Gateway API. The CRD ensures that it is an object.
func (r route) decoded() map[string]any {
	spec := map[string]any{}
	if r.spec != nil {
		_ = json.Unmarshal(r.spec.Raw, &spec)
	}
	return spec
}

func (r route) firstPort() (int32, error) {
	if len(r.serviceSpec.Ports) == 0 {
		return 0, r.refuse("serviceSpec.ports", nil, finding.Missing, "name the port that requests go to")
	}
	return r.serviceSpec.Ports[0].Port, nil
}

func (r route) refuse(part string, value any, problem, remedy string) error {
	return &finding.Finding{Severity: finding.Error, Field: "spec." + r.field + "." + part, Value: value, Message: problem, Remedy: remedy}
}

func (r route) unnamed(part, kind string) error {
	found := finding.Unnamed("spec."+r.field+"."+part, kind)
	return &found
}

// metadataIn returns the metadata that a user may set on an object of an attempt. The API server sets the rest.
func metadataIn(namespace string, given metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: given.Name, Namespace: namespace,
		Labels: maps.Clone(given.Labels), Annotations: maps.Clone(given.Annotations),
	}
}

func isAmong(objects []submission.Object, namesake submission.Object) bool {
	return slices.ContainsFunc(objects, func(object submission.Object) bool { return identity(object) == identity(namesake) })
}

func identity(object submission.Object) string {
	return object.GetObjectKind().GroupVersionKind().Kind + " " + object.GetName()
}

// NotInstalled returns which kinds of objects were not created because the cluster does not have them. Empty strings are
// ignored.
func NotInstalled(kinds []string) []string {
	var sentences []string
	for _, kind := range slices.Compact(slices.Sorted(slices.Values(kinds))) {
		if kind != "" {
			sentences = append(sentences, fmt.Sprintf("The application runs without its %s: the cluster has none of %s. "+
				"Install the CRDs of the Gateway API; the next attempt gets it.", kind, dialect.GatewayAPI))
		}
	}
	return sentences
}
