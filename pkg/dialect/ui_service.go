package dialect

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	// UIPortKey is the property with the port at which a driver serves its UI.
	UIPortKey = "spark.ui.port"
	// UIProxyBaseKey is the property with the path below which a proxy serves a UI.
	UIProxyBaseKey = "spark.ui.proxyBase"
	// DefaultUIPort is that port if no property sets it.
	DefaultUIPort int32 = 4040
	// UIPortName is the name of the port of the UI's Service.
	UIPortName = "spark-driver-ui-port"
)

// UIPort returns the port at which a driver serves its UI, by the value of UIPortKey.
func UIPort(value string) int32 {
	port, err := strconv.ParseInt(strings.TrimSpace(value), 10, 32)
	if err != nil {
		return DefaultUIPort
	}
	return int32(port)
}

// DriverService is a Service in front of one port of a driver.
type DriverService struct {
	// Metadata has its name, namespace, labels and annotations. Spark's label of the application must not be one of the labels: the
	// driver deletes all Services with that label at its end.
	Metadata metav1.ObjectMeta
	// Type is empty for ClusterIP.
	Type     corev1.ServiceType
	Selector map[string]string
	PortName string
	// Port is that of the Service, Target that of the driver.
	Port, Target int32
}

// Object returns the Service.
func (s DriverService) Object() *corev1.Service {
	service := ServiceNamed(s.Metadata.Namespace, s.Metadata.Name)
	service.Labels, service.Annotations = s.Metadata.Labels, s.Metadata.Annotations
	service.Spec = corev1.ServiceSpec{
		Type: s.Type, Selector: s.Selector,
		Ports: []corev1.ServicePort{{Name: s.PortName, Port: s.Port, TargetPort: intstr.FromInt32(s.Target)}},
	}
	if s.Type == "" {
		service.Spec.Type = corev1.ServiceTypeClusterIP
	}
	return service
}

// ServiceNamed returns a Service that only has its kind and name, as ObsoleteObjects returns it.
func ServiceNamed(namespace, name string) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
	}
}
