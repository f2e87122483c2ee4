// Package ttl is the handler that deletes an application when its time to live is over.
package ttl

import (
	"context"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Name is the handler's name in config-handlers.
const Name = string(lifecycle.AwaitsDeletion)

// NewHandler creates the handler. It decides from the application that it reads, and not from the event.
func NewHandler(
	client kube.Clients, settings func() *config.Config, namespaces lookup.Namespaces, clock clock.PassiveClock,
) events.Handler {
	apis := applications.All(client)
	return func(ctx context.Context, event cloudevents.Event) error {
		return lookup.RetryOnConflict(func() error {
			return deleteExpired(ctx, apis, settings(), namespaces, clock, event)
		})
	}
}

func deleteExpired(
	ctx context.Context, apis map[string]*applications.API, settings *config.Config, namespaces lookup.Namespaces,
	clock clock.PassiveClock, event cloudevents.Event,
) error {
	app, err := lookup.Application(ctx, apis, settings, namespaces, event)
	if app == nil || err != nil {
		return err
	}
	due, ok := lifecycle.ExpiresAt(app.GetRecord(), app.Dialect.Policy(app.Application))
	if !ok || clock.Now().Before(due) {
		return nil
	}
	if err := app.API.Delete(ctx, app.Application); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete application %s/%s: %w", app.GetNamespace(), app.GetName(), err)
	}
	return nil
}
