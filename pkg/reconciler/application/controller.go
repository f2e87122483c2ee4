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
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	applicationmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/applications"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/executors"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/launch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/edits"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
)

// Workers is the number of concurrent reconciles. One namespace gets at most three quarters of them.
const Workers = 40

// Kind holds the differences between the APIs.
type Kind struct {
	API *applications.API
	// Scope is the instrumentation scope of the metrics and traces.
	Scope    string
	Informer cache.SharedIndexInformer
	// Generate makes the controller that injection-gen generates for the type. That controller calls the reconciler.
	Generate func(ctx context.Context, r *Reconciler, options controller.OptionsFn) *controller.Impl
	// Fetch reads the pod templates that a property names by a URL.
	Fetch fetch.Func
	// OnStatusWrite is called after each status write, with the application before and after it; may be nil.
	OnStatusWrite func(before, after dialect.Application)
	// OnSettings is called when the settings change; may be nil.
	OnSettings func(*config.Config)
	// KeepFinalizer is nil if no schedule has to record the runs.
	KeepFinalizer KeepFinalizer
}

// dialectOf returns the dialect of the applications in a namespace, with the present settings.
type dialectOf func(namespace string) dialect.Dialect

// KeepFinalizer returns a function that reports whether an application must keep its finalizer, since its schedule has not recorded
// the run yet. changed is called for an application when that may have changed.
type KeepFinalizer func(ctx context.Context, changed func(app types.NamespacedName)) func(app dialect.Application) bool

func (a KeepFinalizer) in(ctx context.Context, changed func(app types.NamespacedName)) func(app dialect.Application) bool {
	if a == nil {
		return func(dialect.Application) bool { return false }
	}
	return a(ctx, changed)
}

// NewController makes the controller of an API's applications.
func NewController(ctx context.Context, cmw configmap.Watcher, process *base.Process, kind Kind) *controller.Impl {
	ctx = process.WithRecorder(ctx)
	recorder := controller.GetEventRecorder(ctx)
	store := process.Settings(ctx, cmw)
	currentDialect := func(namespace string) dialect.Dialect { return kind.API.Dialect(store.Load().In(namespace)) }
	r := new(Reconciler) // the generated reconciler makes the work queue and needs this address
	impl := kind.Generate(ctx, r, func(*controller.Impl) controller.Options {
		return controller.Options{
			FinalizerName:     kind.API.Finalizer,
			ConfigStore:       store,
			SkipStatusUpdates: true,
			PromoteFilterFunc: func(object any) bool { return unfinished(kind.API, object, currentDialect) },
			PromoteFunc:       func(reconciler.Bucket) { r.launcher.Promoted() },
			DemoteFunc: func(bucket reconciler.Bucket) {
				r.relay.ForgetMatching(func(object events.Object) bool { return bucket.Has(object.Key()) })
				r.relabelledDrivers.ForgetMatching(bucket.Has)
			},
		}
	})
	impl.Concurrency = Workers
	generated := impl.Reconciler.(base.Generated)
	owned := base.NewOwned(generated, kind.Informer.GetStore())
	base.Must(ctx, kind.Informer.AddIndexers(applicationIndexers(kind.API.API)))
	apps := lister{kind.Informer.GetIndexer()}
	serves := func(app dialect.Application) bool { return r.serves(store.Load().Scope, app) }
	lookup := lookup{apps, serves, currentDialect, applicationmetrics.NewStateCounter(clock.RealClock{})}
	inScope := func(app dialect.Application) bool { return store.Load().Scope.Serves(app, process.NamespaceLabels) }
	quotaOf := func(app dialect.Application) quotas.State { return quotaState(app, currentDialect, inScope) }
	metrics, err := applicationmetrics.New(otel.GetMeterProvider(), kind.Scope, lookup.states)
	base.Must(ctx, err)
	known := &synced{}
	*r = newReconciler(ctx, process, kind, impl, owned, apps, currentDialect, metrics, known)
	impl.Reconciler = newGate(r, generated, lookup, fairshare.NewWorkers(Workers, impl.EnqueueKey), otel.Tracer(kind.Scope),
		yielding{&process.DueRuns, &process.FirstLaunches, r.podEventTimes, r.clock, func(app dialect.Application) bool {
			return process.Stopping() && r.launcher.Fenced(app) == nil
		}},
		func(ctx context.Context, app dialect.Application) (bool, error) {
			return r.reconcileWithoutFinalizer(controller.WithEventRecorder(store.ToContext(ctx), recorder), app)
		})
	known.apps = watchApplications(ctx, r, impl, kind.Informer, lookup, &process.FirstLaunches, currentDialect, quotaOf)
	known.drivers = watchDrivers(ctx, r, impl, apps)
	known.executors = r.executorsSynced
	process.BeforeStop(r.launcher.Settled)
	process.Listen(base.Listener{
		SettingsChanged: func(before, after *config.Config) {
			if kind.OnSettings != nil {
				kind.OnSettings(after)
			}
			if before.Scope != after.Scope {
				r.quotas.Reread(quotas.States(apps.List, quotaOf))
			}
			r.settingsChanged(before, after)
		},
		NamespaceChanged: func(namespace string) {
			within := base.InNamespace(ctx, apps, namespace)
			r.quotas.Reread(quotas.States(within, quotaOf))
			for _, app := range within() {
				impl.Enqueue(app)
			}
		},
	})
	return impl
}

// synced reports whether all handlers of the informers have seen what existed at the start.
type synced struct{ apps, drivers, executors func() bool }

func (s *synced) all() bool { return s.apps() && s.drivers() && s.executors() }

// newReconciler makes the reconciler of a controller.
func newReconciler(
	ctx context.Context, process *base.Process, kind Kind, impl *controller.Impl, owned base.Owned, apps lister,
	currentDialect dialectOf, metrics *applicationmetrics.Metrics, known *synced,
) Reconciler {
	kube, realClock := kubeclient.Get(ctx), clock.RealClock{}
	expectations, podEventTimes := drivers.NewExpectations(realClock), newPodEventTimes(realClock)
	counter, details, used := executors.NewCounter(), (*executors.Details)(nil), executors.NewUsage(realClock)
	finished := executors.NewFinished()
	if kind.API.ShowsExecutors {
		details = executors.NewDetails(realClock)
	}
	cached := drivers.Cache{Indexer: podinformer.Get(ctx, kind.API.DriverSelector).Informer().GetIndexer()}
	deleter, redactors := drivers.NewDeleter(kube, realClock, impl.EnqueueAfter), base.NewRedactors()
	tracker := process.Quotas(ctx)
	source := tracker.AddSource(quotas.Source{Enqueue: impl.EnqueueKey, Pods: podsOf(cached, counter), Synced: known.all})
	return Reconciler{
		api:     kind.API,
		kube:    kube,
		drivers: cached,
		deleter: deleter,
		launcher: launch.New(launch.Config{
			API: kind.API, Kube: kube, Dynamic: dynamicclient.Get(ctx), Drivers: cached, Deleter: deleter, Expectations: expectations,
			ApplicationOf: apps.byDriverUID,
			Templates:     fetch.NewKeeper(ctx, kind.Fetch, impl.EnqueueKey), Redactors: redactors, Clock: realClock,
			Quotas: tracker, EnqueueAfter: impl.EnqueueAfter,
		}),
		quotas:       source,
		relay:        process.Relay(ctx, owned, impl.EnqueueKey),
		clock:        realClock,
		enqueueAfter: impl.EnqueueAfter,
		deadlines:    newDeadlines(impl.EnqueueKey),
		resync:       func(concerned func(any) bool) { impl.FilteredGlobalResync(concerned, kind.Informer) },
		namespaces:   process.NamespaceLabels,

		expectations:      expectations,
		newApplications:   newNewApplications(kind.API.API),
		finalizerRemovals: base.NewFinalizerRemovals(kind.API.Finalizer, realClock),
		relabelledDrivers: drivers.NewRelabelled(ctx, kube, kind.API.API, owned, drivers.RelabelledEvents{
			Changed: func(app types.NamespacedName) {
				podEventTimes.record(app)
				impl.EnqueueKey(app)
			},
			Deleted: expectations.PodDeleted,
		}),
		podEventTimes:     podEventTimes,
		edits:             edits.NewTracker(),
		recordGuard:       newRecordGuard(func(a, b dialect.Application) bool { return currentDialect(a.GetNamespace()).SameVisibleStatus(a, b) }),
		metrics:           metrics,
		executorCounter:   counter,
		executorDetails:   details,
		executorUsage:     used,
		finishedExecutors: finished,
		firstLaunches:     &process.FirstLaunches,
		executorsSynced:   executors.Watch(ctx, kind.API.API, impl, executorApplications{apps, currentDialect}, counter, details, used, finished, source.PodsChanged),
		logs:              drivers.NewLogs(kube),
		redactors:         redactors,
		onStatusWrite:     kind.OnStatusWrite,
		keepFinalizer:     kind.KeepFinalizer.in(ctx, impl.EnqueueKey),
	}
}

func watchApplications(
	ctx context.Context, r *Reconciler, impl *controller.Impl, informer cache.SharedIndexInformer, lookup lookup,
	firstLaunches *base.Burst, currentDialect dialectOf, quotaOf func(dialect.Application) quotas.State,
) func() bool {
	base.Must(ctx, informer.SetTransform(r.api.Compact))
	return base.AddHandler(ctx, informer, cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, atStart bool) {
			if app, ok := object.(dialect.Application); ok {
				r.newApplications.added(app, atStart)
				r.recordGuard.recordSeen(app)
				firstLaunches.Set(app.GetUID(), app.GetRecord() == nil)
				r.quotas.Set(quotaOf(app), false)
			}
			impl.Enqueue(object)
		},
		UpdateFunc: func(old, updated any) {
			before, after := old.(dialect.Application), updated.(dialect.Application)
			r.quotas.Set(quotaOf(after), true)
			r.forgetUsage(before, after)
			if r.recordGuard.RolledBack(before, after) {
				r.relay.Forget(after.GetUID()) // what the relay has acknowledged is void, too
				r.expectations.ForgetDriver(after.GetRecord())
				r.recordGuard.restored(after)
			} else {
				r.recordGuard.statusChanged(before, after, r.clock.Now())
			}
			if before.GetGeneration() != after.GetGeneration() {
				d := currentDialect(after.GetNamespace())
				r.edits.Observe(after.GetUID(), d.Spec(before), d.Spec(after))
			}
			if r.recordGuard.IsEcho(after) && !r.awaitsExecutors(after, currentDialect) {
				lookup.find(kube.KeyOf(after)) // no reconcile has to follow the one that wrote it
				return
			}
			impl.Enqueue(after)
		},
		DeleteFunc: func(object any) {
			app, ok := kube.LastKnown(object).(dialect.Application)
			if !ok {
				return
			}
			r.forget(app)
			lookup.find(kube.KeyOf(app))
		},
	}).HasSynced
}

func watchDrivers(ctx context.Context, r *Reconciler, impl *controller.Impl, apps lister) func() bool {
	informer := podinformer.Get(ctx, r.api.DriverSelector).Informer()
	base.Must(ctx, informer.SetTransform(drivers.Strip(r.api.API)))
	base.Must(ctx, informer.AddIndexers(drivers.Indexers(r.api.API)))
	leads := impl.Reconciler.(base.Leader)
	changed := func(object any) {
		pod, ok := object.(*drivers.Pod)
		if !ok {
			return
		}
		r.quotas.PodsChanged(pod.Namespace)
		for _, app := range apps.ofDriver(r.api.API, pod) {
			if leads.IsLeaderFor(app) { // else this replica would measure from here when it becomes the leader
				r.podEventTimes.record(app)
			}
			impl.EnqueueKey(app)
		}
	}
	return base.AddHandler(ctx, informer, cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if pod, ok := object.(*drivers.Pod); ok {
				r.expectations.PodSeen(pod.UID)
			}
			changed(object)
		},
		UpdateFunc: controller.PassNew(changed),
		DeleteFunc: func(object any) {
			if pod, ok := kube.LastKnown(object).(*drivers.Pod); ok {
				_, tombstone := object.(cache.DeletedFinalStateUnknown)
				r.expectations.PodDeleted(pod.AsPod(), tombstone)
				changed(pod)
			}
		},
	}).HasSynced
}

// awaitsExecutors reports whether executors matter to an application that may have been seen before its launch was in the cache. No event
// enqueues the application then.
func (r *Reconciler) awaitsExecutors(app dialect.Application, currentDialect dialectOf) bool {
	record := app.GetRecord()
	state := lifecycle.CurrentState(record)
	switch {
	case !state.Starting() && !state.Running():
		return false
	case r.executorDetails != nil, record.Quota != nil, record.Launch != nil && r.finishedExecutors.MoreThanStay(app.GetNamespace(), record.Launch):
		return true
	default:
		return currentDialect(app.GetNamespace()).Policy(app).Executors.Requested()
	}
}

// applicationOf returns the name of the application that a driver Pod belongs to. The Apache operator's owner reference is
// not a controller reference. The garbage collector removes the reference if the application is deleted and its dependents
// are orphaned. Then the label names the application.
func applicationOf(api *dialect.API, pod *drivers.Pod) (types.NamespacedName, bool) {
	for _, owner := range pod.OwnerReferences {
		switch kind := schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind); {
		case kind.GroupKind() == api.GroupKind():
			return types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}, true
		case kind.Kind == api.Kind:
			return types.NamespacedName{}, false // the Pod belongs to another API, whatever its labels say
		}
	}
	name, labelled := pod.Label(api.LabelApplication)
	return types.NamespacedName{Namespace: pod.Namespace, Name: name}, labelled
}

// settingsChanged enqueues the applications that a change of the settings affects: those that enter or leave the scope, and
// all served ones if the defaults changed.
func (r *Reconciler) settingsChanged(before, after *config.Config) {
	if !reflect.DeepEqual(before.Handlers, after.Handlers) {
		r.relay.HandlerSettingsChanged()
	}
	differ := map[string]bool{}
	redefined := func(namespace string) bool {
		different, known := differ[namespace]
		if !known {
			different = before.Archive.WaitIn(namespace) != after.Archive.WaitIn(namespace) ||
				!reflect.DeepEqual(r.api.Dialect(before.In(namespace)), r.api.Dialect(after.In(namespace)))
			differ[namespace] = different
		}
		return different
	}
	r.resync(func(object any) bool {
		app, ok := object.(dialect.Application)
		if !ok {
			return false
		}
		served := after.Scope.Serves(app, r.namespaces)
		return served != before.Scope.Serves(app, r.namespaces) || served && redefined(app.GetNamespace())
	})
}

// serves reports whether an application is reconciled: the scope has it, or this process owes it the record of its first launch. Other
// operators know the status only, and would launch it again.
func (r *Reconciler) serves(scope *config.Scope, app dialect.Application) bool {
	return scope.Serves(app, r.namespaces) || r.launcher.Unrecorded(app)
}

// unfinished reports whether a new leader has to reconcile an application. One that has ended and still has the finalizer is unfinished: a
// driver may exist that its record does not name, and the informer may have reported it to the earlier leader only.
func unfinished(api *applications.API, object any, currentDialect dialectOf) bool {
	app, ok := object.(dialect.Application)
	if !ok || app.GetDeletionTimestamp() != nil {
		return true
	}
	record := app.GetRecord()
	if record == nil {
		return !currentDialect(app.GetNamespace()).FinishedElsewhere(app)
	}
	done := lifecycle.CurrentState(record) == lifecycle.ResourceReleased && record.Acknowledged == record.Sequence && !api.HasFinalizer(app)
	return !done || currentDialect(app.GetNamespace()).Policy(app).TTL >= 0
}
