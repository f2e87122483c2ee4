// Package handlers lists Firesteel's own handlers. They run in the controller, or as services in cmd/handler.
package handlers

import (
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/handlers/namespace"
	"github.com/firesteel-dev/firesteel/pkg/handlers/restart"
	"github.com/firesteel-dev/firesteel/pkg/handlers/schedule"
	"github.com/firesteel-dev/firesteel/pkg/handlers/ttl"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// UsesDefaults reports whether a handler decides by the defaults of applications.
func UsesDefaults(name string) bool {
	return name == restart.Name || name == ttl.Name || name == string(lifecycle.AwaitsArchive)
}

// All returns the handlers by name, but that of the archive, whose libraries are large: package archiver has it. settings returns the present settings, and
// namespaces the labels that their scope needs.
func All(client kube.Clients, dynamic dynamic.Interface, settings func() *config.Config, namespaces lookup.Namespaces) map[string]events.Handler {
	return map[string]events.Handler{
		restart.Name:   restart.NewHandler(client, settings, namespaces),
		ttl.Name:       ttl.NewHandler(client, settings, namespaces, clock.RealClock{}),
		schedule.Name:  schedule.NewHandler(client, dynamic, settings, namespaces, clock.RealClock{}),
		namespace.Name: namespace.NewHandler(dynamic, settings, clock.RealClock{}),
	}
}
