package integration

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
)

var webPort = corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "web", Port: 80}}}

func called(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

// Ingress leads from an Ingress to the driver.
func (a *application) Ingress(name string, spec *networkingv1.IngressSpec) *application {
	a.app.Spec.DriverServiceIngressList = append(a.app.Spec.DriverServiceIngressList, sparkv1.DriverServiceIngress{
		ServiceMetadata: called(name), ServiceSpec: webPort, IngressMetadata: called(name), IngressSpec: spec,
	})
	return a
}

// HTTPRoute leads from a route of the Gateway API to the driver.
func (a *application) HTTPRoute(name, spec string) *application {
	a.app.Spec.DriverHTTPRouteList = append(a.app.Spec.DriverHTTPRouteList, sparkv1.DriverHTTPRoute{
		ServiceMetadata: called(name), ServiceSpec: webPort, HTTPRouteMetadata: called(name),
		HTTPRouteSpec: &runtime.RawExtension{Raw: []byte(spec)},
	})
	return a
}

// GRPCRoute leads from a route of the Gateway API to the driver, through the same Service as an HTTPRoute of that name.
func (a *application) GRPCRoute(name, spec string) *application {
	a.app.Spec.DriverGRPCRouteList = append(a.app.Spec.DriverGRPCRouteList, sparkv1.DriverGRPCRoute{
		ServiceMetadata: called(name), ServiceSpec: webPort, GRPCRouteMetadata: called(name),
		GRPCRouteSpec: &runtime.RawExtension{Raw: []byte(spec)},
	})
	return a
}

const parents = `{"parentRefs":[{"name":"gateway"}]}`

func TestRoutesByIngressLeadToTheDriverOfEachAttempt(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	class := "nginx"
	// What the attempt before a controller's crash may have left stands in no way.
	stale := &networkingv1.Ingress{ObjectMeta: earlierOfPi("web"), Spec: networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{
		Service: &networkingv1.IngressServiceBackend{Name: "stale", Port: networkingv1.ServiceBackendPort{Number: 1}},
	}}}
	_, err := s.Kube.NetworkingV1().Ingresses(s.ns).Create(t.Context(), stale, metav1.CreateOptions{})
	s.must(err)

	s.create(App("pi").Conf(namedAccount, "default").Ingress("web", &networkingv1.IngressSpec{IngressClassName: &class}).Restart(sparkv1.RestartOnFailure, 1, 0))
	for attempt, end := range []int32{1, 0} {
		d := s.run("pi", attempt)
		service, err := s.Kube.CoreV1().Services(s.ns).Get(t.Context(), "web", metav1.GetOptions{})
		s.must(err)
		selected, err := s.Kube.CoreV1().Pods(s.ns).List(t.Context(),
			metav1.ListOptions{LabelSelector: labels.SelectorFromSet(service.Spec.Selector).String()})
		s.must(err)
		if len(selected.Items) != 1 || selected.Items[0].UID != d.UID {
			t.Errorf("the Service of attempt %d selects %d pods, and not its driver alone", attempt, len(selected.Items))
		}
		ingress, err := s.Kube.NetworkingV1().Ingresses(s.ns).Get(t.Context(), "web", metav1.GetOptions{})
		s.must(err)
		backend := ingress.Spec.Rules[0].HTTP.Paths[0].Backend.Service
		if *ingress.Spec.IngressClassName != class || backend.Name != "web" || backend.Port.Number != 80 {
			t.Errorf("the Ingress is %s", described(ingress))
		}
		for _, object := range []metav1.Object{service, ingress} {
			if !metav1.IsControlledBy(object, d.Pod) || object.GetLabels()["spark-role"] != "driver" {
				t.Errorf("%s of attempt %d belongs to %v, and has labels %v",
					object.GetName(), attempt, object.GetOwnerReferences(), object.GetLabels())
			}
		}
		d.exit(end)
	}
	s.untilState("pi", "ResourceReleased")
	untilGone(s, s.Kube.CoreV1().Services(s.ns), "web")
	untilGone(s, s.Kube.NetworkingV1().Ingresses(s.ns), "web")
	if warning := s.condition("pi", "Warning"); warning != nil {
		t.Errorf("there is a warning: %s", warning.Message)
	}
}

// earlierOfPi is the metadata of an object that an earlier launch of the application pi left.
func earlierOfPi(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"firesteel.dev/launch-id": "earlier", "spark.operator/spark-app-name": "pi",
	}}
}

func TestRoutesCostTwoWritesEach(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi").Ingress("web", nil))
	s.run("pi", 0).succeed()
	s.untilState("pi", "ResourceReleased")
	s.untilPublished(app, plainRun...)
	creates := map[string]int{}
	for _, request := range s.requestsAtRest() {
		if request.Verb == "create" && request.Resource != "events" {
			creates[request.Kind()]++
		}
		if request.Verb == "get" || request.Code >= 400 {
			t.Errorf("asked for %s", request)
		}
	}
	want := map[string]int{"create pods": 1, "create services": 2, "create configmaps": 1, "create ingresses": 1}
	if diff := cmp.Diff(want, creates); diff != "" {
		t.Errorf("creates (-want +got):\n%s", diff)
	}
}

// The Gateway API is installed in the middle of this test, which therefore runs alone.
func TestRoutesOfTheGatewayAPI(t *testing.T) {
	alone(t)
	s := newEnv(t)
	first := s.ownController(controller{sink: s.sink.URL()})
	s.create(App("pi").Conf(namedAccount, "default").HTTPRoute("web", parents).GRPCRoute("web", parents).Restart(sparkv1.RestartOnFailure, 1, 0))
	d := s.run("pi", 0)
	s.warned("pi", "without its GRPCRoute", "without its HTTPRoute", "Install the CRDs of the Gateway API")
	if owned := strings.Join(s.ownedBy(d.Pod), ", "); !contains(owned, "Service web") {
		t.Errorf("the driver has no Service, but %s", owned)
	}
	// Another controller knows it from the record.
	first.Kill()
	s.ownController(controller{sink: s.sink.URL()})
	s.edit("pi", func(app *sparkv1.SparkApplication) { app.Spec.DriverArgs = []string{"edited"} })
	s.warned("pi", "without its GRPCRoute", "without its HTTPRoute", "The spec was edited")

	s.installGatewayAPI()
	routes := s.Dynamic.Resource(gatewayv1.SchemeGroupVersion.WithResource("httproutes")).Namespace(s.ns)
	grpcRoutes := s.Dynamic.Resource(gatewayv1.SchemeGroupVersion.WithResource("grpcroutes")).Namespace(s.ns)
	for kind, client := range map[string]interface {
		Create(context.Context, *unstructured.Unstructured, metav1.CreateOptions, ...string) (*unstructured.Unstructured, error)
	}{"HTTPRoute": routes, "GRPCRoute": grpcRoutes} {
		stale := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
		stale.SetGroupVersionKind(gatewayv1.SchemeGroupVersion.WithKind(kind))
		stale.SetName("web")
		stale.SetLabels(earlierOfPi("web").Labels)
		_, err := client.Create(t.Context(), stale, metav1.CreateOptions{})
		s.must(err)
	}
	d.exit(1)
	next := s.run("pi", 1)
	if warning := s.condition("pi", "Warning"); warning != nil {
		t.Errorf("there is a warning: %s", warning.Message)
	}
	http, err := routes.Get(t.Context(), "web", metav1.GetOptions{})
	s.must(err)
	grpc, err := grpcRoutes.Get(t.Context(), "web", metav1.GetOptions{})
	s.must(err)
	for _, route := range []*unstructured.Unstructured{http, grpc} {
		if !metav1.IsControlledBy(route, next.Pod) {
			t.Errorf("%s belongs to %v", route.GetKind(), route.GetOwnerReferences())
		}
	}
	httpSpec, grpcSpec := typed[gatewayv1.HTTPRoute](s, http).Spec, typed[gatewayv1.GRPCRoute](s, grpc).Spec
	path := httpSpec.Rules[0].Matches[0].Path
	if *path.Type != gatewayv1.PathMatchPathPrefix || *path.Value != "/" {
		t.Errorf("the HTTPRoute matches %s %s", *path.Type, *path.Value)
	}
	if len(grpcSpec.Rules[0].Matches) > 0 {
		t.Errorf("the GRPCRoute matches %v", grpcSpec.Rules[0].Matches)
	}
	for _, backend := range []gatewayv1.BackendRef{httpSpec.Rules[0].BackendRefs[0].BackendRef, grpcSpec.Rules[0].BackendRefs[0].BackendRef} {
		if backend.Name != "web" || *backend.Port != 80 {
			t.Errorf("a route leads to port %d of %s", *backend.Port, backend.Name)
		}
	}
	if httpSpec.ParentRefs[0].Name != "gateway" || grpcSpec.ParentRefs[0].Name != "gateway" {
		t.Errorf("parents are %v and %v", httpSpec.ParentRefs, grpcSpec.ParentRefs)
	}
	next.succeed()
	s.untilState("pi", "ResourceReleased")

	// What the Gateway API's own schema refuses is named.
	s.create(App("bad").HTTPRoute("bad", `{"parentRefs":[{"name":"gateway"}],"rules":[{"matches":[{"path":{"type":"Sometimes"}}]}]}`))
	condition := s.untilCondition("bad", "Succeeded", metav1.ConditionFalse, "Invalid")
	for _, part := range []string{"HTTPRoute " + s.ns + "/bad was refused", "spec.rules[0].matches[0].path.type", `"Sometimes"`} {
		if !contains(condition.Message, part) {
			t.Errorf("the condition says %q, and not %q", condition.Message, part)
		}
	}
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), "bad-0-driver")
}

// warned waits for a warning with these parts.
func (s *env) warned(name string, parts ...string) {
	s.Helper()
	until(s, s.apps(), name, fmt.Sprintf("be warned of %q", parts), func(app *sparkv1.SparkApplication) bool {
		for _, condition := range app.Status.Conditions {
			if condition.Type != "Warning" || condition.Status != metav1.ConditionTrue {
				continue
			}
			said := true
			for _, part := range parts {
				said = said && contains(condition.Message, part)
			}
			return said
		}
		return false
	})
}

// installGatewayAPI applies the CRDs that the module of the Gateway API holds. They go with the test.
func (s *env) installGatewayAPI() {
	s.Helper()
	folder, err := exec.CommandContext(s.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	s.must(err)
	manifests := ""
	for _, routes := range []string{"httproutes", "grpcroutes"} {
		file := "gateway.networking.k8s.io_" + routes + ".yaml"
		manifests += "," + filepath.Join(strings.TrimSpace(string(folder)), "config", "crd", "standard", file)
	}
	files := "--filename=" + strings.TrimPrefix(manifests, ",")
	_, err = s.kubectl("", "create", files)
	s.must(err)
	s.Cleanup(func() {
		if _, err := s.Plane.Kubectl(context.Background(), "", "delete", files); err != nil {
			s.Error(err)
		}
	})
	s.must(s.Plane.AwaitDefinitions(s.Context(), files))
}

func typed[T any](s *env, object *unstructured.Unstructured) *T {
	s.Helper()
	result := new(T)
	s.must(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, result))
	return result
}

// With a Gateway in the settings, a UI of the Kubeflow operator's API is reached by a route, at the cost of the Ingress.
func TestRoutesOfKubeflowUIsLeadThroughTheGateway(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.installGatewayAPI()
	s.configured("config-kubeflow", "ui-gateway",
		"{name: public, namespace: infra, listener: https, urlFormat: 'https://spark.example.com/{{$appNamespace}}/{{$appName}}'}")
	s.ownController(controller{sink: s.sink.URL()})
	s.kubeflowApplication(sparkPi("4.1.1"))
	d := s.runPi()
	object, err := s.Dynamic.Resource(gatewayv1.SchemeGroupVersion.WithResource("httproutes")).Namespace(s.ns).
		Get(t.Context(), "spark-pi-ui-ingress", metav1.GetOptions{})
	s.must(err)
	path := "/" + s.ns + "/spark-pi"
	route := typed[gatewayv1.HTTPRoute](s, object)
	rule, parent := route.Spec.Rules[0], route.Spec.ParentRefs[0]
	if parent.Name != "public" || *parent.Namespace != "infra" || *parent.SectionName != "https" || route.Spec.Hostnames[0] != "spark.example.com" ||
		*rule.Matches[0].Path.Value != path || *rule.Filters[0].URLRewrite.Path.ReplacePrefixMatch != "/" ||
		rule.BackendRefs[0].Name != "spark-pi-ui-svc" || *rule.BackendRefs[0].Port != 4040 || len(route.Annotations) > 0 {
		t.Errorf("the route is %s", described(object))
	}
	if !metav1.IsControlledBy(object, d.Pod) {
		t.Errorf("the route belongs to %v", object.GetOwnerReferences())
	}
	ingresses, err := s.Kube.NetworkingV1().Ingresses(s.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(ingresses.Items) > 0 {
		t.Errorf("there are Ingresses, too: %v (%v)", ingresses.Items, err)
	}
	app, err := s.kubeflowApps().Get(t.Context(), "spark-pi", metav1.GetOptions{})
	s.must(err)
	if info := app.Status.DriverInfo; info.WebUIIngressName != "spark-pi-ui-ingress" || info.WebUIIngressAddress != "https://spark.example.com"+path {
		t.Errorf("the UI is at %+v", info)
	}
	d.succeed()
}

// routeEarly runs applications of the early operator's API behind a Gateway, which the settings name while one of them waits.
func routeEarly(s *env) {
	s.installGatewayAPI()
	routes := s.Dynamic.Resource(gatewayv1.SchemeGroupVersion.WithResource("httproutes")).Namespace(s.ns)
	s.applyEarly(byUser("awaiting", "submissionByUser: true"))
	awaiting := s.awaitingUser("awaiting")
	s.configured("config-early", "ui-gateway", "{name: public, namespace: infra, listener: https, urlFormat: 'https://spark.example.com/{{$appNamespace}}/{{$appName}}'}")
	until(s, s.earlyApps(), "awaiting", "be warned of the path", func(app *v1alpha1.SparkApplication) bool {
		warning := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionWarning)
		return warning != nil && strings.Contains(warning.Message, "--conf spark.ui.proxyBase=/"+s.ns+"/awaiting")
	})
	until(s, routes, early.UIServiceName(awaiting), "lead to the driver of the user", func(route *unstructured.Unstructured) bool { return metav1.IsControlledBy(route, awaiting) })
	s.must(s.earlyApps().Delete(s.Context(), "awaiting", metav1.DeleteOptions{}))
	untilGone(s, s.earlyApps(), "awaiting")
	s.untilNodePortIsFree()

	s.applyEarly(earlyPi("routed"))
	d := s.runEarly("routed")
	path := "/" + s.ns + "/routed"
	running := until(s, s.earlyApps(), "routed", "show its UI", func(app *v1alpha1.SparkApplication) bool { return app.Status.DriverInfo.WebUIURL != "" })
	if info := running.Status.DriverInfo; info.WebUIURL != "https://spark.example.com"+path || info.WebUIAddress != info.WebUIURL {
		s.Errorf("the UI is at %+v", info)
	}
	name := early.UIServiceName(running)
	object, err := routes.Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	rule := typed[gatewayv1.HTTPRoute](s, object).Spec.Rules[0]
	if *rule.Matches[0].Path.Value != path || string(rule.BackendRefs[0].Name) != name || !metav1.IsControlledBy(object, d.Pod) || object.GetLabels()[early.LabelAppID] != running.Status.AppID {
		s.Errorf("the route is %s", described(object))
	}
	d.succeed()
	s.untilEarly("routed", v1alpha1.CompletedState)
	_, err = s.kubectl("", "wait", "--for=delete", "--timeout=60s", "httproute/"+name)
	s.must(err)
	untilGone(s, s.Kube.CoreV1().Services(s.ns), name)
}

// A node port by the setting costs one more write, the deletion of the Service, and no read.
func TestUIOfAKubeflowApplicationAtANodePortUntilTheRunEnds(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-kubeflow", "ui-service-type", "NodePort")
	s.ownController(controller{sink: s.sink.URL()})
	s.kubeflowApplication(sparkPi("4.1.1"))
	s.untilShown("spark-pi", v1beta2.SubmittedState)
	d := s.kubeflowDriver("spark-pi").set(func(status *corev1.PodStatus) {
		status.HostIP, status.HostIPs = "192.0.2.7", []corev1.HostIP{{IP: "192.0.2.7"}}
	}).start().ready()
	app := s.untilShown("spark-pi", v1beta2.RunningState)
	service, err := s.Kube.CoreV1().Services(s.ns).Get(t.Context(), "spark-pi-ui-svc", metav1.GetOptions{})
	s.must(err)
	port := service.Spec.Ports[0].NodePort
	if service.Spec.Type != corev1.ServiceTypeNodePort || port == 0 || !metav1.IsControlledBy(service, d.Pod) {
		t.Errorf("the Service is %s", described(service))
	}
	if info := app.Status.DriverInfo; info.WebUIPort != port || info.WebUIAddress != fmt.Sprintf("192.0.2.7:%d", port) {
		t.Errorf("the UI is at %+v, and the node port is %d", info, port)
	}
	d.succeed()
	s.untilShown("spark-pi", v1beta2.CompletedState)
	untilGone(s, s.Kube.CoreV1().Services(s.ns), "spark-pi-ui-svc")
	for _, request := range s.requestsAtRest() {
		if request.Verb == "get" && request.Resource == "services" {
			t.Errorf("a Service was read: %s", request)
		}
	}
}
