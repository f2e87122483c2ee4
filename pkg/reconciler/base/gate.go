package base

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/fairshare"
)

// Generated is a reconciler that injection-gen generated.
type Generated interface {
	controller.Reconciler
	reconciler.LeaderAware
	Leader
}

// Object is a pointer to an object, or an interface that is nil if there is none.
type Object interface {
	comparable
	metav1.Object
}

// Gate stands before the generated reconciler, which adds a finalizer before anything else. The gate admits an object only if
// this installation serves it and this replica leads it.
type Gate[O Object] struct {
	Generated
	// Kind names the objects in traces and messages, such as application.
	Kind string
	// Lookup returns an object as the cache has it, and whether this installation serves it. If the cache has none the object is
	// the zero value.
	Lookup func(key types.NamespacedName) (object O, served bool)
	// ForgetUnserved forgets an object that is not served.
	ForgetUnserved func(object O)
	// ForgetWrite forgets an object as it was last written.
	ForgetWrite func(object O)
	Tracer      trace.Tracer
	Retries     *Retries
	// Workers shares the workers of the queue among namespaces.
	Workers *fairshare.Workers

	// New has the objects that wait for their first reconcile; nil if no object yields to these. An object that is not served, or that
	// another replica leads, does not wait.
	New *Burst
	// Begin returns the context of a reconcile, and for how long its object yields to others. The object is the zero value if the
	// cache has none. Begin is nil if there is nothing to add, and no object yields.
	Begin func(ctx context.Context, key types.NamespacedName, object O) (context.Context, time.Duration)
	// Finalizer is the name of the finalizer that the generated reconciler adds.
	Finalizer string
	// ReconcileWithoutFinalizer reconciles, in place of the generated reconciler, an object that must not get a finalizer. It is called
	// for objects that have no finalizer and are not deleted. It returns false if the generated reconciler has to reconcile the object.
	// It is nil if that always has to.
	ReconcileWithoutFinalizer func(ctx context.Context, object O) (bool, error)
}

// Reconcile reconciles the object with a key if the gate admits it.
func (g *Gate[O]) Reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return controller.NewPermanentError(fmt.Errorf("split the key %q of a %s: %w", key, g.Kind, err))
	}
	namespaced := types.NamespacedName{Namespace: namespace, Name: name}
	done, ok := g.Workers.TryStart(namespaced)
	if !ok {
		return controller.NewSkipKey(key) // it is enqueued when its namespace may have another worker
	}
	defer done()
	object, admitted := g.admit(namespaced)
	var none O
	if object != none && g.New != nil {
		g.New.Set(object.GetUID(), false)
	}
	if !admitted || !g.IsLeaderFor(namespaced) {
		return controller.NewSkipKey(key)
	}
	ctx = logging.WithLogger(ctx, logging.FromContext(ctx).With("namespace", namespace, "name", name))
	if g.Begin != nil {
		var wait time.Duration
		if ctx, wait = g.Begin(ctx, namespaced, object); wait > 0 {
			logging.FromContext(ctx).Debugw("yields to other objects", "requeueAfter", wait)
			return controller.NewRequeueAfter(wait)
		}
	}
	ctx, span := g.Tracer.Start(ctx, "reconcile")
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(attribute.String("k8s.namespace.name", namespace), attribute.String("firesteel."+g.Kind, name))
	}
	err = g.pass(ctx, key, object)
	if apierrors.IsConflict(err) && object != none {
		g.ForgetWrite(object) // the API server has another version: a newer one, or an older one from a backup
	}
	if Failed(err) {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	g.admit(namespaced) // if the scope changed meanwhile, what this reconcile published is forgotten
	return g.Retries.Requeue(ctx, namespaced, err)
}

// pass reconciles an object that is admitted.
func (g *Gate[O]) pass(ctx context.Context, key string, object O) error {
	var none O
	if object != none && g.ReconcileWithoutFinalizer != nil && object.GetDeletionTimestamp() == nil && !slices.Contains(object.GetFinalizers(), g.Finalizer) {
		if reconciled, err := g.ReconcileWithoutFinalizer(ctx, object); reconciled {
			return err
		}
	}
	return g.Generated.Reconcile(ctx, key)
}

// admit returns an object as the cache has it, and whether this installation serves it. If it does not, the object is forgotten.
// A deleted object, of which the cache has none, is admitted: the generated reconciler does nothing for it.
func (g *Gate[O]) admit(key types.NamespacedName) (O, bool) {
	object, served := g.Lookup(key)
	var none O
	if object == none || served {
		return object, true
	}
	g.ForgetUnserved(object)
	return object, false
}
