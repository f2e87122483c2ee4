package submission

import (
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
)

const (
	driverPortKey             = "spark.driver.port"
	driverBlockManagerPortKey = "spark.driver.blockManager.port"
	uiPortKey                 = "spark.ui.port"
	connectPortKey            = "spark.connect.grpc.binding.port"
	connectPortName           = "spark-connect"
)

// namedPort is a port that the driver listens on; 0 is any free one.
type namedPort struct {
	name   string
	number int32
	key    string // the property that sets it
}

// driverPorts returns the ports of the driver's container, in Spark's order.
func (d *driver) driverPorts() []namedPort {
	return d.portsWith(driverBlockManagerPortKey, "spark.blockManager.port")
}

// servicePorts returns the ports of the driver's Service. Spark ignores spark.blockManager.port here. The driver gets this
// number by its properties, so this port is the one that works.
func (d *driver) servicePorts() []namedPort {
	return d.portsWith(driverBlockManagerPortKey)
}

func (d *driver) portsWith(blockManagerKeys ...string) []namedPort {
	ports := []namedPort{
		{"driver-rpc-port", d.port(7078, driverPortKey), driverPortKey},
		{"blockmanager", d.port(7079, blockManagerKeys...), blockManagerKeys[0]},
		{"spark-ui", d.port(4040, uiPortKey), uiPortKey},
	}
	if d.rules.ConnectPort {
		ports = append(ports, namedPort{connectPortName, d.port(15002, connectPortKey), connectPortKey})
	}
	return ports
}

// checkPortsDiffer refuses ports that the API server would refuse in a Service after the pod was created.
func (d *driver) checkPortsDiffer(ports []namedPort) {
	for i, port := range ports {
		for _, other := range ports[:i] {
			if port.number != other.number {
				continue
			}
			key := port.key
			if !d.conf.set(key) {
				key, port, other = other.key, other, port
			}
			d.conf.refuse(key, d.conf.values[key], "is that of "+other.key+" as well", "choose another number")
		}
	}
}

// port reads a port. Without a Service for the driver, the number need not be known in advance, and 0 is allowed.
func (d *driver) port(fallback int32, keys ...string) int32 {
	lowest := 1
	if d.plan.WithoutService || d.excludedSteps()[driverServiceStep] {
		lowest = 0
	}
	form := portsFrom(lowest)
	if keys[0] != uiPortKey && d.conf.set(keys[0]) {
		return readPlain(d.conf, fallback, form, keys[0])
	}
	return read(d.conf, fallback, form, keys...)
}

func portsFrom(lowest int) format[int32] {
	return format[int32]{
		parse: func(text string) (int32, bool) {
			number, ok := parseCount(text)
			return int32(number), ok && number >= lowest && number <= math.MaxUint16
		},
		problem: "is no port",
		remedy:  fmt.Sprintf("write a number from %d to %d", lowest, math.MaxUint16),
	}
}

// addPort declares a port of the container. A port that only the driver will choose cannot be declared.
func (d *driver) addPort(port namedPort) {
	if port.number == 0 {
		return
	}
	d.container.Ports = append(d.container.Ports, corev1.ContainerPort{
		Name:          port.name,
		ContainerPort: port.number,
		Protocol:      corev1.ProtocolTCP,
	})
}
