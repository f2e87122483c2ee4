package fields

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/finding"
	"github.com/firesteel-dev/firesteel/pkg/podvalidation"
)

// invalidPods returns the values in the fields of a role that the API server refuses in its Pods.
func invalidPods(app *v1beta2.SparkApplication, r names.Role) finding.List {
	spec := r.Pods(&app.Spec)
	// The fields of these parts have the names that they have in a Pod and in its container.
	pod := corev1.PodSpec{
		Affinity: spec.Affinity, Tolerations: spec.Tolerations, NodeSelector: spec.NodeSelector, HostAliases: spec.HostAliases, DNSConfig: spec.DNSConfig,
	}
	container := corev1.Container{Env: spec.Env, VolumeMounts: spec.VolumeMounts, SecurityContext: spec.SecurityContext}
	for _, port := range spec.Ports {
		container.Ports = append(container.Ports, corev1.ContainerPort{Name: port.Name, Protocol: corev1.Protocol(port.Protocol), ContainerPort: port.ContainerPort})
	}
	path := "spec." + string(r)
	return slices.Concat(
		podvalidation.Pod(path, &pod), podvalidation.Container(path, &container),
		podvalidation.PodSecurity(r.Field("podSecurityContext"), spec.PodSecurityContext),
		podvalidation.Sidecars(r.Field("initContainers"), spec.InitContainers), podvalidation.Sidecars(r.Field("sidecars"), spec.Sidecars),
		dialect.CheckTemplateValues(r.Field("template"), withFields(spec), r.Container()),
	)
}

// withFields returns the template of a role without the DNS policy that needs the field dnsConfig.
func withFields(spec *v1beta2.SparkPodSpec) *corev1.PodTemplateSpec {
	if spec.Template == nil || spec.DNSConfig == nil || spec.Template.Spec.DNSPolicy != corev1.DNSNone {
		return spec.Template
	}
	template := *spec.Template
	template.Spec.DNSPolicy = ""
	return &template
}
