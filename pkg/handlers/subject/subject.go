// Package subject reads what an event is about, since handlers decide nothing on an event's word.
package subject

import (
	"context"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
)

// Application reads the application that an event is about, as it is now. It is nil where there is nothing to act
// on: the event is about something else, or about an application that is gone, going, cannot be decoded, or is
// another installation's.
func Application(
	ctx context.Context, client versioned.Interface, scope *config.Scope, event cloudevents.Event,
) (*sparkv1.SparkApplication, error) {
	object, err := events.Identify(event)
	if err != nil {
		return nil, err
	}
	if object.Group != sparkv1.SchemeGroupVersion.Group || object.Resource != "sparkapplications" {
		return nil, nil
	}
	app, err := client.SparkV1().SparkApplications(object.Namespace).Get(ctx, object.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read application %s: %w", object.Key(), err)
	case app.UID != object.UID, app.Undecodable != "", app.DeletionTimestamp != nil, !scope.Serves(app):
		return nil, nil
	}
	return app, nil
}
