// Package namespace asks the namespace handler for what drivers need in each namespace that has the label firesteel.dev/workloads=enabled.
//
//	Namespaces with the label ──┐
//	                            ├──> is there the RoleBinding? ── no ──> namespace.requested ──> handler
//	RoleBindings of that name ──┘
//
// It writes nothing. The controller has it only if config-handlers asks for it.
package namespace

import (
	"context"
	"fmt"
	"sync"

	"go.opentelemetry.io/otel/trace"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// Reconciler asks the handler. A namespace is in itself: its key has its name twice, as the object of its event.
type Reconciler struct {
	reconciler.LeaderAwareFuncs

	settings func() *config.Config
	// namespaces and bindings are the caches of what the package comment shows.
	namespaces, bindings cache.Store
	// synced reports whether both are filled.
	synced   func() bool
	relay    delivery.Publisher
	recorder record.EventRecorder

	mutex sync.Mutex
	// asked holds the namespaces for which the handler was asked, by name.
	asked map[string]*request
}

// request is the request for a namespace.
type request struct {
	uid types.UID
	// overdue reports whether an Event says that the handler does not answer.
	overdue bool
}

func keyOf(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: name, Name: name}
}

// Reconcile asks for a namespace, or withdraws the request.
func (r *Reconciler) Reconcile(ctx context.Context, key string) error {
	name, _, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return controller.NewPermanentError(fmt.Errorf("split the key %q of a namespace: %w", key, err))
	}
	if !r.synced() || !r.IsLeaderFor(keyOf(name)) {
		return controller.NewSkipKey(key)
	}
	namespace := r.waiting(name)
	if namespace == nil {
		r.withdraw(name)
		return nil
	}
	return r.ask(ctx, namespace)
}

// waiting returns a namespace that waits for the handler; nil if it does not.
func (r *Reconciler) waiting(name string) *corev1.Namespace {
	object, known, err := r.namespaces.GetByKey(name)
	namespace, ok := object.(*corev1.Namespace)
	if err != nil || !known || !ok {
		return nil
	}
	settings := r.settings()
	_, bound, err := r.bindings.GetByKey(name + "/" + namespaces.Binding)
	if err != nil || bound || namespace.DeletionTimestamp != nil || !namespaces.Asks(namespace) ||
		!settings.Handlers.Requested(namespaces.Handler) || !settings.Scope.ServesNamespace(name, namespace.Labels) {
		return nil
	}
	return namespace
}

// ask asks the handler. If it does not answer, an Event on the namespace says so, once.
func (r *Reconciler) ask(ctx context.Context, namespace *corev1.Namespace) error {
	object := events.NamespaceObject(namespace.Name, namespace.UID)
	event, err := events.NewNamespaceRequestedEvent(object, namespace.CreationTimestamp.Time)
	if err != nil {
		return fmt.Errorf("create the event for namespace %s: %w", namespace.Name, err)
	}
	r.mutex.Lock()
	asked := r.asked[namespace.Name]
	if asked == nil || asked.uid != namespace.UID {
		if asked != nil {
			r.relay.Forget(asked.uid)
		}
		asked = &request{uid: namespace.UID}
		r.asked[namespace.Name] = asked
		logging.FromContext(ctx).Infow("asks the handler for what drivers need", "namespace", namespace.Name)
	}
	overdue := r.relay.Progress(namespace.UID).OverdueHandler != "" && !asked.overdue
	asked.overdue = asked.overdue || overdue
	r.mutex.Unlock()
	if overdue {
		why := diagnosis.SilentHandlerOfNamespace(namespaces.Handler, r.relay.Progress(namespace.UID).LastError)
		r.recorder.Event(namespace, corev1.EventTypeWarning, why.Reason, why.Message())
	}
	r.relay.Publish(events.Snapshot{
		Object: object, Request: &events.PendingRequest{Handler: namespaces.Handler, Event: event}, Span: trace.SpanContextFromContext(ctx),
	})
	return nil
}

// withdraw withdraws the request for a namespace. Its event still goes to the sink.
func (r *Reconciler) withdraw(name string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	asked := r.asked[name]
	if asked == nil {
		return
	}
	r.relay.Publish(events.Snapshot{Object: events.NamespaceObject(name, asked.uid)})
	if r.relay.Progress(asked.uid).Pending == 0 {
		r.relay.Forget(asked.uid)
		delete(r.asked, name)
	}
}

// forget forgets the requests for the namespaces of a bucket, which another replica leads now.
func (r *Reconciler) forget(bucket reconciler.Bucket) {
	r.relay.ForgetMatching(func(object events.Object) bool { return bucket.Has(object.Key()) })
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for name := range r.asked {
		if bucket.Has(keyOf(name)) {
			delete(r.asked, name)
		}
	}
}

// owned reports whether this replica leads a namespace that still exists.
func (r *Reconciler) owned(key types.NamespacedName, uid types.UID) bool {
	object, known, err := r.namespaces.GetByKey(key.Name)
	namespace, ok := object.(*corev1.Namespace)
	return err == nil && known && ok && namespace.UID == uid && base.Leader(r).IsLeaderFor(key)
}
