package fields

import (
	"cmp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const (
	defaultUIPort = 4040
	// UIPortName is the name of the port of the UI's Service.
	UIPortName = "spark-driver-ui-port"
)

// endpoint is a Service for a port of the driver, with the Ingress or the HTTPRoute in front of it.
type endpoint struct {
	service, ingress string // their names; an HTTPRoute has that of an Ingress
	portName         string
	port, target     int32
	kind             corev1.ServiceType
	annotations      map[string]string
	labels           map[string]string
	// urlFormat is the URL format of the Ingress; empty for no Ingress.
	urlFormat string
	settings  settings.Ingress
	// optional reports whether the application runs without the Service if the API server refuses it.
	optional bool
}

// endpoints returns those of an application: that of its UI if the operator's settings ask for it, and those that the
// application asks for.
func endpoints(app *v1beta2.SparkApplication, defaults settings.Defaults) []endpoint {
	var all []endpoint
	if defaults.UIService {
		all = append(all, uiEndpoint(app, defaults))
	}
	for _, given := range app.Spec.DriverIngressOptions {
		port, settings := given.ServicePort, defaults.Ingress
		if len(given.IngressTLS) > 0 {
			settings.TLS = given.IngressTLS
		}
		if len(given.IngressAnnotations) > 0 {
			settings.Annotations = given.IngressAnnotations
		}
		all = append(all, endpoint{
			service: names.DriverServiceName(app, port), ingress: names.DriverIngressName(app, port),
			portName: cmp.Or(given.ServicePortName, "driver-ing-"+strconv.Itoa(int(port))), port: port, target: port,
			kind: given.ServiceType, annotations: given.ServiceAnnotations, labels: given.ServiceLabels,
			urlFormat: given.IngressURLFormat, settings: settings,
		})
	}
	return all
}

func uiEndpoint(app *v1beta2.SparkApplication, defaults settings.Defaults) endpoint {
	target := UIPort(app, defaults)
	ui := endpoint{
		service: names.UIServiceName(app), ingress: names.UIIngressName(app), portName: UIPortName,
		port: target, target: target, urlFormat: defaults.Ingress.URLFormat, settings: defaults.Ingress,
		kind: defaults.UIServiceType, optional: defaults.UINodePort(app.Spec.SparkUIOptions),
	}
	given := app.Spec.SparkUIOptions
	if given == nil {
		return ui
	}
	ui.port = defaultUIPort
	if given.ServicePort != nil {
		ui.port = *given.ServicePort
	}
	ui.portName = cmp.Or(given.ServicePortName, ui.portName)
	ui.kind, ui.annotations, ui.labels = cmp.Or(given.ServiceType, ui.kind), given.ServiceAnnotations, given.ServiceLabels
	if len(given.IngressTLS) > 0 {
		ui.settings.TLS = given.IngressTLS
	}
	if len(given.IngressAnnotations) > 0 {
		ui.settings.Annotations = given.IngressAnnotations
	}
	return ui
}

// UIPort returns the port at which the driver serves its UI.
func UIPort(app *v1beta2.SparkApplication, defaults settings.Defaults) int32 {
	given := cmp.Or(app.Spec.SparkConf[uiPortKey], defaults.Properties[uiPortKey])
	port, err := strconv.ParseInt(strings.TrimSpace(given), 10, 32)
	if err != nil {
		return defaultUIPort
	}
	return int32(port)
}

// serviceOf returns the Service of an endpoint. It does not have Spark's label of the application: the driver deletes all
// Services with that label at its end.
func (f endpoint) serviceOf(app *v1beta2.SparkApplication, objects *submission.Objects) *corev1.Service {
	labels := names.ObjectLabels(objects)
	if len(f.labels) > 0 {
		labels = map[string]string{names.LabelCreated: "true"}
		for key, value := range f.labels {
			labels[key] = value
		}
	}
	return &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{
			Name: f.service, Namespace: app.Namespace, Labels: labels, Annotations: f.annotations,
		},
		Spec: corev1.ServiceSpec{
			Type:     cmp.Or(f.kind, corev1.ServiceTypeClusterIP),
			Selector: names.DriverSelector(objects),
			Ports:    []corev1.ServicePort{{Name: f.portName, Port: f.port, TargetPort: intstr.FromInt32(f.target)}},
		},
	}
}

// addEndpoints adds the Services, and the Ingresses or HTTPRoutes, of an application to what the driver owns.
func addEndpoints(app *v1beta2.SparkApplication, defaults settings.Defaults, objects *submission.Objects) error {
	id := objects.Driver.Labels[submission.LabelApplicationID]
	for _, f := range endpoints(app, defaults) {
		service := f.serviceOf(app, objects)
		objects.Owned = append(objects.Owned, service)
		if f.optional {
			objects.Optional = append(objects.Optional, service)
		}
		if f.urlFormat == "" {
			continue
		}
		address, err := names.Address(f.urlFormat, app, id)
		if err != nil {
			return err
		}
		if f.settings.Gateway != nil {
			objects.Owned = append(objects.Owned, f.routeOf(app, objects, address))
			continue
		}
		objects.Owned = append(objects.Owned, f.ingressOf(app, objects, address))
	}
	return nil
}
