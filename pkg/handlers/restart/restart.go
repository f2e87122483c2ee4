// Package restart is the handler that gives the verdict on an attempt that ended where the spec allows another.
//
// The verdict goes into the record of the application; the controller alone turns it into a transition.
package restart

import (
	"context"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// Name is the handler's name in config-handlers.
const Name = string(lifecycle.AwaitsVerdict)

// NewHandler makes the handler. The event only says which application to look at: the verdict follows from the
// application as it is, so that a duplicate, late or forged event changes nothing.
func NewHandler(client versioned.Interface) events.Handler {
	return func(ctx context.Context, event cloudevents.Event) error {
		object, err := events.Identify(event)
		if err != nil {
			return err
		}
		if object.Group != sparkv1.SchemeGroupVersion.Group || object.Resource != "sparkapplications" {
			return nil // not mine
		}
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error { return judge(ctx, client, object) })
	}
}

func judge(ctx context.Context, client versioned.Interface, object events.Object) error {
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
	verdict, due := lifecycle.Judge(app.Status.Firesteel, apache.Policy(app))
	if !due {
		return nil
	}
	app.Status.Firesteel.Verdict = &verdict
	if _, err := applications.UpdateStatus(ctx, app, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write verdict on attempt %d of %s: %w", verdict.Attempt, object.Key(), err)
	}
	return nil
}
