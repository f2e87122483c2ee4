// Package kubeflowapplication connects pkg/reconciler/application to the generated reconciler of SparkApplications of sparkoperator.k8s.io.
package kubeflowapplication

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/injection/client"
	appinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/sparkoperator/v1beta2/sparkapplication"
	appreconciler "github.com/firesteel-dev/firesteel/pkg/client/injection/reconciler/sparkoperator/v1beta2/sparkapplication"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

const (
	// scope names the metrics and traces. Dashboards select by it, so it keeps the name that this package had.
	scope = "github.com/firesteel-dev/firesteel/pkg/reconciler/sparkoperator"
	// leaseName names the lease of the leader election. Two versions of Firesteel that run side by side during an upgrade must
	// share it, so it keeps the name that this package had.
	leaseName = "github.com.firesteel-dev.firesteel.pkg.reconciler.sparkoperator.Reconciler"
)

// NewController makes the constructor of the controller. fetch reads pod templates. keepFinalizer is nil if there are no schedules.
func NewController(
	process *base.Process, fetchTemplate fetch.Func, keepFinalizer application.KeepFinalizer,
) func(context.Context, configmap.Watcher) *controller.Impl {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		informer := appinformer.Get(ctx).Informer()
		metrics := newMetrics(ctx, informer.GetStore(), process.NamespaceLabels, clock.RealClock{})
		impl := application.NewController(ctx, cmw, process, application.Kind{
			API:      applications.Kubeflow(sparkclient.Get(ctx)),
			Scope:    scope,
			Informer: informer,
			Generate: func(ctx context.Context, r *application.Reconciler, options controller.OptionsFn) *controller.Impl {
				impl := appreconciler.NewImpl(ctx, &Reconciler{r}, options)
				impl.Name = leaseName
				return impl
			},
			OnStatusWrite: metrics.wrote,
			OnSettings:    metrics.follow,
			Fetch:         fetchTemplate,
			KeepFinalizer: keepFinalizer,
		})
		metrics.serve(prometheus.DefaultRegisterer, impl)
		return impl
	}
}

// Reconciler implements the interface of the generated reconciler, which names the work queue after this type.
type Reconciler struct{ applications *application.Reconciler }

var (
	_ appreconciler.Interface = (*Reconciler)(nil)
	_ appreconciler.Finalizer = (*Reconciler)(nil)
)

// ReconcileKind reconciles an application that is not deleted.
func (r *Reconciler) ReconcileKind(ctx context.Context, app *v1beta2.SparkApplication) reconciler.Event {
	return r.applications.Reconcile(ctx, app)
}

// FinalizeKind stops the driver of a deleted application. It returns nil when the finalizer can be removed.
func (r *Reconciler) FinalizeKind(ctx context.Context, app *v1beta2.SparkApplication) reconciler.Event {
	current, err := r.applications.Finalize(ctx, app)
	*app = *current.(*v1beta2.SparkApplication)
	return err
}
