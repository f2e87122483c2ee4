package sparkui

import (
	"errors"
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/access"
)

// Ref names an application.
type Ref struct {
	// Resource is the plural and the group of the kind.
	Resource, Group, Namespace, Name string
}

// right returns the right to a verb on the application.
func (r Ref) right(verb string) access.Right {
	return access.Right{Verb: verb, Group: r.Group, Resource: r.Resource, Namespace: r.Namespace, Name: r.Name}
}

// Driver is what is known of an application and its driver Pod.
type Driver struct {
	// UID is the application's.
	UID types.UID
	// Runs reports whether the recorded driver Pod runs. State is the application's state.
	Runs  bool
	State string
	// Attempt is the number of the attempt, negative if there is none, and ApplicationID what Spark calls it.
	Attempt       int64
	ApplicationID string
	// Pod is the name of the recorded driver Pod. IP and Port are those of its UI.
	Pod, IP string
	Port    int
	// HostNetwork reports whether the Pod has the node's address.
	HostNetwork bool
	// ProxyBase is the property spark.ui.proxyBase.
	ProxyBase string
}

// Drivers know the drivers of applications. They answer from a cache.
type Drivers interface {
	// Driver returns what is known of an application; false if there is no such application.
	Driver(ref Ref) (*Driver, bool)
}

// served returns nil if the console serves the UI of a driver, or why not.
func (d *Driver) served() error {
	switch {
	case !d.Runs:
		return fmt.Errorf("the driver does not run (%s): its UI ended with it", d.State)
	case d.ProxyBase != "":
		return fmt.Errorf("the application has spark.ui.proxyBase %.200q: its UI works only below that path, at the address that its owner made for it", d.ProxyBase)
	case d.Port <= 0 || d.Port > mostPort:
		return errNoAddress
	}
	return nil
}

const mostPort = 65535

var errNoAddress = errors.New("the driver Pod has no address yet: wait until it runs")

// address returns the address of the UI of a driver, or why the console does not connect to it.
func (d *Driver) address() (string, error) {
	if d.HostNetwork {
		return "", errors.New("the driver is in the node's network, where the console connects to nothing: kubectl spark ui opens its UI")
	}
	ip, err := netip.ParseAddr(d.IP)
	if err != nil || !ip.IsGlobalUnicast() || ip.IsLinkLocalUnicast() {
		return "", errNoAddress
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(d.Port)).String(), nil
}
