package sparkapplication

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
	"knative.dev/pkg/reconciler"
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
}

// Reconcile takes an application further, where it is this replica's to do so.
func (g *gate) Reconcile(ctx context.Context, key string) error {
	namespace, object, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return controller.NewPermanentError(fmt.Errorf("key of an application: %w", err))
	}
	name := types.NamespacedName{Namespace: namespace, Name: object}
	ctx = g.arrivals.take(ctx, name)
	if serves := g.serves(name); !serves || !g.IsLeaderFor(name) {
		return controller.NewSkipKey(key)
	}
	ctx, span := g.tracer.Start(ctx, "reconcile")
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(attribute.String("k8s.namespace.name", namespace), attribute.String("firesteel.application", object))
	}
	err = g.generated.Reconcile(ctx, key)
	if failed(err) {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	g.serves(name) // the scope may have changed meanwhile, and what was told then is to be forgotten
	return err
}

// serves says whether this installation serves an application, and has the relay forget it where it does not. One that
// exists no more may pass: nothing is done for it.
func (g *gate) serves(name types.NamespacedName) bool {
	app, served := g.census.look(name)
	if app == nil || served {
		return true
	}
	g.relay.Forget(app.UID)
	return false
}

// failed says that an error is one, and not a way to be asked again.
func failed(err error) bool {
	requeue, _ := controller.IsRequeueKey(err)
	return err != nil && !requeue && !controller.IsSkipKey(err) && !apierrors.IsConflict(err)
}
