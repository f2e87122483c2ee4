package config

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

// Handlers holds the locations where handlers run.
type Handlers struct {
	locations map[string]string
}

// The locations where a handler can run.
const (
	// InProcess means in the controller. It is the default.
	InProcess = "in-process"
	// External means behind the sink.
	External = "external"
)

// handlerNames lists the handlers that Firesteel requests.
var handlerNames = []string{string(lifecycle.AwaitsVerdict), string(lifecycle.AwaitsDeletion), schedule.Handler}

// NewHandlers reads config-handlers. Its keys are names of handlers, and its values in-process or external.
func NewHandlers(configMap *corev1.ConfigMap) (*Handlers, error) {
	settings := &Handlers{locations: map[string]string{}}
	setLocation := func(handler, location string) error {
		if location != InProcess && location != External {
			return InvalidValue(handler, location, "write "+InProcess+" or "+External)
		}
		settings.locations[handler] = location
		return nil
	}
	keys := Keys{}
	for _, handler := range handlerNames {
		keys[handler] = setLocation
	}
	return settings, keys.Read(HandlersName, configMap)
}

// InProcess reports whether a handler runs in the controller.
func (h *Handlers) InProcess(name string) bool { return h.locations[name] != External }
