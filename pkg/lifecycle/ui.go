package lifecycle

import (
	"net"
	"strconv"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// maxUIAddress bounds the address of a UI in a transition, in bytes. A part of an address would lead nowhere.
const maxUIAddress = 512

// UI is where the UI of a driver is reached. It is zero if there is no Service for it.
type UI struct {
	// Port is the port of the Service, or the node port.
	Port int32
	// Host is the host of the port. It is empty for the IP of the driver's node, which is not known yet.
	Host string
	// URL is that of an Ingress or a route in front of the Service; empty for none.
	URL string
}

// Address returns the host and the port. It is empty as long as one of them is not known.
func (ui UI) Address() string {
	if ui.Host == "" || ui.Port == 0 {
		return ""
	}
	return net.JoinHostPort(ui.Host, strconv.Itoa(int(ui.Port)))
}

// BestAddress returns the address for people: the URL, if there is one.
func (ui UI) BestAddress() string {
	if ui.URL != "" && ui.Port != 0 {
		return ui.URL
	}
	return ui.Address()
}

// UIOf returns where the UI of a launch's driver is reached.
func UIOf(launch *v1alpha1.Launch) UI {
	if launch == nil {
		return UI{}
	}
	return UI{Port: launch.UIPort, Host: launch.UIHost, URL: launch.UIURL}
}

// uiAddress returns the address of the UI for a transition. The driver answers in some states only. The IP of its node is known by then.
func (m *machine) uiAddress(state State) string {
	launch := m.record.Launch
	if !state.DriverRuns() || launch == nil {
		return ""
	}
	if driver := m.seen.Driver; launch.UIPort != 0 && launch.UIHost == "" && driver != nil {
		launch.UIHost = driver.Host
	}
	if address := UIOf(launch).BestAddress(); len(address) <= maxUIAddress {
		return address
	}
	return ""
}
