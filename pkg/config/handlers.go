package config

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

// Handlers says where each handler function runs.
type Handlers struct {
	locations map[string]string
}

// The places where a handler may run.
const (
	// InProcess is in the controller itself, the default.
	InProcess = "in-process"
	// External is wherever the events of the sink lead to.
	External = "external"
)

// handlerNames are those that Firesteel asks.
var handlerNames = []string{string(lifecycle.AwaitsVerdict), string(lifecycle.AwaitsDeletion), schedule.Handler}

// NewHandlers reads config-handlers: the keys are names of handlers, the values in-process or external.
func NewHandlers(configMap *corev1.ConfigMap) (*Handlers, error) {
	settings := &Handlers{locations: map[string]string{}}
	setLocation := func(handler, setLocation string) error {
		if setLocation != InProcess && setLocation != External {
			return InvalidValue(handler, setLocation, "write "+InProcess+" or "+External)
		}
		settings.locations[handler] = setLocation
		return nil
	}
	keys := Keys{}
	for _, handler := range handlerNames {
		keys[handler] = setLocation
	}
	return settings, keys.Read(HandlersName, configMap)
}

// InProcess says whether a handler runs in the controller.
func (h *Handlers) InProcess(name string) bool { return h.locations[name] != External }
