package application

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// gate lets pass what this installation serves, and this replica leads. It stands before the generated reconciler,
// whose first deed would be a finalizer.
type gate struct {
	base.Generated
	stateCounter  *stateCounter
	podEventTimes *podEventTimes
	relay         delivery.Publisher
	tracer        trace.Tracer
	retries       *base.Retries
	// relabelledDrivers watches for the applications that are served.
	relabelledDrivers *relabelledDrivers
	// forgetWrite forgets an application as it was last written.
	forgetWrite func(app dialect.Application)
	// backpressure says that an application lets others go first.
	backpressure func(dialect.Application) bool
	// reconcileWithoutFinalizer reconciles an application that is to have no finalizer, and says no where it is to have one.
	reconcileWithoutFinalizer func(context.Context, dialect.Application) (bool, error)
}

// Reconcile takes an application further, where it is this replica's to do so.
func (g *gate) Reconcile(ctx context.Context, key string) error {
	namespace, object, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return controller.NewPermanentError(fmt.Errorf("key of an application: %w", err))
	}
	name := types.NamespacedName{Namespace: namespace, Name: object}
	ctx = g.podEventTimes.take(ctx, name)
	app, serves := g.serves(name)
	if !serves || !g.IsLeaderFor(name) {
		return controller.NewSkipKey(key)
	}
	if app != nil && g.backpressure(app) {
		return controller.NewRequeueAfter(backpressureRetry)
	}
	ctx, span := g.tracer.Start(ctx, "reconcile")
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(attribute.String("k8s.namespace.name", namespace), attribute.String("firesteel.application", object))
	}
	rests := false
	if app != nil {
		rests, err = g.reconcileWithoutFinalizer(ctx, app)
	}
	if !rests {
		err = g.Generated.Reconcile(ctx, key)
	}
	if apierrors.IsConflict(err) && app != nil {
		g.forgetWrite(app) // the API server has another: a newer one, or an older one from a backup
	}
	if base.Failed(err) {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	g.serves(name) // the scope may have changed meanwhile, and what was told then is to be forgotten
	return g.retries.Requeue(ctx, name, err)
}

// serves says whether this installation serves an application, and has the relay forget it where it does not. One that
// exists no more, and is nil, may pass: nothing is done for it.
func (g *gate) serves(name types.NamespacedName) (dialect.Application, bool) {
	app, served := g.stateCounter.observe(name)
	if app == nil || served {
		return app, true
	}
	g.relay.Forget(app.GetUID())
	g.relabelledDrivers.forget(name)
	return app, false
}
