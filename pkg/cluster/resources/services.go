package resources

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The ports of the Services. Pods use the same, unless a property changes them.
const (
	MasterWebPort int32 = 8080
	MasterPort    int32 = 7077
	RestPort      int32 = 6066
	WorkerWebPort int32 = 8081
)

// The names of the ports.
const (
	PortWeb   = "web"
	portSpark = "spark"
	portRest  = "rest"
)

func (b *builder) masterService() *corev1.Service {
	return b.service(b.master.ServiceMetadata, b.master.ServiceSpec, MasterServiceName(b.cluster.Name), Master,
		servicePort(PortWeb, MasterWebPort), servicePort(portSpark, MasterPort), servicePort(portRest, RestPort))
}

func (b *builder) workerService() *corev1.Service {
	return b.service(b.worker.ServiceMetadata, b.worker.ServiceSpec, WorkerServiceName(b.cluster.Name), Worker,
		servicePort(PortWeb, WorkerWebPort))
}

func servicePort(name string, port int32) corev1.ServicePort {
	return corev1.ServicePort{Name: name, Protocol: corev1.ProtocolTCP, Port: port, TargetPort: intstr.FromString(name)}
}

// service builds a Service from a template, with the ports and the selector of a role. It is headless unless the
// template asks for a cluster IP. It is never of type ExternalName: Firesteel connects to the master through this
// name.
func (b *builder) service(
	metadata *metav1.ObjectMeta, template *corev1.ServiceSpec, name, role string, ports ...corev1.ServicePort,
) *corev1.Service {
	service := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: b.metadata(metadata, name),
	}
	if template != nil {
		service.Spec = *template
	}
	spec := &service.Spec
	if spec.Type == corev1.ServiceTypeExternalName {
		spec.Type, spec.ExternalName = "", ""
	}
	if spec.ClusterIP == "" && (spec.Type == "" || spec.Type == corev1.ServiceTypeClusterIP) {
		spec.ClusterIP = corev1.ClusterIPNone
	}
	selector := map[string]string{}
	maps.Copy(selector, spec.Selector)
	maps.Copy(selector, Selector(b.cluster.Name, role))
	spec.Selector = selector
	for _, port := range ports {
		if !slices.ContainsFunc(spec.Ports, func(p corev1.ServicePort) bool { return p.Name == port.Name }) {
			spec.Ports = append(spec.Ports, port)
		}
	}
	return service
}
