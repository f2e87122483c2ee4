package dialect

import (
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ServiceNamed returns a Service that only has its kind and name, as ObsoleteObjects returns it.
func ServiceNamed(namespace, name string) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
	}
}

// UIPort returns the port at which clients reach the Service of a driver's UI: the node port, if it has one. It is 0 if the Service has
// no port.
func UIPort(service *corev1.Service) int32 {
	if len(service.Spec.Ports) == 0 {
		return 0
	}
	port := service.Spec.Ports[0]
	if port.NodePort != 0 {
		return port.NodePort
	}
	return port.Port
}

// HasNodePort reports whether a Service is reached at a port of each node.
func HasNodePort(service *corev1.Service) bool {
	return len(service.Spec.Ports) > 0 && service.Spec.Ports[0].NodePort != 0
}

// UIAddress returns the address of a driver's UI: the host and the port. It is empty as long as one of them is not known.
func UIAddress(host string, port int32) string {
	if host == "" || host == corev1.ClusterIPNone || port == 0 {
		return ""
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port)))
}
