package namespace

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	informercorev1 "k8s.io/client-go/informers/core/v1"
	informerrbacv1 "k8s.io/client-go/informers/rbac/v1"
	"k8s.io/client-go/tools/cache"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// leaseName is the name of the leases of the leader election. Versions that run side by side must share them.
const leaseName = "github.com.firesteel-dev.firesteel.pkg.reconciler.namespace.Reconciler"

// NewController returns the constructor of the controller.
func NewController(process *base.Process) injection.ControllerConstructor {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		ctx = process.WithRecorder(ctx)
		store, client := process.Settings(ctx, cmw), kubeclient.Get(ctx)
		asking := informercorev1.NewFilteredNamespaceInformer(client, 0, cache.Indexers{}, func(options *metav1.ListOptions) {
			options.LabelSelector = labels.Set{namespaces.LabelWorkloads: namespaces.Enabled}.String()
		})
		bindings := informerrbacv1.NewFilteredRoleBindingInformer(client, metav1.NamespaceAll, 0, cache.Indexers{}, func(options *metav1.ListOptions) {
			options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, namespaces.Binding).String()
		})
		r := new(Reconciler) // the controller, which makes the work queue, needs its address
		impl := controller.NewContext(ctx, r, controller.ControllerOptions{WorkQueueName: "namespaces", Logger: logging.FromContext(ctx)})
		impl.Name = leaseName
		enqueue := func(object any) {
			if object, ok := kube.LastKnown(object).(metav1.Object); ok {
				impl.EnqueueKey(keyOf(nameOf(object)))
			}
		}
		enqueueAll := func(within func(types.NamespacedName) bool) {
			for _, name := range asking.GetStore().ListKeys() {
				if within(keyOf(name)) {
					impl.EnqueueKey(keyOf(name))
				}
			}
		}
		*r = Reconciler{
			LeaderAwareFuncs: reconciler.LeaderAwareFuncs{
				PromoteFunc: func(bucket reconciler.Bucket, _ func(reconciler.Bucket, types.NamespacedName)) error {
					enqueueAll(bucket.Has)
					return nil
				},
				DemoteFunc: func(bucket reconciler.Bucket) { r.forget(bucket) },
			},
			settings: store.Load, namespaces: asking.GetStore(), bindings: bindings.GetStore(),
			synced:   func() bool { return asking.HasSynced() && bindings.HasSynced() },
			recorder: controller.GetEventRecorder(ctx), asked: map[string]*request{},
		}
		r.relay = process.Relay(ctx, r.owned, impl.EnqueueKey)
		for _, informer := range []cache.SharedIndexInformer{asking, bindings} {
			base.Must(ctx, informer.SetTransform(stripped))
			base.Must(ctx, informer.SetWatchErrorHandlerWithContext(reportRefusal))
			base.AddHandler(ctx, informer, cache.ResourceEventHandlerFuncs{
				AddFunc: enqueue, UpdateFunc: func(_, after any) { enqueue(after) }, DeleteFunc: enqueue,
			})
			go informer.RunWithContext(ctx)
		}
		go func() {
			if cache.WaitForCacheSync(ctx.Done(), r.synced) {
				enqueueAll(func(types.NamespacedName) bool { return true })
			}
		}()
		process.Listen(base.Listener{
			SettingsChanged: func(before, after *config.Config) {
				if before.Handlers != after.Handlers {
					r.relay.HandlerSettingsChanged()
				}
				if before.Handlers != after.Handlers || before.Scope != after.Scope {
					enqueueAll(func(types.NamespacedName) bool { return true })
				}
			},
			NamespaceChanged: func(string) {},
		})
		return impl
	}
}

// reportRefusal logs that the controller may not watch.
func reportRefusal(ctx context.Context, r *cache.Reflector, err error) {
	if apierrors.IsForbidden(err) {
		logging.FromContext(ctx).Warnw("the handler namespace is requested by config-handlers, and the controller may not watch: apply "+
			"config/workload-namespaces, or write off", "error", err)
		return
	}
	cache.DefaultWatchErrorHandler(ctx, r, err)
}

// nameOf returns the namespace that an object is, or is in.
func nameOf(object metav1.Object) string {
	if namespace := object.GetNamespace(); namespace != "" {
		return namespace
	}
	return object.GetName()
}

// stripped drops everything that the reconciler does not read.
func stripped(object any) (any, error) {
	switch object := object.(type) {
	case *corev1.Namespace:
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: object.Name, UID: object.UID, ResourceVersion: object.ResourceVersion, Labels: object.Labels,
			CreationTimestamp: object.CreationTimestamp, DeletionTimestamp: object.DeletionTimestamp,
		}}, nil
	case *rbacv1.RoleBinding:
		return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{
			Namespace: object.Namespace, Name: object.Name, UID: object.UID, ResourceVersion: object.ResourceVersion,
		}}, nil
	default:
		return object, nil
	}
}
