// Package applications reads and writes the applications of every API that Firesteel serves.
package applications

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

// API is an API that Firesteel serves, with the client of its applications.
type API struct {
	*dialect.API
	// Dialect is the API's with the settings of a moment.
	Dialect func(*config.Config) dialect.Dialect

	client func(namespace string) client
}

// Apache is spark.apache.org.
func Apache(clients versioned.Interface) *API {
	return &API{
		API:     apache.API,
		Dialect: func(settings *config.Config) dialect.Dialect { return apache.Dialect{Defaults: *settings.Defaults} },
		client: func(namespace string) client {
			return typed[*sparkv1.SparkApplication]{clients.SparkV1().SparkApplications(namespace)}
		},
	}
}

// All are the APIs by their groups.
func All(clients versioned.Interface) map[string]*API {
	apis := map[string]*API{}
	for _, api := range []*API{Apache(clients)} {
		apis[api.Group] = api
	}
	return apis
}

// Get reads an application.
func (a *API) Get(ctx context.Context, name types.NamespacedName) (dialect.Application, error) {
	return a.client(name.Namespace).get(ctx, name.Name)
}

// UpdateStatus writes the status of an application as it is read with its resourceVersion. It returns what the API
// server made of it.
func (a *API) UpdateStatus(ctx context.Context, app dialect.Application) (dialect.Application, error) {
	return a.client(app.GetNamespace()).updateStatus(ctx, app)
}

// PatchStatus patches the status of an application, by a merge patch.
func (a *API) PatchStatus(ctx context.Context, app dialect.Application, patch []byte) error {
	return a.client(app.GetNamespace()).patchStatus(ctx, app.GetName(), patch)
}

// Delete deletes an application, where it is as it was read.
func (a *API) Delete(ctx context.Context, app dialect.Application) error {
	uid, version := app.GetUID(), app.GetResourceVersion()
	return a.client(app.GetNamespace()).delete(ctx, app.GetName(), metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
	})
}
