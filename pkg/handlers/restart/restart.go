// Package restart is the handler that decides whether an application gets another attempt. Firesteel requests it when an attempt has
// ended and the spec allows another one.
//
// The handler writes the verdict into the application's record. Only the controller turns a verdict into a transition.
package restart

import (
	"context"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Name is the handler's name in config-handlers.
const Name = string(lifecycle.AwaitsVerdict)

// NewHandler creates the handler. It uses only the event's source, and decides from the application that it reads. So a duplicate, late
// or forged event changes nothing.
func NewHandler(client kube.Clients, settings func() *config.Config, namespaces lookup.Namespaces) events.Handler {
	apis := applications.All(client)
	return func(ctx context.Context, event cloudevents.Event) error {
		return lookup.RetryOnConflict(func() error {
			return giveVerdict(ctx, apis, settings(), namespaces, event)
		})
	}
}

func giveVerdict(
	ctx context.Context, apis map[string]*applications.API, settings *config.Config, namespaces lookup.Namespaces,
	event cloudevents.Event,
) error {
	app, err := lookup.Application(ctx, apis, settings, namespaces, event)
	if app == nil || err != nil {
		return err
	}
	verdict, due := lifecycle.Judge(app.GetRecord(), app.Dialect.Policy(app.Application))
	if !due {
		return nil
	}
	if err := app.API.GiveVerdict(ctx, app.Application, verdict); err != nil {
		return fmt.Errorf("write verdict on attempt %d of %s/%s: %w", verdict.Attempt, app.GetNamespace(), app.GetName(), err)
	}
	return nil
}
