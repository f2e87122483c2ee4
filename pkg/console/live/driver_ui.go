package live

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// DriverUI is where the driver of an application serves Spark's UI.
type DriverUI struct {
	// UID is the application's.
	UID types.UID
	// Runs reports whether the recorded driver Pod runs. State is the application's state.
	Runs  bool
	State string
	// Attempt is the number of the attempt, negative if there is none, and ApplicationID what Spark calls it.
	Attempt       int64
	ApplicationID string
	// Pod is the name of the recorded driver Pod; empty if there is none. IP is its address; empty if it has none. Port is the port of the UI; 0 if
	// Spark chooses one.
	Pod, IP string
	Port    int
	// HostNetwork reports whether the Pod has the node's address.
	HostNetwork bool
	// ProxyBase is the property spark.ui.proxyBase: the UI works below that path alone.
	ProxyBase string
}

// The properties about the UI, and its usual port.
const (
	uiPortKey, proxyBaseKey = "spark.ui.port", "spark.ui.proxyBase"
	uiPort                  = 4040
)

// DriverUI returns where the driver of an application serves Spark's UI, and whether there is such an application.
func (l *Live) DriverUI(ref Ref) (*DriverUI, bool) {
	// Each request to the UI comes here: the executors, of which there may be many, are not read.
	found, ok := l.look(ref, overview.Application, func(p *pod) bool { return p.role == roleDriver })
	if !ok {
		return nil, false
	}
	ui := &DriverUI{UID: found.row.UID, State: found.row.State, Attempt: found.row.Attempt, ApplicationID: found.row.ApplicationID}
	if found.read == nil {
		return ui, true
	}
	properties := found.read.Facts(found.now, overview.Pods{}, nil, "").Properties
	ui.ProxyBase, ui.Port = properties[proxyBaseKey], uiPort
	if text := strings.TrimSpace(properties[uiPortKey]); text != "" {
		ui.Port, _ = strconv.Atoi(text) // Spark refuses what is no number
	}
	if driver := found.pods.Driver; driver != nil && driver.DeletionTimestamp == nil {
		ui.Pod = driver.Name
		ui.Runs, ui.IP, ui.HostNetwork = driver.Status.Phase == corev1.PodRunning, driver.Status.PodIP, driver.Spec.HostNetwork
	}
	return ui, true
}
