// Package lookup reads the application that an event is about, since handlers do not trust events.
package lookup

import (
	"context"
	"fmt"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/metadata"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
)

// Subject is the application that an event is about.
type Subject struct {
	dialect.Application
	// API is the API of the application.
	API *applications.API
	// Dialect is the API's dialect with the present settings.
	Dialect dialect.Dialect
}

// Namespaces returns the labels of a namespace. ok reports whether the namespace exists.
type Namespaces func(ctx context.Context, name string) (namespaceLabels labels.Set, ok bool, err error)

// Cached returns the labels of namespaces from the caches of this process.
func Cached(namespaces config.NamespaceLabels) Namespaces {
	return func(_ context.Context, name string) (labels.Set, bool, error) {
		namespaceLabels, ok := namespaces(name)
		return namespaceLabels, ok, nil
	}
}

// Live reads the labels of namespaces from the API server, with one request each time.
func Live(client metadata.Interface) Namespaces {
	return func(ctx context.Context, name string) (labels.Set, bool, error) {
		namespace, err := client.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil, false, nil
		case err != nil:
			return nil, false, fmt.Errorf("read namespace %s: %w", name, err)
		}
		return namespace.Labels, true, nil
	}
}

// Application reads the application that an event is about from the API server. It returns nil if there is nothing to do: as Existing does, and if
// the application is being deleted.
func Application(
	ctx context.Context, apis map[string]*applications.API, settings *config.Config, namespaces Namespaces, event cloudevents.Event,
) (*Subject, error) {
	subject, err := Existing(ctx, apis, settings, namespaces, event)
	if err != nil || subject == nil || subject.GetDeletionTimestamp() != nil {
		return nil, err
	}
	return subject, nil
}

// Existing reads the application that an event is about from the API server, also if it is being deleted. It returns nil if there is nothing to do:
//   - The event is not about an application.
//   - The application does not exist.
//   - It cannot be decoded, or its record has a newer format.
//   - It belongs to another installation.
//
// apis holds the APIs by their groups.
func Existing(
	ctx context.Context, apis map[string]*applications.API, settings *config.Config, namespaces Namespaces, event cloudevents.Event,
) (*Subject, error) {
	object, err := events.Identify(event)
	if err != nil {
		return nil, err
	}
	api, ok := apis[object.Group]
	if !ok || object.Resource != api.Resource {
		return nil, nil
	}
	app, err := api.Get(ctx, object.Key())
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read application %s: %w", object.Key(), err)
	case app.GetUID() != object.UID, app.GetUndecodable() != "", app.GetRecord().HasNewerFormat():
		return nil, nil
	}
	if ok, err := Serves(ctx, settings.Scope, namespaces, app); err != nil || !ok {
		return nil, err
	}
	return &Subject{Application: app, API: api, Dialect: api.Dialect(settings.In(object.Namespace))}, nil
}

// Serves reports whether this installation serves an object.
func Serves(ctx context.Context, scope *config.Scope, namespaces Namespaces, object metav1.Object) (bool, error) {
	var failure error
	served := scope.Serves(object, func(name string) (labels.Set, bool) {
		namespaceLabels, ok, err := namespaces(ctx, name)
		failure = err
		return namespaceLabels, ok
	})
	return served, failure
}
