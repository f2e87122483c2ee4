package submission

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/finding"
)

// HostnameVariable names the driver to its executors if no spark.driver.host does. Spark puts brackets around an IPv6
// address.
const HostnameVariable = "SPARK_LOCAL_HOSTNAME"

// advertisePodAddress makes executors find the driver by its Pod's address instead of the name of a Service. Spark has no
// such step. The address is known only when the Pod runs, so no property can hold it.
func advertisePodAddress(d *driver) {
	d.checkHostnameVariable()
	podIP := &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "status.podIP"}
	d.container.Env = append(d.container.Env, corev1.EnvVar{
		Name:      HostnameVariable,
		ValueFrom: &corev1.EnvVarSource{FieldRef: podIP},
	})
	// Without these, the driver would use any free ports. No container port and no network policy could name them.
	ports := d.driverPorts()
	d.written[driverPortKey] = strconv.Itoa(int(ports[0].number))
	d.written[driverBlockManagerPortKey] = strconv.Itoa(int(ports[1].number))
	if !d.conf.set(ServiceDeletionKey) {
		d.written[ServiceDeletionKey] = "false" // saves the request to delete a Service that does not exist
	}
}

// checkHostnameVariable refuses another value of the variable in a property or in the template.
func (d *driver) checkHostnameVariable() {
	field := finding.Entry(d.containerField+".env", HostnameVariable)
	for _, prefix := range []string{driverEnvPrefix, secretKeyRefPrefix} {
		if value, set := d.conf.values[prefix+HostnameVariable]; set {
			field = prefix + HostnameVariable
			d.refuseHostname(field, value)
		}
	}
	for _, variable := range d.container.Env {
		if variable.Name == HostnameVariable {
			d.refuseHostname(field, variable.Value)
		}
	}
}

func (d *driver) refuseHostname(field, value string) {
	found := OtherHostname(field, value)
	d.conf.refuse(field, value, found.Message, found.Remedy)
}

// OtherHostname returns the finding about HostnameVariable in the environment of a driver without a Service.
func OtherHostname(field, value string) finding.Finding {
	return finding.Finding{
		Severity: finding.Error, Field: field, Value: value,
		Message: "is not the address of the driver's Pod, by which executors find a driver without a Service", Remedy: "leave it out",
	}
}
