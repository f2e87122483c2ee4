// Package sparkoperator has pkg/reconciler/application reconcile the SparkApplications of sparkoperator.k8s.io.
package sparkoperator

import (
	"context"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/injection/client"
	appinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/sparkoperator/v1beta2/sparkapplication"
	appreconciler "github.com/firesteel-dev/firesteel/pkg/client/injection/reconciler/sparkoperator/v1beta2/sparkapplication"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application"
)

// scope is where its metrics and traces come from.
const scope = "github.com/firesteel-dev/firesteel/pkg/reconciler/sparkoperator"

// NewController makes the constructor of the controller. Pod templates are fetched by fetch.
func NewController(
	newRelay application.NewRelay, fetch podtemplate.Fetch,
) func(context.Context, configmap.Watcher) *controller.Impl {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		return application.NewController(ctx, cmw, application.Kind{
			API:      applications.Kubeflow(sparkclient.Get(ctx)),
			Scope:    scope,
			Informer: appinformer.Get(ctx).Informer(),
			Generate: func(ctx context.Context, r *application.Reconciler, options controller.OptionsFn) *controller.Impl {
				return appreconciler.NewImpl(ctx, kind{r}, options)
			},
			NewRelay: newRelay,
			Fetch:    fetch,
		})
	}
}

// kind answers the generated reconciler.
type kind struct{ applications *application.Reconciler }

var (
	_ appreconciler.Interface = kind{}
	_ appreconciler.Finalizer = kind{}
)

// ReconcileKind takes a live application further.
func (k kind) ReconcileKind(ctx context.Context, app *v1beta2.SparkApplication) reconciler.Event {
	return k.applications.Reconcile(ctx, app)
}

// FinalizeKind stops the driver of a deleted application, then lets go of it.
func (k kind) FinalizeKind(ctx context.Context, app *v1beta2.SparkApplication) reconciler.Event {
	current, err := k.applications.Finalize(ctx, app)
	*app = *current.(*v1beta2.SparkApplication)
	return err
}
