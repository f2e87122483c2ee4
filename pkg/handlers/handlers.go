// Package handlers lists the handler functions that come with Firesteel. They run in the controller or as
// cmd/handler, from the same functions.
package handlers

import (
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers/restart"
	"github.com/firesteel-dev/firesteel/pkg/handlers/schedule"
	"github.com/firesteel-dev/firesteel/pkg/handlers/ttl"
)

// All returns the handlers by name. settings are the present ones.
func All(client versioned.Interface, dynamic dynamic.Interface, settings func() *config.Config) map[string]events.Handler {
	return map[string]events.Handler{
		restart.Name:  restart.NewHandler(client, settings),
		ttl.Name:      ttl.NewHandler(client, settings, clock.RealClock{}),
		schedule.Name: schedule.NewHandler(client, dynamic, settings, clock.RealClock{}),
	}
}
