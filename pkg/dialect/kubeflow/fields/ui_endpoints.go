package fields

import (
	"cmp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/submission"
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
	// isUI reports whether it is that of Spark's UI.
	isUI bool
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
		isUI: true, service: names.UIServiceName(app), ingress: names.UIIngressName(app), portName: dialect.UIPortName,
		port: target, target: target, urlFormat: defaults.Ingress.URLFormat, settings: defaults.Ingress,
		kind: defaults.UIServiceType, optional: defaults.UINodePort(app.Spec.SparkUIOptions),
	}
	given := app.Spec.SparkUIOptions
	if given == nil {
		return ui
	}
	ui.port = dialect.DefaultUIPort
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
	return dialect.UIPort(cmp.Or(app.Spec.SparkConf[dialect.UIPortKey], defaults.Properties[dialect.UIPortKey]))
}

// serviceOf returns the Service of an endpoint.
func (f endpoint) serviceOf(app *v1beta2.SparkApplication, objects *submission.Objects) *corev1.Service {
	labels := names.ObjectLabels(objects)
	if len(f.labels) > 0 {
		labels = map[string]string{names.LabelCreated: "true"}
		for key, value := range f.labels {
			labels[key] = value
		}
	}
	return dialect.DriverService{
		Metadata: metav1.ObjectMeta{Name: f.service, Namespace: app.Namespace, Labels: labels, Annotations: f.annotations},
		Type:     f.kind, Selector: names.DriverSelector(objects), PortName: f.portName, Port: f.port, Target: f.target,
	}.Object()
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
		if f.isUI {
			objects.UI = submission.UI{
				Service: service, NodePort: defaults.UINodePort(app.Spec.SparkUIOptions), NodeHost: defaults.UINodeHost,
			}
		}
		if f.urlFormat == "" {
			continue
		}
		address, err := names.Address(f.urlFormat, app, id)
		if err != nil {
			return err
		}
		if f.isUI {
			objects.UI.URL = address.String()
		}
		if gateway := f.settings.Gateway; gateway != nil {
			metadata := metav1.ObjectMeta{Name: f.ingress, Namespace: app.Namespace, Labels: names.ObjectLabels(objects)}
			objects.Owned = append(objects.Owned, gateway.RouteTo(service, metadata, address))
			continue
		}
		objects.Owned = append(objects.Owned, f.ingressOf(app, objects, address))
	}
	return nil
}
