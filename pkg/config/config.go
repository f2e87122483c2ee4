// Package config holds the operator's settings, read from the config maps of its namespace. A reconcile sees
// one immutable snapshot of them.
package config

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"knative.dev/pkg/configmap/parser"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// The config maps.
const (
	DefaultsName = "config-defaults"
	HandlersName = "config-handlers"
	EventsName   = "config-events"
)

// Config is a snapshot of all settings.
type Config struct {
	Defaults *Defaults
	Handlers *Handlers
	Events   *Events
}

// Defaults fill in what applications leave out.
type Defaults struct {
	// Image is used by applications that name none. {{SPARK_VERSION}} stands for the application's. Empty means
	// apache/spark:<sparkVersion>.
	Image string
}

// NewDefaults reads config-defaults.
func NewDefaults(configMap *corev1.ConfigMap) (*Defaults, error) {
	defaults := &Defaults{}
	return defaults, parser.Parse(configMap.Data, parser.As("image", &defaults.Image))
}

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

// handlerNames are the handlers that Firesteel asks.
var handlerNames = []string{string(lifecycle.AwaitsVerdict), string(lifecycle.AwaitsDeletion)}

// NewHandlers reads config-handlers: the keys are names of handlers, the values in-process or external.
func NewHandlers(configMap *corev1.ConfigMap) (*Handlers, error) {
	handlers := &Handlers{places: map[string]string{}}
	for name, place := range configMap.Data {
		if name == exampleKey {
			continue
		}
		if !slices.Contains(handlerNames, name) {
			return nil, fmt.Errorf("%s: there is no handler %q: write one of %v", HandlersName, name, handlerNames)
		}
		if place != InProcess && place != External {
			return nil, fmt.Errorf("%s: %s is %q: write %s or %s", HandlersName, name, place, InProcess, External)
		}
		handlers.places[name] = place
	}
	return handlers, nil
}

// InProcess says whether a handler runs in the controller.
func (h *Handlers) InProcess(name string) bool { return h.places[name] != External }

// Events are the settings of the delivery of events.
type Events struct {
	// DeletionGrace is how long a deleted application may wait for its events to be taken.
	DeletionGrace time.Duration
}

// NewEvents reads config-events.
func NewEvents(configMap *corev1.ConfigMap) (*Events, error) {
	events := &Events{DeletionGrace: 5 * time.Minute}
	if err := parser.Parse(configMap.Data, parser.As("deletion-grace", &events.DeletionGrace)); err != nil {
		return nil, fmt.Errorf("%s: %w", EventsName, err)
	}
	if events.DeletionGrace < 0 {
		return nil, fmt.Errorf("%s: deletion-grace is %s: it cannot be below zero", EventsName, events.DeletionGrace)
	}
	return events, nil
}

const exampleKey = "_example"
