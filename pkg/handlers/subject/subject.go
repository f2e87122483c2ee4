// Package subject reads what an event is about, since handlers decide nothing on an event's word.
package subject

import (
	"context"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
)

// Subject is the application that an event is about.
type Subject struct {
	dialect.Application
	// API is the application's.
	API *applications.API
	// Dialect is the API's with the present settings.
	Dialect dialect.Dialect
}

// Application reads the application that an event is about, as it is now. It is nil where there is nothing to act
// on: the event is about something else, or about an application that is gone, going, cannot be decoded, or is
// another installation's. apis are those that there are, by their groups.
func Application(
	ctx context.Context, apis map[string]*applications.API, settings *config.Config, event cloudevents.Event,
) (*Subject, error) {
	object, err := events.Identify(event)
	if err != nil {
		return nil, err
	}
	api, served := apis[object.Group]
	if !served || object.Resource != api.Resource {
		return nil, nil
	}
	app, err := api.Get(ctx, object.Key())
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read application %s: %w", object.Key(), err)
	case app.GetUID() != object.UID, app.GetUndecodable() != "", app.GetDeletionTimestamp() != nil, !settings.Scope.Serves(app):
		return nil, nil
	}
	return &Subject{Application: app, API: api, Dialect: api.Dialect(settings)}, nil
}
