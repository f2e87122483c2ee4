package sparkcluster

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

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// generated is what injection-gen makes of a Reconciler.
type generated interface {
	controller.Reconciler
	reconciler.LeaderAware
	IsLeaderFor(key types.NamespacedName) bool
}

// gate lets pass what this installation serves, and this replica leads. It stands before the generated reconciler, whose
// first deed would be a finalizer.
type gate struct {
	generated
	// get returns a cluster as the cache has it, nil where there is none.
	get     func(key string) *sparkv1.SparkCluster
	serves  func(c *sparkv1.SparkCluster) bool
	forget  func(uid types.UID)
	tracer  trace.Tracer
	retries workqueue.TypedRateLimiter[types.NamespacedName]
}

// Reconcile takes a cluster further, where it is this replica's to do so.
func (g *gate) Reconcile(ctx context.Context, key string) error {
	namespace, object, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return controller.NewPermanentError(fmt.Errorf("key of a cluster: %w", err))
	}
	name := types.NamespacedName{Namespace: namespace, Name: object}
	if !g.IsLeaderFor(name) || !g.isServed(key) {
		return controller.NewSkipKey(key)
	}
	ctx, span := g.tracer.Start(ctx, "reconcile")
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(attribute.String("k8s.namespace.name", namespace), attribute.String("firesteel.cluster", object))
	}
	err = g.generated.Reconcile(ctx, key)
	if failed(err) {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	g.isServed(key) // the scope may have changed meanwhile, and what was told then is to be forgotten
	return g.again(ctx, name, err)
}

// isServed says whether a cluster is served, and has it forgotten where it is not. One that is gone may pass: nothing is
// done for it.
func (g *gate) isServed(key string) bool {
	c := g.get(key)
	if c == nil || g.serves(c) {
		return true
	}
	g.forget(c.UID)
	return false
}

// again has a cluster looked at again whose reconcile failed.
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

// failed says that an error is one, and not a way to be asked again.
func failed(err error) bool {
	requeue, _ := controller.IsRequeueKey(err)
	return err != nil && !requeue && !controller.IsSkipKey(err) && !apierrors.IsConflict(err)
}
