package sparkapplication

import (
	"context"

	"go.opentelemetry.io/otel"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
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
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

// DriverSelector selects the driver Pods that the controller watches: its own, and those that the Apache operator left,
// whatever that was called.
const DriverSelector = "spark-role=driver," + apache.LabelOperator

// finalizerName is the Apache operator's, so that whoever deletes an object that it left need not wait for it.
const finalizerName = "sparkapplications.spark.apache.org/finalizer"

// workers is the number of applications that are reconciled at once.
const workers = 32

// NewRelay makes the relay that tells of applications. progress is to be called when there is news of one.
type NewRelay func(ctx context.Context, store *config.Store, progress func(types.NamespacedName)) Teller

// NewController makes the constructor of the controller. Pod templates are fetched by fetch.
func NewController(newRelay NewRelay, fetch podtemplate.Fetch) func(context.Context, configmap.Watcher) *controller.Impl {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		r := &Reconciler{
			kube:      kubeclient.Get(ctx),
			dynamic:   dynamicclient.Get(ctx),
			spark:     sparkclient.Get(ctx),
			drivers:   podinformer.Get(ctx, DriverSelector).Lister(),
			owned:     podinformer.Get(ctx, DriverSelector).Informer().GetIndexer(),
			clock:     clock.RealClock{},
			sightings: newSightings(clock.RealClock{}),
			arrivals:  newArrivals(clock.RealClock{}),
			written:   newWritten(),
			executors: newExecutors(),
			logs:      newDriverLogs(kubeclient.Get(ctx)),
		}
		if controller.GetEventRecorder(ctx) == nil {
			ctx = controller.WithEventRecorder(ctx, newRecorder(ctx))
		}
		store := r.newStore(ctx, cmw)
		impl := appreconciler.NewImpl(ctx, r, func(*controller.Impl) controller.Options {
			return controller.Options{
				FinalizerName:     finalizerName,
				ConfigStore:       store,
				SkipStatusUpdates: true,
				PromoteFilterFunc: func(object any) bool { return unfinished(object, *store.Load().Defaults) },
				DemoteFunc: func(bucket reconciler.Bucket) {
					r.relay.ForgetWhere(func(object events.Object) bool { return bucket.Has(object.Key()) })
				},
			}
		})
		impl.Concurrency = workers
		r.enqueueAfter, r.resync = impl.EnqueueAfter, func(concerned func(any) bool) {
			impl.FilteredGlobalResync(concerned, appinformer.Get(ctx).Informer())
		}
		r.relay = newRelay(ctx, store, impl.EnqueueKey)
		r.templates = podtemplate.NewKeeper(ctx, fetch, impl.EnqueueKey)
		census := newCensus(appinformer.Get(ctx).Lister(), func() *config.Scope { return store.Load().Scope })
		var err error
		r.instruments, err = NewInstruments(otel.GetMeterProvider(), census.count)
		must(ctx, err)
		impl.Reconciler = &gate{
			generated: impl.Reconciler.(generated), census: census, arrivals: r.arrivals, relay: r.relay,
			tracer: otel.Tracer(scopeName), retries: newRetries(),
		}
		watchApplications(ctx, r, impl, census)
		watchDrivers(ctx, r, impl)
		watchExecutors(ctx, r, impl, func() apache.Defaults { return *store.Load().Defaults })
		store.WatchConfigs(cmw)
		return impl
	}
}

func watchApplications(ctx context.Context, r *Reconciler, impl *controller.Impl, census *census) {
	informer := appinformer.Get(ctx).Informer()
	must(ctx, informer.SetTransform(stripApplication))
	handle(ctx, informer, cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if app, ok := object.(*sparkv1.SparkApplication); ok {
				r.sightings.sawNewcomer(app)
			}
			impl.Enqueue(object)
		},
		UpdateFunc: func(before, after any) {
			r.written.compare(before.(*sparkv1.SparkApplication), after.(*sparkv1.SparkApplication), r.clock.Now())
			impl.Enqueue(after)
		},
		DeleteFunc: func(object any) {
			if app, ok := lastKnown(object).(*sparkv1.SparkApplication); ok {
				r.relay.Forget(app.UID)
				r.written.forget(app)
				census.look(keyOf(app))
				r.templates.Forget(app.UID)
			}
		},
	})
}

func watchDrivers(ctx context.Context, r *Reconciler, impl *controller.Impl) {
	informer := podinformer.Get(ctx, DriverSelector).Informer()
	must(ctx, informer.SetTransform(stripDriver))
	must(ctx, informer.AddIndexers(cache.Indexers{byOwner: indexOwner, byApplicationID: indexApplicationID}))
	arrived := func(object any) {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			return
		}
		if app, known := applicationOf(pod); known {
			r.arrivals.note(app)
			impl.EnqueueKey(app)
		}
	}
	handle(ctx, informer, cache.ResourceEventHandlerFuncs{
		AddFunc:    arrived,
		UpdateFunc: controller.PassNew(arrived),
		DeleteFunc: func(object any) {
			if pod, ok := lastKnown(object).(*corev1.Pod); ok {
				r.sightings.sawDeletion(pod)
				arrived(pod)
			}
		},
	})
}

// applicationOf names the application that a driver Pod is of. The Apache operator names it as an owner that is no
// controller. The garbage collector takes the owner away where the application is deleted and its dependents are to be
// orphaned: then the label says whose it was.
func applicationOf(pod *corev1.Pod) (types.NamespacedName, bool) {
	for _, owner := range pod.OwnerReferences {
		version, err := schema.ParseGroupVersion(owner.APIVersion)
		if err == nil && version.Group == sparkv1.SchemeGroupVersion.Group && owner.Kind == "SparkApplication" {
			return types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}, true
		}
	}
	name, labelled := pod.Labels[apache.LabelApplication]
	return types.NamespacedName{Namespace: pod.Namespace, Name: name}, labelled
}

// newRecorder makes what tells of objects by Kubernetes Events.
func newRecorder(ctx context.Context) record.EventRecorder {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartLogging(logging.FromContext(ctx).Named("event-broadcaster").Infof)
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kubeclient.Get(ctx).CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "firesteel-controller"})
}

func handle(
	ctx context.Context, informer cache.SharedIndexInformer, handler cache.ResourceEventHandler,
) cache.ResourceEventHandlerRegistration {
	registration, err := informer.AddEventHandler(handler)
	must(ctx, err)
	return registration
}

func must(ctx context.Context, err error) {
	if err != nil {
		logging.FromContext(ctx).Fatalw("The controller cannot be set up", "error", err)
	}
}

func lastKnown(object any) any {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj
	}
	return object
}

// unfinished leaves out of a new leader's first look what has nothing left to happen to it.
func unfinished(object any, defaults apache.Defaults) bool {
	app, ok := object.(*sparkv1.SparkApplication)
	if !ok || app.DeletionTimestamp != nil {
		return true
	}
	record := app.Status.Firesteel
	if record == nil {
		return !apache.History(app, defaults)
	}
	done := lifecycle.CurrentState(record) == lifecycle.ResourceReleased && record.Acknowledged == record.Sequence
	return !done || apache.Policy(app, defaults).TTL >= 0
}

// stripApplication drops what the reconciler does not read.
func stripApplication(object any) (any, error) {
	if app, ok := object.(*sparkv1.SparkApplication); ok {
		app.ManagedFields = nil
	}
	return object, nil
}

// maxTrace is what is kept of a stack trace, in bytes; Spark leaves up to 64 KiB. Of that as much is its end, where the
// cause is, as its beginning.
const maxTrace = 16 << 10

// stripDriver keeps of a driver Pod what the lifecycle reads: its identity, its status and the exception that it ended
// with.
func stripDriver(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		trace := pod.Annotations[lifecycle.ExitExceptionAnnotation]
		pod.ManagedFields, pod.Annotations = nil, nil
		pod.Spec = corev1.PodSpec{}
		if len(trace) > maxTrace {
			trace = trace[:maxTrace/2] + "\n\tat ...\n" + trace[len(trace)-maxTrace/2:]
		}
		if trace != "" {
			pod.Annotations = map[string]string{lifecycle.ExitExceptionAnnotation: trace}
		}
	}
	return object, nil
}
