// Package sparkapplication connects pkg/reconciler/application to the generated reconciler of SparkApplications of spark.apache.org.
package sparkapplication

import (
	"context"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/injection/client"
	appinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/spark/v1/sparkapplication"
	appreconciler "github.com/firesteel-dev/firesteel/pkg/client/injection/reconciler/spark/v1/sparkapplication"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// scope names the metrics and traces.
const scope = "github.com/firesteel-dev/firesteel/pkg/reconciler/sparkapplication"

// NewController makes the constructor of the controller. fetch reads pod templates. keepFinalizer is nil if there are no schedules.
func NewController(
	process *base.Process, fetchTemplate fetch.Func, keepFinalizer application.KeepFinalizer,
) func(context.Context, configmap.Watcher) *controller.Impl {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		return application.NewController(ctx, cmw, process, application.Kind{
			API:      applications.Apache(sparkclient.Get(ctx)),
			Scope:    scope,
			Informer: appinformer.Get(ctx).Informer(),
			Generate: func(ctx context.Context, r *application.Reconciler, options controller.OptionsFn) *controller.Impl {
				return appreconciler.NewImpl(ctx, &Reconciler{r}, options)
			},
			Fetch:         fetchTemplate,
			KeepFinalizer: keepFinalizer,
		})
	}
}

// Reconciler implements the interface of the generated reconciler, which names the work queue and the lease of the leader election
// after this type.
type Reconciler struct{ applications *application.Reconciler }

var (
	_ appreconciler.Interface = (*Reconciler)(nil)
	_ appreconciler.Finalizer = (*Reconciler)(nil)
)

// ReconcileKind reconciles an application that is not deleted.
func (r *Reconciler) ReconcileKind(ctx context.Context, app *sparkv1.SparkApplication) reconciler.Event {
	return r.applications.Reconcile(ctx, app)
}

// FinalizeKind stops the driver of a deleted application. It returns nil when the finalizer can be removed.
func (r *Reconciler) FinalizeKind(ctx context.Context, app *sparkv1.SparkApplication) reconciler.Event {
	current, err := r.applications.Finalize(ctx, app)
	*app = *current.(*sparkv1.SparkApplication)
	return err
}
