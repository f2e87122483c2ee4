package apache_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

// routed is an application with what a manifest says of its spec.
func routed(t *testing.T, manifest string) *application {
	t.Helper()
	app := pi()
	if err := yaml.UnmarshalStrict([]byte(manifest), &app.app.Spec); err != nil {
		t.Fatal(err)
	}
	return app
}

// launched are the objects of an attempt, without those of its routes.
func launched() *submission.Objects {
	service := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: "pi-0-driver-svc"},
	}
	labels := map[string]string{"spark-role": "driver", "firesteel.dev/launch-id": "of-this-attempt"}
	return &submission.Objects{
		Driver: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pi-0-driver", Labels: labels}},
		Owned:  []submission.Object{service},
	}
}

// TestGoldenRoutes keeps what is made for routes of all kinds, with and without rules of their own.
func TestGoldenRoutes(t *testing.T) {
	app := routed(t, `
driverServiceIngressList:
- serviceMetadata: {name: ui, labels: {of: service}, annotations: {is: kept}}
  serviceSpec:
    ports: [{name: web, port: 80, targetPort: spark-ui}, {name: second, port: 81}]
  ingressMetadata: {name: ui, namespace: elsewhere, labels: {of: ingress}, annotations: {is: kept}}
  ingressSpec:
    ingressClassName: nginx
    tls: [{hosts: [pi.example.com], secretName: certificate}]
    defaultBackend: {service: {name: sorry, port: {number: 8080}}}
- serviceMetadata: {name: chosen}
  serviceSpec:
    type: NodePort
    selector: {mine: "true"}
    ports: [{port: 4040}]
  ingressMetadata: {name: chosen}
  ingressSpec:
    rules: [{host: pi.example.com}]
- serviceMetadata: {name: bare}
  serviceSpec:
    ports: [{port: 4040}]
  ingressMetadata: {name: bare}
driverHttpRouteList:
- serviceMetadata: {name: http}
  serviceSpec:
    ports: [{port: 80, targetPort: spark-ui}]
  httpRouteMetadata: {name: http, labels: {of: route}, annotations: {is: kept}}
  httpRouteSpec:
    parentRefs: [{name: gateway, port: 443}]
    hostnames: [pi.example.com]
- serviceMetadata: {name: http-chosen}
  serviceSpec:
    ports: [{port: 80}]
  httpRouteMetadata: {name: http-chosen}
  httpRouteSpec:
    parentRefs: [{name: gateway}]
    rules: [{backendRefs: [{name: other, port: 1, weight: 3}]}]
driverGrpcRouteList:
- serviceMetadata: {name: connect}
  serviceSpec:
    ports: [{port: 15002}]
  grpcRouteMetadata: {name: connect}
  grpcRouteSpec:
    parentRefs: [{name: gateway}]
    rules: []
`)
	objects := launched()
	routes, err := apache.Routes(app.Obj(), objects)
	if err != nil {
		t.Fatal(err)
	}
	golden.Want(t, filepath.Join("testdata", "routes.yaml"), golden.Manifests(t, routes))
}

func TestRoutesLeaveTheSpecAlone(t *testing.T) {
	app := routed(t, `
driverServiceIngressList:
- {serviceMetadata: {name: a, labels: {a: b}}, serviceSpec: {ports: [{port: 1}]}, ingressMetadata: {name: a}, ingressSpec: {}}
driverHttpRouteList:
- {serviceMetadata: {name: b}, serviceSpec: {ports: [{port: 1}]}, httpRouteMetadata: {name: b}, httpRouteSpec: {parentRefs: [{name: g}]}}
`).Obj()
	before, objects := app.DeepCopy(), launched()
	routes, err := apache.Routes(app, objects)
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range routes {
		route.SetLabels(map[string]string{"changed": "true"})
		if service, isService := route.(*corev1.Service); isService {
			service.Spec.Selector["changed"], service.Spec.Ports[0].Port = "true", 2
		}
	}
	if diff := cmp.Diff(before, app); diff != "" {
		t.Errorf("Routes changed the application (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(launched(), objects); diff != "" {
		t.Errorf("Routes changed the attempt's objects (-before +after):\n%s", diff)
	}
}

func TestRoutesThatCannotBeMade(t *testing.T) {
	const serviceAndName = "serviceMetadata: {name: a}, serviceSpec: {ports: [{port: 1}]}, httpRouteMetadata: {name: a}"
	for name, test := range map[string]struct{ manifest, want string }{
		"a Service without a name": {
			`driverServiceIngressList: [{serviceMetadata: {}, serviceSpec: {}, ingressMetadata: {name: a}}]`,
			"spec.driverServiceIngressList[0].serviceMetadata.name is missing: name the Service",
		},
		"an Ingress without a name": {
			`driverServiceIngressList: [{serviceMetadata: {name: a}, serviceSpec: {}, ingressMetadata: {generateName: a-}}]`,
			"spec.driverServiceIngressList[0].ingressMetadata.name is missing: name the Ingress",
		},
		"an Ingress to no port": {
			`driverServiceIngressList: [{serviceMetadata: {name: a}, serviceSpec: {}, ingressMetadata: {name: a}}]`,
			"spec.driverServiceIngressList[0].serviceSpec.ports is missing: name the port that requests go to",
		},
		"a route to no port": {
			`driverGrpcRouteList: [{serviceMetadata: {name: a}, serviceSpec: {clusterIP: None}, grpcRouteMetadata: {name: a},
			  grpcRouteSpec: {parentRefs: [{name: g}]}}]`,
			"spec.driverGrpcRouteList[0].serviceSpec.ports is missing: name the port that requests go to",
		},
		"parents that are no list": {
			`driverHttpRouteList: [{` + serviceAndName + `, httpRouteSpec: {parentRefs: gateway}}]`,
			`spec.driverHttpRouteList[0].httpRouteSpec.parentRefs "gateway" is no list: write one`,
		},
		"rules that are no list": {
			`driverHttpRouteList: [{` + serviceAndName + `, httpRouteSpec: {parentRefs: [{name: g}], rules: 5}}]`,
			`spec.driverHttpRouteList[0].httpRouteSpec.rules "5" is no list: write one`,
		},
		"a Service with too many ports": {
			`driverServiceIngressList: [{serviceMetadata: {name: a}, serviceSpec: {ports: [` + strings.Repeat("{port: 1},", 1001) + `]}, ingressMetadata: {name: a}}]`,
			"spec.driverServiceIngressList[0].serviceSpec.ports has 1001 entries: write at most 1000",
		},
		"the name of the driver's own Service": {
			`driverServiceIngressList: [{serviceMetadata: {name: pi-0-driver-svc}, serviceSpec: {ports: [{port: 1}]}, ingressMetadata: {name: a}}]`,
			`spec.driverServiceIngressList[0].serviceMetadata.name "pi-0-driver-svc" is the name of the driver's own Service: choose another`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := routed(t, test.manifest).Obj()
			_, err := apache.Routes(app, launched())
			if err == nil || apache.Refusals(err, app, apache.Defaults{}).String() != test.want {
				t.Errorf("error is\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

// The Apache operator checks these, in this order and these words.
func TestRoutesThatAreIncomplete(t *testing.T) {
	ports := corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}
	named := metav1.ObjectMeta{Name: "a"}
	parents := &runtime.RawExtension{Raw: []byte(`{"parentRefs":[{"name":"g"}]}`)}
	http := func(change func(*sparkv1.DriverHTTPRoute)) *application {
		route := sparkv1.DriverHTTPRoute{ServiceMetadata: named, ServiceSpec: ports, HTTPRouteMetadata: named, HTTPRouteSpec: parents}
		change(&route)
		return pi().Spec(func(s *sparkv1.ApplicationSpec) { s.DriverHTTPRouteList = []sparkv1.DriverHTTPRoute{route} })
	}
	grpc := func(change func(*sparkv1.DriverGRPCRoute)) *application {
		route := sparkv1.DriverGRPCRoute{ServiceMetadata: named, ServiceSpec: ports, GRPCRouteMetadata: named, GRPCRouteSpec: parents}
		complete := route
		change(&route)
		return pi().Spec(func(s *sparkv1.ApplicationSpec) { s.DriverGRPCRouteList = []sparkv1.DriverGRPCRoute{complete, route} })
	}
	for name, test := range map[string]struct {
		app  *application
		want string
	}{
		"nothing is missing": {http(func(*sparkv1.DriverHTTPRoute) {}), ""},
		"no Service": {
			http(func(r *sparkv1.DriverHTTPRoute) { *r = sparkv1.DriverHTTPRoute{} }), "driverHttpRouteList[0].serviceSpec is required.",
		},
		"a Service without a name": {
			http(func(r *sparkv1.DriverHTTPRoute) { r.ServiceMetadata.Name = "" }),
			"driverHttpRouteList[0].serviceMetadata.name is required.",
		},
		"an HTTPRoute without a name": {
			http(func(r *sparkv1.DriverHTTPRoute) { r.HTTPRouteMetadata.Name = "" }),
			"driverHttpRouteList[0].httpRouteMetadata.name is required.",
		},
		"an HTTPRoute without a spec": {
			http(func(r *sparkv1.DriverHTTPRoute) { r.HTTPRouteSpec = nil }),
			"driverHttpRouteList[0].httpRouteSpec.parentRefs is required.",
		},
		"an HTTPRoute of no parents": {
			http(func(r *sparkv1.DriverHTTPRoute) {
				r.HTTPRouteSpec = &runtime.RawExtension{Raw: []byte(`{"parentRefs":[]}`)}
			}),
			"driverHttpRouteList[0].httpRouteSpec.parentRefs is required.",
		},
		"the second GRPCRoute, without a name": {
			grpc(func(r *sparkv1.DriverGRPCRoute) { r.GRPCRouteMetadata.Name = "" }),
			"driverGrpcRouteList[1].grpcRouteMetadata.name is required.",
		},
		"the second GRPCRoute, without parents": {
			grpc(func(r *sparkv1.DriverGRPCRoute) { r.GRPCRouteSpec = &runtime.RawExtension{Raw: []byte(`{}`)} }),
			"driverGrpcRouteList[1].grpcRouteSpec.parentRefs is required.",
		},
		"of an Ingress nothing is asked": {
			pi().Spec(func(s *sparkv1.ApplicationSpec) { s.DriverServiceIngressList = []sparkv1.DriverServiceIngress{{}} }), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if refused := apache.Policy(test.app.Obj(), apache.Defaults{}).Refused; refused != nil {
				got = refused.Message
			}
			if got != test.want {
				t.Errorf("refused with %q, want %q", got, test.want)
			}
		})
	}
}

func TestRoutesThatShareAName(t *testing.T) {
	web := corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	app := func(second corev1.ServiceSpec, ingress *networkingv1.IngressSpec) *application {
		return pi().Spec(func(s *sparkv1.ApplicationSpec) {
			s.DriverServiceIngressList = []sparkv1.DriverServiceIngress{
				{ServiceMetadata: meta("web"), ServiceSpec: web, IngressMetadata: meta("inside")},
				{ServiceMetadata: meta("web"), ServiceSpec: second, IngressMetadata: meta("outside")},
				{ServiceMetadata: meta("web"), ServiceSpec: web, IngressMetadata: meta("outside"), IngressSpec: ingress},
			}
		})
	}
	const made = "Service web, Ingress inside, Ingress outside"
	for name, test := range map[string]struct {
		app  *application
		want []string
	}{
		"one object for the same twice": {app(web, nil), nil},
		"the first of different ones": {
			app(corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 81}}}, &networkingv1.IngressSpec{IngressClassName: ptr("x")}),
			[]string{
				`spec.driverServiceIngressList[1].serviceMetadata.name "web" is also in spec.driverServiceIngressList[0], ` +
					`where it stands for another object, and only that one is made: choose another name.`,
				`spec.driverServiceIngressList[2].ingressMetadata.name "outside" is also in spec.driverServiceIngressList[1], ` +
					`where it stands for another object, and only that one is made: choose another name.`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			routes, err := apache.Routes(test.app.Obj(), launched())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, route := range routes {
				names = append(names, route.GetObjectKind().GroupVersionKind().Kind+" "+route.GetName())
			}
			if got := strings.Join(names, ", "); got != made {
				t.Errorf("made %s, want %s", got, made)
			}
			if port := routes[0].(*corev1.Service).Spec.Ports[0].Port; port != 80 {
				t.Errorf("the Service has port %d, and is not the first", port)
			}
			if diff := cmp.Diff(test.want, apache.UnsupportedFields(test.app.Obj()).Sentences()); diff != "" {
				t.Errorf("UnsupportedFields (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRoutesOfAKindThatIsNotInstalled(t *testing.T) {
	sentence := func(kind string) string {
		return "The application runs without its " + kind + ": the cluster has none of gateway.networking.k8s.io/v1. " +
			"Install the CRDs of the Gateway API; the next attempt gets it."
	}
	got := apache.NotInstalled([]string{"", "HTTPRoute", "", "GRPCRoute", "HTTPRoute"})
	if diff := cmp.Diff([]string{sentence("GRPCRoute"), sentence("HTTPRoute")}, got); diff != "" {
		t.Errorf("NotInstalled (-want +got):\n%s", diff)
	}
	if got := apache.NotInstalled([]string{"", ""}); got != nil {
		t.Errorf("where all is made it says %q", got)
	}
}
