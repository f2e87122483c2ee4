package admission

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/lru"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/check"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/kube/classes"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/quota"
)

// Quotas has the ResourceQuotas, and what applications and clusters are about to use of them. While the setting quota of config-admission is off, it
// reads nothing. It is safe for concurrent use.
type Quotas struct {
	ctx     context.Context
	kube    kubernetes.Interface
	clients kube.Clients
	logger  *zap.SugaredLogger
	now     func() time.Time

	mutex sync.Mutex
	// followed is nil while the setting is off.
	followed *followed
}

// NewQuotas returns Quotas. They read nothing before Configure.
func NewQuotas(ctx context.Context, client kubernetes.Interface, clients kube.Clients, logger *zap.SugaredLogger, now func() time.Time) *Quotas {
	return &Quotas{ctx: ctx, kube: client, clients: clients, logger: logger, now: now}
}

// followed has the caches while the setting is on. It adds up what the applications of a namespace are about to use: so a decision takes the same
// time for any number of applications.
type followed struct {
	quotas   *Quotas
	settings func() *config.Config
	scope    *config.Scope
	stop     context.CancelFunc
	watches  []*watch
	classes  *classes.Classes
	// kinds are the kinds of Pods that were used last, by their JSON. Applications with equal Pods share one.
	kinds *lru.Cache

	mutex  sync.Mutex
	limits quota.Limits
	// missing are the numbers of Pods that are about to be created, by namespace and kind of Pods.
	missing map[string]map[*v1alpha1.QuotaPods]int64
}

// unfinished is what the cache has of an application or a cluster.
type unfinished struct {
	metav1.ObjectMeta
	missing []share
}

// share is a number of equal Pods.
type share struct {
	kind  *v1alpha1.QuotaPods
	count int64
}

// Configure starts the informers if the settings need them, and stops them otherwise. current returns the settings by which applications are built.
func (q *Quotas) Configure(settings *config.Config, current func() *config.Config) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	wanted := settings.Complete() && settings.Admission.Quota != config.QuotaOff
	if q.followed != nil && (!wanted || q.followed.scope != settings.Scope) {
		q.followed.stop()
		q.followed = nil
	}
	if wanted && q.followed == nil {
		q.followed = q.follow(settings.Scope, current)
	}
}

func (q *Quotas) follow(scope *config.Scope, current func() *config.Config) *followed {
	ctx, stop := context.WithCancel(q.ctx)
	const maxKinds = 4096
	f := &followed{
		quotas: q, settings: current, scope: scope, stop: stop, kinds: lru.New(maxKinds), classes: classes.Follow(ctx, q.kube, q.logger),
		limits: quota.Limits{}, missing: map[string]map[*v1alpha1.QuotaPods]int64{},
	}
	all := metav1.NamespaceAll
	limits := q.kube.CoreV1().ResourceQuotas(all)
	f.watch(ctx, "resourcequotas", kube.NewSource(q.kube, limits.List, limits.Watch), &corev1.ResourceQuota{}, stripped,
		cache.ResourceEventHandlerFuncs{
			AddFunc: f.setLimit, UpdateFunc: func(_, after any) { f.setLimit(after) }, DeleteFunc: f.removeLimit,
		})
	apache, kubeflow, early := q.clients.SparkV1().SparkApplications(all), q.clients.SparkoperatorV1beta2().SparkApplications(all),
		q.clients.EarlyV1alpha1().SparkApplications(all)
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { f.change(nil, object) },
		UpdateFunc: func(before, after any) { f.change(before, after) },
		DeleteFunc: func(object any) { f.change(object, nil) },
	}
	for _, api := range []struct {
		group  string
		source kube.Source
		kind   runtime.Object
	}{
		{sparkv1.SchemeGroupVersion.Group, kube.NewSource(q.clients, apache.List, apache.Watch), &sparkv1.SparkApplication{}},
		{v1beta2.SchemeGroupVersion.Group, kube.NewSource(q.clients, kubeflow.List, kubeflow.Watch), &v1beta2.SparkApplication{}},
		{earlyv1alpha1.SchemeGroupVersion.Group, kube.NewSource(q.clients, early.List, early.Watch), &earlyv1alpha1.SparkApplication{}},
	} {
		f.watch(ctx, "sparkapplications."+api.group, api.source, api.kind, f.reduce, handler)
	}
	clusters := q.clients.SparkV1().SparkClusters(all)
	f.watch(ctx, "sparkclusters", kube.NewSource(q.clients, clusters.List, clusters.Watch), &sparkv1.SparkCluster{}, f.reduce, handler)
	return f
}

// watch is an informer. It also counts as synced if the API server does not have its kind.
type watch struct {
	registration cache.ResourceEventHandlerRegistration
	errors       kube.WatchErrors
}

func (w *watch) synced() bool {
	return apierrors.IsNotFound(w.errors.Last()) || w.registration.HasSynced()
}

func (f *followed) watch(
	ctx context.Context, what string, source kube.Source, kind runtime.Object, transform cache.TransformFunc,
	handler cache.ResourceEventHandlerFuncs,
) {
	w := &watch{}
	informer := cache.NewSharedInformer(source(func(*metav1.ListOptions) {}), kind, 0)
	logger := f.quotas.logger.With("what", what)
	var err error
	if w.registration, err = informer.AddEventHandler(handler); err == nil {
		err = informer.SetTransform(transform)
	}
	if err == nil {
		err = w.errors.Follow(informer, func(err error) {
			logger.Warnw("quota of config-admission needs the right to list and watch", zap.Error(err))
		})
	}
	if err != nil {
		logger.Fatalw("The webhook cannot be set up", zap.Error(err))
	}
	f.watches = append(f.watches, w)
	go func() {
		// What an object asks for is computed once, and depends on the classes: so these are read first.
		if cache.WaitForCacheSync(ctx.Done(), f.classes.Synced) {
			informer.RunWithContext(ctx)
		}
	}()
}

// stripped removes what no decision needs.
func stripped(object any) (any, error) {
	if limit, ok := object.(*corev1.ResourceQuota); ok {
		limit.ManagedFields, limit.Annotations = nil, nil
	}
	return object, nil
}

func (f *followed) setLimit(object any) {
	limit, ok := object.(*corev1.ResourceQuota)
	if !ok {
		return
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.limits.Set(limit)
}

func (f *followed) removeLimit(object any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		return
	}
	namespace, name, _ := cache.SplitMetaNamespaceKey(key)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.limits.Remove(namespace, name)
}

// reduce returns what the cache has of an application or a cluster. It is the transform of the informers.
func (f *followed) reduce(object any) (any, error) {
	read, ok := object.(check.Object)
	if !ok {
		return object, nil
	}
	reduced := &unfinished{ObjectMeta: metav1.ObjectMeta{
		Namespace: read.GetNamespace(), Name: read.GetName(), UID: read.GetUID(), ResourceVersion: read.GetResourceVersion(),
	}}
	if !f.scope.Selects(labels.Set(read.GetLabels())) {
		return reduced, nil
	}
	for _, pods := range f.missingOf(read) {
		reduced.missing = append(reduced.missing, f.share(pods))
	}
	return reduced, nil
}

// missingOf returns the Pods that an object is about to create. If that panics, the object counts for nothing: a panic in an informer would end the
// process.
func (f *followed) missingOf(object check.Object) (pods []v1alpha1.QuotaPods) {
	defer func() {
		if reason := recover(); reason != nil {
			pods = nil
			f.quotas.logger.Errorw("panic on an object, which counts for no quota", "namespace", object.GetNamespace(), "name", object.GetName(), "panic", reason)
		}
	}()
	asks := func() check.Asks { return check.AsksOf(object, f.settings(), f.quotas.now(), f.admitted) }
	switch object := object.(type) {
	case *sparkv1.SparkCluster: // which has the methods of an application
		return missingOfCluster(object, asks)
	case dialect.Application:
		return missing(object, asks)
	default:
		return nil
	}
}

// admitted returns a Pod as the API server will admit it.
func (f *followed) admitted(pod *corev1.Pod) *corev1.Pod {
	admitted, _ := f.classes.Admitted(pod)
	return admitted
}

// current returns the caches; nil while the setting is off.
func (q *Quotas) current() *followed {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return q.followed
}

// Admitted returns a Pod as the API server will admit it. While the classes are not read, it returns the Pod unchanged.
func (q *Quotas) Admitted(pod *corev1.Pod) *corev1.Pod {
	f := q.current()
	if f == nil {
		return pod
	}
	return f.admitted(pod)
}

// share returns a number of Pods. Equal Pods share one entry of kinds.
func (f *followed) share(pods v1alpha1.QuotaPods) share {
	count := pods.Count
	pods.Count, pods.Unknown = 1, ""
	name, err := json.Marshal(pods)
	if err != nil {
		return share{&pods, count}
	}
	if known, ok := f.kinds.Get(string(name)); ok {
		return share{known.(*v1alpha1.QuotaPods), count}
	}
	f.kinds.Add(string(name), &pods)
	return share{&pods, count}
}

// missing returns the Pods that an application is about to create. While it waits for its launch, these are all of its Pods. From the launch until
// the first executor is ready, these are the executors. The webhook reads no Pods: so during this time, executors that exist count twice, here and in
// the status of the quotas. The controller decides at the launch, and counts each executor once.
func missing(app dialect.Application, asked func() check.Asks) []v1alpha1.QuotaPods {
	record := app.GetRecord()
	if app.GetUndecodable() != "" || record.HasNewerFormat() {
		return nil
	}
	state := lifecycle.CurrentState(record)
	waits := (record == nil || state.Initializing()) && app.GetDeletionTimestamp() == nil
	starts := state.Starting() && state != lifecycle.InitializedBelowThresholdExecutors
	if !waits && !starts {
		return nil
	}
	var asks check.Asks
	if record != nil && record.Quota != nil && len(record.Quota.Pods) <= quota.MaxPods && starts {
		asks.Pods = record.Quota.Pods
	} else {
		asks = asked()
	}
	switch {
	case len(asks.Pods) == 0 || asks.Later:
		return nil
	case waits:
		return asks.Pods
	default:
		return asks.Pods[1:]
	}
}

// missingOfCluster returns the Pods that a cluster is about to create: all of them until it has reserved room. Then it creates them at once.
func missingOfCluster(c *sparkv1.SparkCluster, asked func() check.Asks) []v1alpha1.QuotaPods {
	record := c.Status.Firesteel
	waits := record == nil || cluster.Current(record) == cluster.Submitted && record.Quota != nil && record.Quota.Reserved == nil
	if !waits || c.DeletionTimestamp != nil || c.Undecodable != "" || record.HasNewerFormat() {
		return nil
	}
	asks := asked()
	if asks.Later {
		return nil
	}
	return asks.Pods
}

// change updates the sums after a change of an application or a cluster.
func (f *followed) change(before, after any) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.add(before, -1)
	f.add(after, 1)
}

// add adds the Pods of an application or a cluster to the sums. With times -1 it removes them. The mutex is held.
func (f *followed) add(object any, times int64) {
	if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	stored, ok := object.(*unfinished)
	if !ok || len(stored.missing) == 0 {
		return
	}
	sums := f.missing[stored.Namespace]
	if sums == nil {
		sums = map[*v1alpha1.QuotaPods]int64{}
		f.missing[stored.Namespace] = sums
	}
	for _, share := range stored.missing {
		if sums[share.kind] += times * share.count; sums[share.kind] == 0 {
			delete(sums, share.kind)
		}
	}
	if len(sums) == 0 {
		delete(f.missing, stored.Namespace)
	}
}

// Of returns the quotas of a namespace with what is about to be used of them. known is false until the caches have synced.
func (q *Quotas) Of(namespace string) (n quota.Namespace, known bool) {
	f := q.current()
	if f == nil {
		return n, false
	}
	for _, watch := range f.watches {
		if !watch.synced() {
			return n, false
		}
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if n.Quotas = f.limits.In(namespace); len(n.Quotas) == 0 {
		return n, true
	}
	claim := &v1alpha1.QuotaClaim{}
	for kind, count := range f.missing[namespace] {
		pods := *kind
		pods.Count = count
		claim.Pods = append(claim.Pods, pods)
	}
	n.Reserved = []quota.Application{{Claim: claim}}
	return n, true
}
