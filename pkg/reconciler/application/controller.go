package application

import (
	"context"
	"reflect"

	"go.opentelemetry.io/otel"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	podinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/reconciler"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/edits"
)

// workers is the number of applications that are reconciled at once.
const workers = 32

// Kind is what the applications of an API are reconciled with.
type Kind struct {
	API *applications.API
	// Scope is the name of the package that its metrics and traces come from.
	Scope    string
	Informer cache.SharedIndexInformer
	// Generate makes the controller that injection-gen generates for the type, which asks the reconciler.
	Generate func(ctx context.Context, r *Reconciler, options controller.OptionsFn) *controller.Impl
	// Fetch reads the pod templates that are named by a URL.
	Fetch podtemplate.Fetch
	// Wrote is told of each status that is written, with the application as it was and as it is; nil for nobody.
	Wrote func(before, after dialect.Application)
	// Follow is told of each change of the settings; nil for nobody.
	Follow func(*config.Config)
	// Awaited makes what says that an application must not go yet; nil where all may.
	Awaited Awaited
}

// Awaited makes what says that an application must not go yet, since its schedule has to see that it was there. changed
// is told of each of which that was said, when it may be so no more.
type Awaited func(ctx context.Context, changed func(app types.NamespacedName)) func(app dialect.Application) bool

func (a Awaited) in(ctx context.Context, changed func(app types.NamespacedName)) func(app dialect.Application) bool {
	if a == nil {
		return func(dialect.Application) bool { return false }
	}
	return a(ctx, changed)
}

// newReconciler makes the reconciler, but for what it needs of its controller.
func newReconciler(ctx context.Context, process *base.Process, kind Kind) *Reconciler {
	r := &Reconciler{
		api:       kind.API,
		kube:      kubeclient.Get(ctx),
		dynamic:   dynamicclient.Get(ctx),
		drivers:   drivers{podinformer.Get(ctx, kind.API.DriverSelector).Informer().GetIndexer()},
		clock:     clock.RealClock{},
		sightings: newSightings(kind.API.API, clock.RealClock{}),
		obstacles: newObstacles(clock.RealClock{}),
		edits:     edits.NewTracker(),
		arrivals:  newArrivals(clock.RealClock{}),
		executors: newExecutors(),
		wrote:     kind.Wrote,
		logs:      newDriverLogs(kubeclient.Get(ctx)),
		secrets:   base.NewRedactors(),

		namespaces: process.NamespaceLabels,
	}
	if kind.API.ShowsExecutors {
		r.roster = newRoster(clock.RealClock{})
	}
	return r
}

// NewController makes the controller of an API's applications.
func NewController(ctx context.Context, cmw configmap.Watcher, process *base.Process, kind Kind) *controller.Impl {
	r := newReconciler(ctx, process, kind)
	ctx = base.WithRecorder(ctx)
	recorder := controller.GetEventRecorder(ctx)
	store := process.Settings(ctx, cmw, base.Listener{
		SettingsChanged: func(before, after *config.Config) {
			if kind.Follow != nil {
				kind.Follow(after)
			}
			r.follow(before, after)
		},
		NamespaceChanged: func(namespace string) { r.lookInto(namespace) },
	})
	speak := func() dialect.Dialect { return kind.API.Dialect(store.Load()) }
	r.written = newWritten(func(a, b dialect.Application) bool { return speak().SameVisibleStatus(a, b) })
	impl := kind.Generate(ctx, r, func(*controller.Impl) controller.Options {
		return controller.Options{
			FinalizerName:     kind.API.Finalizer,
			ConfigStore:       store,
			SkipStatusUpdates: true,
			PromoteFilterFunc: func(object any) bool { return unfinished(object, speak()) },
			DemoteFunc: func(bucket reconciler.Bucket) {
				r.relay.ForgetMatching(func(object events.Object) bool { return bucket.Has(object.Key()) })
				r.relabelled.forgetWhere(bucket.Has)
			},
		}
	})
	impl.Concurrency = workers
	r.deadlines = newDeadlines(impl.EnqueueKey)
	r.enqueueAfter, r.resync = impl.EnqueueAfter, func(concerned func(any) bool) {
		impl.FilteredGlobalResync(concerned, kind.Informer)
	}
	r.lookInto = func(namespace string) {
		within, err := kind.Informer.GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
		base.Must(ctx, err)
		for _, app := range within {
			impl.Enqueue(app)
		}
	}
	owned := base.NewOwned(impl.Reconciler.(base.Generated), kind.Informer.GetStore())
	r.relay = process.Relay(ctx, owned, impl.EnqueueKey)
	r.awaited = kind.Awaited.in(ctx, impl.EnqueueKey)
	r.templates = podtemplate.NewKeeper(ctx, kind.Fetch, impl.EnqueueKey)
	known := shelf{kind.Informer.GetIndexer()}
	census := newCensus(known,
		func(app dialect.Application) bool { return store.Load().Scope.Serves(app, process.NamespaceLabels) },
		func(app dialect.Application) string { return speak().VisibleState(app) })
	var err error
	r.instruments, err = NewInstruments(otel.GetMeterProvider(), kind.Scope, census.count)
	base.Must(ctx, err)
	r.relabelled = newRelabelled(ctx, r.kube, r.api.API, owned, relabelledEvents{
		changed: func(app types.NamespacedName) {
			r.arrivals.note(app)
			impl.EnqueueKey(app)
		},
		deleted: r.sightings.sawDeletion,
	})
	impl.Reconciler = &gate{
		Generated: impl.Reconciler.(base.Generated), census: census, arrivals: r.arrivals, relay: r.relay, relabelled: r.relabelled,
		forgetWrite: r.written.Forget,
		tracer:      otel.Tracer(kind.Scope), retries: base.NewRetries(),
		yields: func(app dialect.Application) bool { return yields(app, &process.StartBacklog, r.clock) },
		atRest: func(ctx context.Context, app dialect.Application) (bool, error) {
			return r.reconcileAtRest(controller.WithEventRecorder(store.ToContext(ctx), recorder), app)
		},
	}
	base.Must(ctx, kind.Informer.AddIndexers(applicationIndexers))
	watchApplications(ctx, r, impl, kind.Informer, census, speak)
	watchDrivers(ctx, r, impl, known)
	watchExecutors(ctx, r, impl, known, speak)
	return impl
}

func watchApplications(
	ctx context.Context, r *Reconciler, impl *controller.Impl, informer cache.SharedIndexInformer, census *census, speak func() dialect.Dialect,
) {
	base.Must(ctx, informer.SetTransform(stripApplication))
	base.AddHandler(ctx, informer, cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, atStart bool) {
			if app, ok := object.(dialect.Application); ok {
				r.sightings.sawArrival(app, atStart)
				r.written.found(app)
			}
			impl.Enqueue(object)
		},
		UpdateFunc: func(before, after any) {
			was, is := before.(dialect.Application), after.(dialect.Application)
			if r.written.RolledBack(was, is) {
				r.relay.Forget(is.GetUID()) // what it acknowledged is void, too
				r.sightings.forgetDriver(is.GetRecord())
				r.written.wentBack(is)
			} else {
				r.written.compare(was, is, r.clock.Now())
			}
			if was.GetGeneration() != is.GetGeneration() {
				r.edits.Observe(is.GetUID(), speak().Spec(was), speak().Spec(is))
			}
			impl.Enqueue(after)
		},
		DeleteFunc: func(object any) {
			if app, ok := base.LastKnown(object).(dialect.Application); ok {
				r.relay.Forget(app.GetUID())
				r.written.forget(app)
				r.relabelled.forget(keyOf(app))
				r.obstacles.forget(app.GetUID())
				r.edits.Forget(app.GetUID())
				r.deadlines.clear(keyOf(app))
				census.look(keyOf(app))
				r.templates.Forget(app.GetUID())
				if r.roster != nil {
					r.roster.forget(app.GetUID())
				}
			}
		},
	})
}

func watchDrivers(ctx context.Context, r *Reconciler, impl *controller.Impl, apps shelf) {
	informer := podinformer.Get(ctx, r.api.DriverSelector).Informer()
	base.Must(ctx, informer.SetTransform(keepDriver(r.api.API)))
	base.Must(ctx, informer.AddIndexers(driverIndexers))
	arrived := func(object any) {
		pod, ok := object.(*driverPod)
		if !ok {
			return
		}
		app, known := apps.ofDriver(pod.UID)
		if !known {
			app, known = applicationOf(r.api.API, pod)
		}
		if known {
			r.arrivals.note(app)
			impl.EnqueueKey(app)
		}
	}
	base.AddHandler(ctx, informer, cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if pod, ok := object.(*driverPod); ok {
				r.sightings.sawPod(pod.UID)
			}
			arrived(object)
		},
		UpdateFunc: controller.PassNew(arrived),
		DeleteFunc: func(object any) {
			if pod, ok := base.LastKnown(object).(*driverPod); ok {
				_, tombstone := object.(cache.DeletedFinalStateUnknown)
				r.sightings.sawDeletion(pod.pod(), tombstone)
				arrived(pod)
			}
		},
	})
}

// applicationOf names the application of an API that a driver Pod is of. The Apache operator names it as an owner that is
// no controller. The garbage collector takes the owner away where the application is deleted and its dependents are to be
// orphaned: then the label says whose it was.
func applicationOf(api *dialect.API, pod *driverPod) (types.NamespacedName, bool) {
	for _, owner := range pod.OwnerReferences {
		switch kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind); {
		case kind.GroupKind() == api.GroupKind():
			return types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}, true
		case kind.Kind == api.Kind:
			return types.NamespacedName{}, false // whatever its labels say, it is another API's
		}
	}
	name, labelled := pod.label(api.LabelApplication)
	return types.NamespacedName{Namespace: pod.Namespace, Name: name}, labelled
}

// follow has the applications looked at that a change of the settings concerns: those that come into the scope, those
// that leave it, and all that are served where the defaults changed.
func (r *Reconciler) follow(before, after *config.Config) {
	if !reflect.DeepEqual(before.Handlers, after.Handlers) {
		r.relay.HandlerSettingsChanged()
	}
	redefined := !reflect.DeepEqual(r.api.Dialect(before), r.api.Dialect(after))
	r.resync(func(object any) bool {
		app, is := object.(dialect.Application)
		if !is {
			return false
		}
		served := after.Scope.Serves(app, r.namespaces)
		return served != before.Scope.Serves(app, r.namespaces) || served && redefined
	})
}

// unfinished leaves out of a new leader's first look what has nothing left to happen to it.
func unfinished(object any, d dialect.Dialect) bool {
	app, ok := object.(dialect.Application)
	if !ok || app.GetDeletionTimestamp() != nil {
		return true
	}
	record := app.GetRecord()
	if record == nil {
		return !d.FinishedElsewhere(app)
	}
	done := lifecycle.CurrentState(record) == lifecycle.ResourceReleased && record.Acknowledged == record.Sequence
	return !done || d.Policy(app).TTL >= 0
}

// stripApplication drops what the reconciler does not read, and makes what it does small.
func stripApplication(object any) (any, error) {
	if app, ok := object.(dialect.Application); ok {
		app.Compact()
	}
	return object, nil
}
