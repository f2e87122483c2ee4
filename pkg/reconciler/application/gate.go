package application

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// generated is what injection-gen makes of a Reconciler.
type generated interface {
	controller.Reconciler
	reconciler.LeaderAware
	IsLeaderFor(key types.NamespacedName) bool
}

// gate lets pass what this installation serves, and this replica leads. It stands before the generated reconciler,
// whose first deed would be a finalizer.
type gate struct {
	generated
	census   *census
	arrivals *arrivals
	relay    Teller
	tracer   trace.Tracer
	retries  workqueue.TypedRateLimiter[types.NamespacedName]
	// yields says that an application lets others go first.
	yields func(dialect.Application) bool
	// atRest reconciles an application that is to have no finalizer, and says no where it is to have one.
	atRest func(context.Context, dialect.Application) (bool, error)
}

// Reconcile takes an application further, where it is this replica's to do so.
func (g *gate) Reconcile(ctx context.Context, key string) error {
	namespace, object, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return controller.NewPermanentError(fmt.Errorf("key of an application: %w", err))
	}
	name := types.NamespacedName{Namespace: namespace, Name: object}
	ctx = g.arrivals.take(ctx, name)
	app, serves := g.serves(name)
	if !serves || !g.IsLeaderFor(name) {
		return controller.NewSkipKey(key)
	}
	if app != nil && g.yields(app) {
		return controller.NewRequeueAfter(yieldFor)
	}
	ctx, span := g.tracer.Start(ctx, "reconcile")
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(attribute.String("k8s.namespace.name", namespace), attribute.String("firesteel.application", object))
	}
	rests := false
	if app != nil {
		rests, err = g.atRest(ctx, app)
	}
	if !rests {
		err = g.generated.Reconcile(ctx, key)
	}
	if failed(err) {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	g.serves(name) // the scope may have changed meanwhile, and what was told then is to be forgotten
	return g.again(ctx, name, err)
}

// again has an application looked at again whose reconcile failed.
func (g *gate) again(ctx context.Context, name types.NamespacedName, err error) error {
	if !failed(err) && !apierrors.IsConflict(err) || controller.IsPermanentError(err) {
		g.retries.Forget(name)
		return err
	}
	delay := g.retries.When(name)
	if failed(err) {
		logging.FromContext(ctx).Errorw("Reconcile failed", zap.Duration("again", delay), zap.Error(err))
	}
	return controller.NewRequeueAfter(delay)
}

// serves says whether this installation serves an application, and has the relay forget it where it does not. One that
// exists no more, and is nil, may pass: nothing is done for it.
func (g *gate) serves(name types.NamespacedName) (dialect.Application, bool) {
	app, served := g.census.look(name)
	if app == nil || served {
		return app, true
	}
	g.relay.Forget(app.GetUID())
	return app, false
}

// failed says that an error is one, and not a way to be asked again.
func failed(err error) bool {
	requeue, _ := controller.IsRequeueKey(err)
	return err != nil && !requeue && !controller.IsSkipKey(err) && !apierrors.IsConflict(err)
}
