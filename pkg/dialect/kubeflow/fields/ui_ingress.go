package fields

import (
	"maps"
	"net/url"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// rewriteAnnotation makes nginx remove the path by which it finds the Ingress.
const rewriteAnnotation = "nginx.ingress.kubernetes.io/rewrite-target"

// ingressOf returns the Ingress from an address to the Service of an endpoint.
func (f endpoint) ingressOf(app *v1beta2.SparkApplication, objects *submission.Objects, address *url.URL) *networkingv1.Ingress {
	path, annotations := address.Path, maps.Clone(f.settings.Annotations)
	if dialect.HasPath(address) {
		path += "(/|$)(.*)"
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[rewriteAnnotation] = "/$2"
	}
	kind := networkingv1.PathTypeImplementationSpecific
	backend := networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
		Name: f.service, Port: networkingv1.ServiceBackendPort{Number: f.port},
	}}
	ingress := &networkingv1.Ingress{
		TypeMeta: metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{
			Name: f.ingress, Namespace: app.Namespace, Labels: names.ObjectLabels(objects), Annotations: annotations,
		},
		Spec: networkingv1.IngressSpec{
			TLS: f.settings.TLS,
			Rules: []networkingv1.IngressRule{{
				Host: address.Host,
				IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
					Paths: []networkingv1.HTTPIngressPath{{Path: path, PathType: &kind, Backend: backend}},
				}},
			}},
		},
	}
	if class := f.settings.ClassName; class != "" {
		ingress.Spec.IngressClassName = &class
	}
	return ingress
}

// setProxy sets the path of Spark's UI, if its address has a path below the host.
func (p properties) setProxy(app *v1beta2.SparkApplication, defaults settings.Defaults, id string) {
	format := defaults.Ingress.URLFormat
	if !defaults.UIService || format == "" {
		return
	}
	address, err := names.Address(format, app, id)
	if err != nil {
		return
	}
	for key, value := range dialect.ProxyProperties(address) {
		if _, given := p[key]; !given {
			p[key] = property{value: value, source: "the operator's setting of the Ingress"}
		}
	}
}
