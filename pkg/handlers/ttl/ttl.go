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

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Name is the handler's name in config-handlers.
const Name = string(lifecycle.AwaitsDeletion)

// NewHandler makes the handler. Whether the time is over follows from the application as it is, not from the event.
func NewHandler(client versioned.Interface, clock clock.PassiveClock) events.Handler {
	return func(ctx context.Context, event cloudevents.Event) error {
		object, err := events.Identify(event)
		if err != nil {
			return err
		}
		if object.Group != sparkv1.SchemeGroupVersion.Group || object.Resource != "sparkapplications" {
			return nil // not mine
		}
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error { return expire(ctx, client, clock, object) })
	}
}

func expire(ctx context.Context, client versioned.Interface, clock clock.PassiveClock, object events.Object) error {
	applications := client.SparkV1().SparkApplications(object.Namespace)
	app, err := applications.Get(ctx, object.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("read application %s: %w", object.Key(), err)
	case app.UID != object.UID, app.Undecodable != "", app.DeletionTimestamp != nil:
		return nil
	}
	if due, has := lifecycle.ExpiresAt(app.Status.Firesteel, apache.Policy(app)); !has || clock.Now().Before(due) {
		return nil
	}
	err = applications.Delete(ctx, app.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &app.UID, ResourceVersion: &app.ResourceVersion},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete application %s: %w", object.Key(), err)
	}
	return nil
}
