// Package ttl is the handler that deletes an application whose time to live is over.
package ttl

import (
	"context"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/handlers/subject"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Name is the handler's name in config-handlers.
const Name = string(lifecycle.AwaitsDeletion)

// NewHandler makes the handler. Whether the time is over follows from the application as it is, not from the event.
func NewHandler(client versioned.Interface, settings func() *config.Config, clock clock.PassiveClock) events.Handler {
	return func(ctx context.Context, event cloudevents.Event) error {
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error { return expire(ctx, client, settings(), clock, event) })
	}
}

func expire(
	ctx context.Context, client versioned.Interface, settings *config.Config, clock clock.PassiveClock, event cloudevents.Event,
) error {
	app, err := subject.Application(ctx, client, settings.Scope, event)
	if app == nil || err != nil {
		return err
	}
	if due, has := lifecycle.ExpiresAt(app.Status.Firesteel, apache.Policy(app, *settings.Defaults)); !has || clock.Now().Before(due) {
		return nil
	}
	err = client.SparkV1().SparkApplications(app.Namespace).Delete(ctx, app.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &app.UID, ResourceVersion: &app.ResourceVersion},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete application %s/%s: %w", app.Namespace, app.Name, err)
	}
	return nil
}
