package config

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
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
	// Off means that the handler is not requested. It is the default of opt-in handlers, and no other handler may have it.
	Off = "off"
)

// handlers holds the handlers that Firesteel requests, each with its default location.
var handlers = map[string]string{
	string(lifecycle.AwaitsVerdict): InProcess, string(lifecycle.AwaitsDeletion): InProcess, schedule.Handler: InProcess,
	string(lifecycle.AwaitsArchive): InProcess,
	namespaces.Handler:              Off,
}

// NewHandlers reads config-handlers. Its keys are names of handlers, and its values in-process or external, or off for opt-in handlers.
func NewHandlers(configMap *corev1.ConfigMap) (*Handlers, error) {
	settings := &Handlers{locations: maps.Clone(handlers)}
	keys := Keys{}
	for handler, byDefault := range handlers {
		keys[handler] = func(_, location string) error {
			switch {
			case location == InProcess, location == External, location == Off && byDefault == Off:
				settings.locations[handler] = location
				return nil
			case byDefault == Off:
				return InvalidValue(handler, location, "write "+Off+", "+InProcess+" or "+External)
			default:
				return InvalidValue(handler, location, "write "+InProcess+" or "+External)
			}
		}
	}
	return settings, keys.Read(HandlersName, configMap)
}

// InProcess reports whether a handler runs in the controller.
func (h *Handlers) InProcess(name string) bool { return h.locations[name] == InProcess }

// Requested reports whether a handler is requested at all.
func (h *Handlers) Requested(name string) bool { return h.locations[name] != Off }
