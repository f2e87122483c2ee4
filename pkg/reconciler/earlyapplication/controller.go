// Package earlyapplication connects pkg/reconciler/application to the generated reconciler of SparkApplications of spark-operator.k8s.io.
package earlyapplication

import (
	"context"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/injection/client"
	appinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/early/v1alpha1/sparkapplication"
	appreconciler "github.com/firesteel-dev/firesteel/pkg/client/injection/reconciler/early/v1alpha1/sparkapplication"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// scope names the metrics and traces.
const scope = "github.com/firesteel-dev/firesteel/pkg/reconciler/earlyapplication"

// NewController makes the constructor of the controller. fetch reads pod templates. The API has no schedules.
func NewController(process *base.Process, fetchTemplate fetch.Func) func(context.Context, configmap.Watcher) *controller.Impl {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		return application.NewController(ctx, cmw, process, application.Kind{
			API:      applications.Early(sparkclient.Get(ctx)),
			Scope:    scope,
			Informer: appinformer.Get(ctx).Informer(),
			Generate: func(ctx context.Context, r *application.Reconciler, options controller.OptionsFn) *controller.Impl {
				return appreconciler.NewImpl(ctx, &Reconciler{r}, options)
			},
			Fetch: fetchTemplate,
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
func (r *Reconciler) ReconcileKind(ctx context.Context, app *earlyv1alpha1.SparkApplication) reconciler.Event {
	return r.applications.Reconcile(ctx, app)
}

// FinalizeKind stops the driver of a deleted application. It returns nil when the finalizer can be removed.
func (r *Reconciler) FinalizeKind(ctx context.Context, app *earlyv1alpha1.SparkApplication) reconciler.Event {
	current, err := r.applications.Finalize(ctx, app)
	*app = *current.(*earlyv1alpha1.SparkApplication)
	return err
}
