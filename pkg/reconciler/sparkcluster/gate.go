package sparkcluster

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

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// gate lets pass what this installation serves, and this replica leads. It stands before the generated reconciler, whose
// first deed would be a finalizer.
type gate struct {
	base.Generated
	// get returns a cluster as the cache has it, nil where there is none.
	get    func(key string) *sparkv1.SparkCluster
	serves func(c *sparkv1.SparkCluster) bool
	forget func(uid types.UID)
	// forgetWrite forgets a cluster as it was last written.
	forgetWrite func(c *sparkv1.SparkCluster)

	tracer  trace.Tracer
	retries *base.Retries
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
	err = g.Generated.Reconcile(ctx, key)
	if c := g.get(key); apierrors.IsConflict(err) && c != nil {
		g.forgetWrite(c) // the API server has another: a newer one, or an older one from a backup
	}
	if base.Failed(err) {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	g.isServed(key) // the scope may have changed meanwhile, and what was told then is to be forgotten
	return g.retries.Requeue(ctx, name, err)
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
