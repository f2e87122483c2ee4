package sparkcluster

import (
	"cmp"
	"context"
	"maps"
	"reflect"

	"go.opentelemetry.io/otel"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	sparkclient "github.com/firesteel-dev/firesteel/pkg/client/injection/client"
	clusterinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/spark/v1/sparkcluster"
	sparkclusterreconciler "github.com/firesteel-dev/firesteel/pkg/client/injection/reconciler/spark/v1/sparkcluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/masterui"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/metrics/clusters"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
)

// workers is the number of clusters that are reconciled at the same time. One namespace may use at most three
// quarters of them.
const workers = 20

// NewController returns the constructor of the controller. read reads the pages of masters.
func NewController(process *base.Process, read masterui.Read) func(context.Context, configmap.Watcher) *controller.Impl {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		ctx = process.WithRecorder(ctx)
		store, informer := process.Settings(ctx, cmw), clusterinformer.Get(ctx).Informer()
		serves := func(c *sparkv1.SparkCluster) bool { return store.Load().Scope.Serves(c, process.NamespaceLabels) }
		r := new(Reconciler) // the generated reconciler, which makes the work queue, needs its address
		impl := sparkclusterreconciler.NewImpl(ctx, r, func(*controller.Impl) controller.Options {
			return controller.Options{
				FinalizerName: status.Finalizer, ConfigStore: store, SkipStatusUpdates: true,
				PromoteFilterFunc: unfinished,
				DemoteFunc: func(bucket reconciler.Bucket) {
					r.relay.ForgetMatching(func(object events.Object) bool { return bucket.Has(object.Key()) })
					r.masters.ForgetWhere(bucket.Has)
				},
			}
		})
		impl.Concurrency = workers
		generated := impl.Reconciler.(base.Generated)
		owned := base.NewOwned(generated, informer.GetStore())
		metrics, err := clusters.New(otel.GetMeterProvider(), func() map[string]int64 { return count(informer, serves) })
		base.Must(ctx, err)
		masters := masterui.NewWatch(ctx, read, owned, impl.EnqueueKey)
		cached := func(key types.NamespacedName) *sparkv1.SparkCluster {
			return base.Cached[*sparkv1.SparkCluster](informer.GetStore(), key)
		}
		tracker, synced := process.Quotas(ctx), func() bool { return false }
		source := tracker.AddSource(quotas.Source{
			Enqueue: impl.EnqueueKey, Pods: r.podsOfCluster(cached), Synced: func() bool { return synced() && r.owned.synced() },
		})
		*r = Reconciler{
			tracker: tracker, quotas: source,
			kube: kubeclient.Get(ctx), client: sparkclient.Get(ctx), clock: clock.RealClock{},
			relay: process.Relay(ctx, owned, impl.EnqueueKey), masters: masters, enqueueAfter: impl.EnqueueAfter,
			state: newClusterState(clock.RealClock{}), redactors: base.NewRedactors(), metrics: metrics,
			owned: newOwnedObjects(ctx, kubeclient.Get(ctx), clock.RealClock{}, func(key types.NamespacedName, changed object) {
				if c := cached(key); c != nil && concernsMaster(changed) {
					masters.PollNow(c.UID)
				}
				if _, isPod := changed.(*corev1.Pod); isPod {
					source.PodsChanged(key.Namespace)
				}
				impl.EnqueueKey(key)
			}),
		}
		impl.Reconciler = &base.Gate[*sparkv1.SparkCluster]{
			Generated: generated, Kind: "cluster", Tracer: otel.Tracer(clusters.Scope), Retries: base.NewRetries(),
			Workers: fairshare.NewWorkers(workers, impl.EnqueueKey),
			Lookup: func(key types.NamespacedName) (*sparkv1.SparkCluster, bool) {
				c := cached(key)
				return c, c != nil && serves(c)
			},
			ForgetUnserved: func(c *sparkv1.SparkCluster) { r.forget(c.UID) },
			ForgetWrite:    r.state.written.Forget,
		}
		quotaOf := func(c *sparkv1.SparkCluster) quotas.State { return quotaState(c, serves(c)) }
		synced = watchClusters(ctx, r, impl, informer, quotaOf)
		process.Listen(listener(ctx, process, r, impl, informer, quotaOf))
		return impl
	}
}

// listener enqueues the clusters that a change of the settings or of a namespace concerns.
func listener(
	ctx context.Context, process *base.Process, r *Reconciler, impl *controller.Impl, informer cache.SharedIndexInformer,
	quotaOf func(*sparkv1.SparkCluster) quotas.State,
) base.Listener {
	return base.Listener{
		SettingsChanged: func(before, after *config.Config) {
			if before.Scope != after.Scope {
				r.quotas.Reread(quotas.States(informer.GetStore().List, quotaOf))
			}
			impl.FilteredGlobalResync(func(object any) bool {
				c, ok := object.(*sparkv1.SparkCluster)
				return ok && concerns(process, c, before, after)
			}, informer)
		},
		NamespaceChanged: func(namespace string) {
			within := base.InNamespace(ctx, informer.GetIndexer(), namespace)
			r.quotas.Reread(quotas.States(within, quotaOf))
			for _, c := range within() {
				impl.EnqueueSlow(c)
			}
		},
	}
}

// watchClusters enqueues clusters that change. It returns whether all are known that existed at the start.
func watchClusters(
	ctx context.Context, r *Reconciler, impl *controller.Impl, informer cache.SharedIndexInformer, quotaOf func(*sparkv1.SparkCluster) quotas.State,
) func() bool {
	base.Must(ctx, informer.SetTransform(base.DropManagedFields))
	return base.AddHandler(ctx, informer, cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			if c, ok := object.(*sparkv1.SparkCluster); ok {
				r.quotas.Set(quotaOf(c), false)
			}
			impl.Enqueue(object)
		},
		UpdateFunc: func(before, after any) {
			from, to := before.(*sparkv1.SparkCluster), after.(*sparkv1.SparkCluster)
			r.quotas.Set(quotaOf(to), true)
			if r.state.written.RolledBack(from, to) {
				r.forget(to.UID) // its acknowledgements are void
			}
			if from.Generation != to.Generation {
				r.state.edits.Observe(to.UID, status.SpecOf(from), status.SpecOf(to))
			}
			impl.Enqueue(after)
		},
		DeleteFunc: func(object any) {
			if c, ok := kube.LastKnown(object).(*sparkv1.SparkCluster); ok {
				r.forget(c.UID)
				r.state.forget(c)
				r.quotas.Forget(c)
			}
		},
	}).HasSynced
}

// concernsMaster reports whether the change of an object may change what the page of the master shows.
func concernsMaster(changed object) bool {
	switch changed.(type) {
	case *corev1.Pod, *appsv1.StatefulSet:
		return true
	default:
		return false
	}
}

// concerns reports whether a change of the settings affects a cluster: the cluster enters or leaves the scope, or its
// settings change.
func concerns(process *base.Process, c *sparkv1.SparkCluster, before, after *config.Config) bool {
	served := after.Scope.Serves(c, process.NamespaceLabels)
	redefined := func() bool {
		return !reflect.DeepEqual(before.Clusters, after.Clusters) || before.OfClusters(c.Namespace) != after.OfClusters(c.Namespace) ||
			!maps.Equal(before.Admission.Rules, after.Admission.Rules)
	}
	return served != before.Scope.Serves(c, process.NamespaceLabels) || served && redefined()
}

// unfinished reports whether a new leader has to reconcile a cluster. A cluster that is released, with all events acknowledged, is
// left out.
func unfinished(object any) bool {
	c, ok := object.(*sparkv1.SparkCluster)
	if !ok || c.DeletionTimestamp != nil || c.Status.Firesteel == nil {
		return true
	}
	record := c.Status.Firesteel
	return cluster.Current(record) != cluster.ResourceReleased || record.Acknowledged != record.Sequence ||
		c.Status.ObservedGeneration != c.Generation
}

// stateNew is the state in metrics of a cluster that was not reconciled yet.
const stateNew = "New"

// count returns the number of served clusters in each state.
func count(informer cache.SharedIndexInformer, serves func(*sparkv1.SparkCluster) bool) map[string]int64 {
	counts := map[string]int64{}
	for _, object := range informer.GetStore().List() {
		if c, ok := object.(*sparkv1.SparkCluster); ok && serves(c) {
			counts[cmp.Or(status.ShownState(c), stateNew)]++
		}
	}
	return counts
}
