package schedule

import (
	"context"
	"reflect"

	"go.opentelemetry.io/otel"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/reconciler"

	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkoperatorv1beta2 "github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/injection/client"
	apachesinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/firesteel/v1alpha1/scheduledsparkapplication"
	apacherunsinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/spark/v1/sparkapplication"
	kubeflowsinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/sparkoperator/v1beta2/scheduledsparkapplication"
	kubeflowrunsinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/sparkoperator/v1beta2/sparkapplication"
	apachesreconciler "github.com/firesteel-dev/firesteel/pkg/client/injection/reconciler/firesteel/v1alpha1/scheduledsparkapplication"
	kubeflowsreconciler "github.com/firesteel-dev/firesteel/pkg/client/injection/reconciler/sparkoperator/v1beta2/scheduledsparkapplication"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	schedulemetrics "github.com/firesteel-dev/firesteel/pkg/metrics/schedules"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/writecache"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// workers is the number of schedules that are reconciled at the same time. One namespace may use at most three
// quarters of them.
const workers = 20

// leasePrefix begins the names of the leases of the leader election. Two versions of Firesteel that run side by side
// during an upgrade must share the leases. So the names keep the form of an earlier type name: package, dot, type.
const leasePrefix = "github.com.firesteel-dev.firesteel.pkg.reconciler.scheduledsparkapplication."

// kindParts are the informers and the generated reconciler of one of the kinds.
type kindParts struct {
	schedules, runs cache.SharedIndexInformer
	newImpl         func(ctx context.Context, r *Reconciler, options controller.OptionsFn) *controller.Impl
}

// apacheReconciler reconciles the schedules of the Apache operator's applications.
type apacheReconciler struct{ *Reconciler }

// ReconcileKind reconciles a schedule.
func (a *apacheReconciler) ReconcileKind(ctx context.Context, s *firesteelv1alpha1.ScheduledSparkApplication) reconciler.Event {
	return a.reconcile(ctx, s)
}

// kubeflowReconciler reconciles the Kubeflow operator's schedules.
type kubeflowReconciler struct{ *Reconciler }

// ReconcileKind reconciles a schedule.
func (k *kubeflowReconciler) ReconcileKind(ctx context.Context, s *sparkoperatorv1beta2.ScheduledSparkApplication) reconciler.Event {
	return k.reconcile(ctx, s)
}

// NewControllers returns the constructors of the controllers, one for each kind.
func NewControllers(process *base.Process) []injection.ControllerConstructor {
	return []injection.ControllerConstructor{
		newController(variant.Apache, process, func(ctx context.Context) kindParts {
			return kindParts{
				schedules: apachesinformer.Get(ctx).Informer(), runs: apacherunsinformer.Get(ctx).Informer(),
				newImpl: func(ctx context.Context, r *Reconciler, options controller.OptionsFn) *controller.Impl {
					impl := apachesreconciler.NewImpl(ctx, &apacheReconciler{r}, options)
					impl.Name = leasePrefix + "apaches"
					return impl
				},
			}
		}),
		newController(variant.Kubeflow, process, func(ctx context.Context) kindParts {
			return kindParts{
				schedules: kubeflowsinformer.Get(ctx).Informer(), runs: kubeflowrunsinformer.Get(ctx).Informer(),
				newImpl: func(ctx context.Context, r *Reconciler, options controller.OptionsFn) *controller.Impl {
					impl := kubeflowsreconciler.NewImpl(ctx, &kubeflowReconciler{r}, options)
					impl.Name = leasePrefix + "kubeflows"
					return impl
				},
			}
		}),
	}
}

func newController(
	k *variant.Kind, process *base.Process, partsOf func(context.Context) kindParts,
) injection.ControllerConstructor {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		ctx = process.WithRecorder(ctx)
		store, parts := process.Settings(ctx, cmw), partsOf(ctx)
		r := new(Reconciler) // the generated reconciler, which makes the work queue, needs its address
		impl := parts.newImpl(ctx, r, func(*controller.Impl) controller.Options {
			return controller.Options{
				ConfigStore: store, SkipStatusUpdates: true,
				DemoteFunc: func(bucket reconciler.Bucket) {
					r.relay.ForgetMatching(func(object events.Object) bool { return bucket.Has(object.Key()) })
					for _, object := range parts.schedules.GetStore().List() {
						if s, ok := object.(variant.Schedule); ok && bucket.Has(kube.KeyOf(s)) {
							r.dueRuns.Set(s.GetUID(), false)
						}
					}
				},
			}
		})
		impl.Concurrency = workers
		generated := impl.Reconciler.(base.Generated)
		owned := base.NewOwned(generated, parts.schedules.GetStore())
		metrics, err := schedulemetrics.New(otel.GetMeterProvider())
		base.Must(ctx, err)
		*r = Reconciler{
			kind: k, client: sparkclient.Get(ctx), runs: parts.runs.GetIndexer(), clock: clock.RealClock{},
			relay: process.Relay(ctx, owned, impl.EnqueueKey), owned: owned, enqueueAfter: impl.EnqueueKeyAfter,
			written: writecache.New[variant.Schedule](), published: newPublished(), dueRuns: &process.DueRuns,
			redactors: base.NewRedactors(), metrics: metrics,
		}
		impl.Reconciler = &base.Gate[variant.Schedule]{
			Generated: generated, Kind: "schedule", Tracer: otel.Tracer(schedulemetrics.Scope), Retries: base.NewRetries(),
			Workers: fairshare.NewWorkers(workers, impl.EnqueueKey),
			Lookup: func(key types.NamespacedName) (variant.Schedule, bool) {
				s := base.Cached[variant.Schedule](parts.schedules.GetStore(), key)
				return s, s != nil && store.Load().Scope.Serves(s, process.NamespaceLabels)
			},
			ForgetUnserved: r.forget,
			ForgetWrite:    r.written.Forget,
		}
		watchSchedules(ctx, r, impl, parts.schedules)
		watchRuns(ctx, r, impl, parts)
		process.Listen(base.Listener{
			SettingsChanged: func(before, after *config.Config) {
				if !reflect.DeepEqual(before.Handlers, after.Handlers) {
					r.relay.HandlerSettingsChanged()
				}
				if !reflect.DeepEqual(before.Scope, after.Scope) {
					impl.GlobalResync(parts.schedules)
				}
			},
			NamespaceChanged: func(namespace string) {
				impl.FilteredGlobalResync(func(object any) bool {
					s, ok := object.(variant.Schedule)
					return ok && s.GetNamespace() == namespace
				}, parts.schedules)
			},
		})
		return impl
	}
}

func watchSchedules(ctx context.Context, r *Reconciler, impl *controller.Impl, informer cache.SharedIndexInformer) {
	base.Must(ctx, informer.SetTransform(base.DropManagedFields))
	leads := impl.Reconciler.(base.Leader)
	base.AddHandler(ctx, informer, cache.ResourceEventHandlerFuncs{
		AddFunc: impl.Enqueue,
		UpdateFunc: func(before, after any) {
			from, to := before.(variant.Schedule), after.(variant.Schedule)
			switch {
			case r.written.RolledBack(from, to):
				r.relay.Forget(to.GetUID()) // its acknowledgements are void
			case leads.IsLeaderFor(kube.KeyOf(to)):
				r.emitEvents(ctx, from, to)
			}
			impl.Enqueue(after)
		},
		DeleteFunc: func(object any) {
			if s, ok := kube.LastKnown(object).(variant.Schedule); ok {
				r.forget(s)
			}
		},
	})
}

const (
	// bySchedule is the index of runs by their schedules, as kind.ScheduleOf has them.
	bySchedule = "schedule"
	// byRun is the index of schedules by the uids of their active runs.
	byRun = "run"
)

// indexByRun indexes a schedule by its active runs.
func indexByRun(object any) (uids []string, _ error) {
	s, ok := object.(variant.Schedule)
	if !ok || s.GetScheduleStatus().Firesteel == nil {
		return nil, nil
	}
	for _, run := range s.GetScheduleStatus().Firesteel.Active {
		uids = append(uids, string(run.UID))
	}
	return uids, nil
}

func indexBySchedule(k *variant.Kind) cache.IndexFunc {
	return func(object any) ([]string, error) {
		if run, ok := object.(metav1.Object); ok && k.ScheduleOf(run) != "" {
			return []string{k.ScheduleOf(run)}, nil
		}
		return nil, nil
	}
}

func watchRuns(ctx context.Context, r *Reconciler, impl *controller.Impl, parts kindParts) {
	base.Must(ctx, parts.runs.AddIndexers(cache.Indexers{bySchedule: indexBySchedule(r.kind)}))
	base.Must(ctx, parts.schedules.AddIndexers(cache.Indexers{byRun: indexByRun}))
	changed := func(object any) {
		run, ok := object.(metav1.Object)
		if !ok {
			return
		}
		if owner, owned := r.kind.Owner(run); owned {
			impl.EnqueueKey(types.NamespacedName{Namespace: run.GetNamespace(), Name: owner.Name})
		}
		schedules, err := parts.schedules.GetIndexer().ByIndex(byRun, string(run.GetUID()))
		if err != nil {
			return // impossible: the index exists
		}
		for _, s := range schedules {
			impl.Enqueue(s)
		}
	}
	base.AddHandler(ctx, parts.runs, cache.ResourceEventHandlerFuncs{
		AddFunc: changed,
		UpdateFunc: func(before, after any) {
			from, to := variant.RunOf(before.(metav1.Object)), variant.RunOf(after.(metav1.Object))
			if from != to {
				changed(after)
			}
		},
		DeleteFunc: func(object any) { changed(kube.LastKnown(object)) },
	})
}
