package sparkapplication

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	podinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/injection/client"
	appinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/spark/v1/sparkapplication"
	appreconciler "github.com/firesteel-dev/firesteel/pkg/client/injection/reconciler/spark/v1/sparkapplication"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// DriverSelector selects the driver Pods that the controller watches.
const DriverSelector = "spark-role=driver," + apache.LabelOperator + "=" + apache.OperatorName

// finalizerName is the Apache operator's, so that whoever deletes an object that it left need not wait for it.
const finalizerName = "sparkapplications.spark.apache.org/finalizer"

// workers is the number of applications that are reconciled at once.
const workers = 32

// NewRelay makes the relay that tells of applications. progress is to be called when there is news of one.
type NewRelay func(ctx context.Context, store *config.Store, progress func(types.NamespacedName)) Teller

// NewController makes the constructor of the controller.
func NewController(newRelay NewRelay) func(context.Context, configmap.Watcher) *controller.Impl {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		r := &Reconciler{
			kube:      kubeclient.Get(ctx),
			dynamic:   dynamicclient.Get(ctx),
			spark:     sparkclient.Get(ctx),
			drivers:   podinformer.Get(ctx, DriverSelector).Lister(),
			clock:     clock.RealClock{},
			sightings: newSightings(clock.RealClock{}),
			written:   newWritten(),
		}
		store := config.NewStore(logging.FromContext(ctx).Named("config"), func(name string, _ any) {
			if name == config.HandlersName {
				r.relay.HandlersMoved()
			}
		})
		store.WatchConfigs(cmw)
		impl := appreconciler.NewImpl(ctx, r, func(*controller.Impl) controller.Options {
			return controller.Options{
				FinalizerName:     finalizerName,
				ConfigStore:       store,
				SkipStatusUpdates: true,
				PromoteFilterFunc: unfinished,
				DemoteFunc: func(bucket reconciler.Bucket) {
					r.relay.ForgetWhere(func(object events.Object) bool { return bucket.Has(object.Key()) })
				},
			}
		})
		impl.Concurrency = workers
		r.enqueueAfter = impl.EnqueueAfter
		r.relay = newRelay(ctx, store, impl.EnqueueKey)
		watchApplications(ctx, r, impl)
		watchDrivers(ctx, r, impl)
		return impl
	}
}

func watchApplications(ctx context.Context, r *Reconciler, impl *controller.Impl) {
	informer := appinformer.Get(ctx).Informer()
	must(ctx, informer.SetTransform(stripApplication))
	handle(ctx, informer, cache.ResourceEventHandlerFuncs{
		AddFunc:    impl.Enqueue,
		UpdateFunc: controller.PassNew(impl.Enqueue),
		DeleteFunc: func(object any) {
			if app, ok := lastKnown(object).(*sparkv1.SparkApplication); ok {
				r.relay.Forget(app.UID)
				r.written.forget(app)
			}
		},
	})
}

func watchDrivers(ctx context.Context, r *Reconciler, impl *controller.Impl) {
	informer := podinformer.Get(ctx, DriverSelector).Informer()
	must(ctx, informer.SetTransform(stripPod))
	handle(ctx, informer, cache.ResourceEventHandlerFuncs{
		AddFunc:    impl.EnqueueControllerOf,
		UpdateFunc: controller.PassNew(impl.EnqueueControllerOf),
		DeleteFunc: func(object any) {
			if pod, ok := lastKnown(object).(*corev1.Pod); ok {
				r.sightings.sawDeletion(pod)
				impl.EnqueueControllerOf(pod)
			}
		},
	})
}

func handle(ctx context.Context, informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) {
	_, err := informer.AddEventHandler(handler)
	must(ctx, err)
}

func must(ctx context.Context, err error) {
	if err != nil {
		logging.FromContext(ctx).Fatalw("Informer cannot be set up", "error", err)
	}
}

func lastKnown(object any) any {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return object
}

// unfinished leaves out of a new leader's first look what has nothing left to happen to it.
func unfinished(object any) bool {
	app, ok := object.(*sparkv1.SparkApplication)
	if !ok || app.DeletionTimestamp != nil || app.Status.Firesteel == nil {
		return true
	}
	record := app.Status.Firesteel
	done := lifecycle.Current(record).State == string(lifecycle.ResourceReleased) && record.Acknowledged == record.Sequence
	return !done || apache.Policy(app).TTL >= 0
}

// stripApplication drops what the reconciler does not read.
func stripApplication(object any) (any, error) {
	if app, ok := object.(*sparkv1.SparkApplication); ok {
		app.ManagedFields = nil
	}
	return object, nil
}

// stripPod keeps of a driver Pod what the lifecycle reads: its identity and its status.
func stripPod(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields, pod.Annotations = nil, nil
		pod.Spec = corev1.PodSpec{}
	}
	return object, nil
}
