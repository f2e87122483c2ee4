package config

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/schedule"
)

// Handlers says where each handler function runs.
type Handlers struct {
	places map[string]string
}

// The places where a handler may run.
const (
	// InProcess is in the controller itself, the default.
	InProcess = "in-process"
	// External is wherever the events of the sink lead to.
	External = "external"
)

// handlers are those that Firesteel asks.
var handlers = []string{string(lifecycle.AwaitsVerdict), string(lifecycle.AwaitsDeletion), schedule.Handler}

// NewHandlers reads config-handlers: the keys are names of handlers, the values in-process or external.
func NewHandlers(configMap *corev1.ConfigMap) (*Handlers, error) {
	settings := &Handlers{places: map[string]string{}}
	place := func(handler, place string) error {
		if place != InProcess && place != External {
			return Refuse(handler, place, "write "+InProcess+" or "+External)
		}
		settings.places[handler] = place
		return nil
	}
	keys := Keys{}
	for _, handler := range handlers {
		keys[handler] = place
	}
	return settings, keys.Read(HandlersName, configMap)
}

// InProcess says whether a handler runs in the controller.
func (h *Handlers) InProcess(name string) bool { return h.places[name] != External }
