package submission

import (
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
)

// ServicePrefix begins the properties of the driver's Service.
const ServicePrefix = "spark.kubernetes.driver.service."

// ServiceDeletionKey is the property that chooses whether the driver deletes the Services of its application when it ends.
const ServiceDeletionKey = ServicePrefix + "deleteOnTermination"

const (
	serviceLabelPrefix = ServicePrefix + "label."
	ipFamilyPolicyKey  = ServicePrefix + "ipFamilyPolicy"
	ipFamiliesKey      = ServicePrefix + "ipFamilies"
)

// driverService adds the headless Service by whose name executors find the driver. It mirrors DriverServiceFeatureStep.
func driverService(d *driver) {
	if d.plan.WithoutService {
		advertisePodAddress(d)
		return
	}
	name := d.serviceName()
	service := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: d.meta(name, d.serviceLabels()),
		Spec:       d.serviceSpec(),
	}
	const annotations = ServicePrefix + "annotation."
	for _, p := range d.conf.withPrefix(annotations) {
		d.conf.checkAnnotation(annotations, p.name, p.value)
		metav1.SetMetaDataAnnotation(&service.ObjectMeta, p.name, p.value)
	}
	d.owned = append(d.owned, service)

	ports := d.servicePorts()
	d.checkPortsDiffer(ports)
	d.written[driverHostKey] = name + "." + d.plan.Namespace + ".svc"
	d.written[driverPortKey] = strconv.Itoa(int(ports[0].number))
	d.written[driverBlockManagerPortKey] = strconv.Itoa(int(ports[1].number))
}

func (d *driver) serviceName() string {
	name := d.plan.Names.Prefix + "-driver-svc"
	if len(validation.IsDNS1035Label(name)) == 0 {
		return name
	}
	fallback := d.plan.Names.FallbackService
	if problems := validation.IsDNS1035Label(fallback); len(problems) > 0 {
		d.conf.refuse("names.fallbackService", fallback, "is no name of a Service", strings.Join(problems, "; "))
	}
	return fallback
}

// serviceLabels returns the labels of the Service itself. The driver finds it by spark-app-selector and deletes it at its
// end.
func (d *driver) serviceLabels() map[string]string {
	labels := d.appSelector()
	for _, p := range d.conf.withPrefix(serviceLabelPrefix) {
		if p.name == LabelApplicationID && p.value != d.plan.Names.AppID {
			d.conf.refuse(serviceLabelPrefix+p.name, p.value, "is a label of Spark's own", "leave it out")
			continue
		}
		d.conf.checkLabel(serviceLabelPrefix, p.name, p.value)
		labels[p.name] = p.value
	}
	return labels
}

func (d *driver) serviceSpec() corev1.ServiceSpec {
	policy := d.ipFamilyPolicy()
	families := d.ipFamilies()
	if len(families) > 1 && policy == corev1.IPFamilyPolicySingleStack {
		d.conf.refuse(ipFamiliesKey, d.conf.values[ipFamiliesKey], "are two families",
			"set "+ipFamilyPolicyKey+" to PreferDualStack or RequireDualStack")
	}
	spec := corev1.ServiceSpec{
		ClusterIP:                corev1.ClusterIPNone,
		IPFamilyPolicy:           &policy,
		IPFamilies:               families,
		Selector:                 maps.Clone(d.labels),
		PublishNotReadyAddresses: d.publishNotReady(),
	}
	for _, port := range d.servicePorts() {
		spec.Ports = append(spec.Ports, d.servicePort(port))
	}
	return spec
}

func (d *driver) publishNotReady() bool {
	return d.conf.boolean(false, ServicePrefix+"publishNotReadyAddresses")
}

func (d *driver) ipFamilyPolicy() corev1.IPFamilyPolicy {
	return corev1.IPFamilyPolicy(d.conf.oneOf(ipFamilyPolicyKey, "SingleStack", "PreferDualStack", "RequireDualStack"))
}

func (d *driver) ipFamilies() []corev1.IPFamily {
	given := d.conf.oneOf(ipFamiliesKey, "IPv4", "IPv6", "IPv4,IPv6", "IPv6,IPv4")
	var families []corev1.IPFamily
	for _, family := range splitList(given) {
		families = append(families, corev1.IPFamily(family))
	}
	return families
}

func (d *driver) servicePort(port namedPort) corev1.ServicePort {
	result := corev1.ServicePort{Name: port.name, Port: port.number, TargetPort: intstr.FromInt32(port.number)}
	if port.name == connectPortName && d.rules.ConnectProtocol != "" {
		result.AppProtocol = &d.rules.ConnectProtocol
	}
	return result
}
