package archiver

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/archive"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/fairshare"
	"github.com/firesteel-dev/firesteel/pkg/handlers/lookup"
	"github.com/firesteel-dev/firesteel/pkg/kube"
)

const (
	// followLease is the lease of the process that follows logs.
	followLease = "firesteel-archive-follower"
	// The times of the lease are those of the controller's leases.
	leaseDuration, renewDeadline, retryPeriod = 15 * time.Second, 10 * time.Second, 2 * time.Second
	// settingsCheck is how often the follower looks whether its settings changed.
	settingsCheck = 2 * time.Second
	// maxWaitingStreams bounds the logs that wait until they can be followed, and maxWaitingPerNamespace those of one namespace.
	maxWaitingStreams, maxWaitingPerNamespace = 2000, 1000
	// maxFlushes bounds the logs that are stored at once.
	maxFlushes = 8
	// sparkPods selects the Pods of applications, and withClusters those of clusters, too.
	sparkPods, withClusters = "spark-role in (driver, executor)", "spark-role in (driver, executor, master, worker)"
)

// Follower stores logs while their containers run, for follow in config-archive. Of several processes, one does: it holds a lease. What it stores may be
// stored again by another one, since logs are resumed.
type Follower struct {
	*Archiver
	clients kube.Clients
	apis    map[string]*applications.API
	served  lookup.Namespaces
	// here reports whether the handler archive is one of this process.
	here func() bool
	lock resourcelock.Interface
}

// NewFollower creates a follower. namespace is that of Firesteel, for the lease.
func NewFollower(
	clients kube.Clients, core corev1client.CoreV1Interface, leases coordinationv1client.LeasesGetter, namespace string, stores *archive.Stores,
	settings func() *config.Config, namespaces lookup.Namespaces, here func() bool,
) *Follower {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown" // the identity is unique without it
	}
	return &Follower{
		Archiver: newArchiver(core, stores, settings, clock.RealClock{}), clients: clients, apis: applications.All(clients), served: namespaces, here: here,
		lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: followLease}, Client: leases,
			LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + uuid.NewString()},
		},
	}
}

// followSettings are the settings with which a follower runs. A change starts it anew.
type followSettings struct {
	drivers, executors, clusters bool
	streams                      int
	flushInterval                time.Duration
	// namespaces are the namespaces that it may read, each with a comma behind it; empty for all.
	namespaces string
}

func (f *Follower) present() followSettings {
	settings := f.settings()
	of := settings.Archive
	present := followSettings{
		drivers: of.DriverLogs == config.LogsFollow, executors: of.ExecutorLogs == config.LogsFollow, clusters: of.ClusterLogs == config.LogsFollow,
		streams: of.OpenStreams, flushInterval: of.FlushInterval,
	}
	if !f.here() || len(of.URLs()) == 0 || !present.drivers && !present.executors && !present.clusters {
		return followSettings{}
	}
	for _, namespace := range settings.Scope.OnlyNamespaces() {
		present.namespaces += namespace + ","
	}
	return present
}

// shares returns how many logs of drivers, of executors and of clusters are followed at once. Daemons of clusters run for long, and many executors may run:
// both leave streams to others.
func (s followSettings) shares() (drivers, executors, clusters int) {
	const ofClusters, ofExecutors = 4, 2 // the divisors of their shares
	left := s.streams
	if clusters = left; s.clusters && (s.drivers || s.executors) {
		clusters = max(left/ofClusters, 1)
		left = max(left-clusters, 1)
	}
	if drivers, executors = left, left; s.drivers && s.executors {
		executors = max(left/ofExecutors, 1)
		drivers = max(left-executors, 1)
	}
	return drivers, executors, clusters
}

// Run follows logs until ctx ends, if the settings ask for that.
func (f *Follower) Run(ctx context.Context) {
	var current followSettings
	stop := func() {}
	check := time.NewTicker(settingsCheck)
	defer check.Stop()
	for {
		if present := f.present(); present != current {
			stop()
			if current, stop = present, func() {}; present != (followSettings{}) {
				stop = f.begin(ctx, present)
			}
		}
		select {
		case <-check.C:
		case <-ctx.Done():
			stop()
			return
		}
	}
}

// begin follows logs whenever this process holds the lease. It returns a function that ends this.
func (f *Follower) begin(ctx context.Context, settings followSettings) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if err := guarded(ctx, func() error { return f.lead(ctx, settings) }); err != nil {
				logging.FromContext(ctx).Errorw("logs cannot be followed", zap.Error(err))
				return
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// lead waits for the lease, and follows logs while it holds it.
func (f *Follower) lead(ctx context.Context, settings followSettings) error {
	leading := make(chan context.Context, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: f.lock, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod, ReleaseOnCancel: true, Name: followLease,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(ctx context.Context) { leading <- ctx }, OnStoppedLeading: func() {}},
	})
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		elector.Run(ctx)
	}()
	select {
	case ctx := <-leading:
		newFollowing(ctx, f, settings).run()
	case <-ended:
	}
	<-ended
	return nil
}

// following is the work of a follower that holds the lease.
type following struct {
	*Follower
	ctx context.Context //nolint:containedctx // it is the life of the lease
	how followSettings
	// driverSlots, executorSlots and clusterSlots bound the streams, and waiting and clusterWaiting the logs that wait for one. flushes bounds what is stored
	// at once.
	driverSlots, executorSlots, clusterSlots *fairshare.Limiter
	waiting, clusterWaiting                  *fairshare.Limiter
	flushes                                  chan struct{}
	streams                                  sync.WaitGroup

	mu sync.Mutex
	// drivers holds the driver Pods, by uid.
	drivers map[types.UID]*sparkPod
	// attempts holds the attempts that are followed, by the uids of their driver Pods.
	attempts map[types.UID]*followedAttempt
	// clusters holds the clusters that exist.
	clusters map[types.NamespacedName]*followedCluster
	logs     map[logKey]*followedLog
}

func newFollowing(ctx context.Context, f *Follower, settings followSettings) *following {
	drivers, executors, clusters := settings.shares()
	waiting := func() *fairshare.Limiter {
		return fairshare.NewShared(maxWaitingStreams, maxWaitingPerNamespace, freeShare)
	}
	return &following{
		Follower: f, ctx: ctx, how: settings, driverSlots: fairshare.NewShared(drivers, drivers, freeShare),
		executorSlots: fairshare.NewShared(executors, executors, freeShare), clusterSlots: fairshare.NewShared(clusters, clusters, freeShare),
		waiting: waiting(), clusterWaiting: waiting(), flushes: make(chan struct{}, maxFlushes), drivers: map[types.UID]*sparkPod{},
		attempts: map[types.UID]*followedAttempt{}, clusters: map[types.NamespacedName]*followedCluster{}, logs: map[logKey]*followedLog{},
	}
}

// run watches the Pods of Spark until the lease ends, and returns when what was read is stored.
func (f *following) run() {
	namespaces := strings.FieldsFunc(f.how.namespaces, func(r rune) bool { return r == ',' })
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	var informers sync.WaitGroup
	for _, namespace := range namespaces {
		informers.Go(func() { f.informer(namespace).RunWithContext(f.ctx) })
		if f.how.clusters {
			informers.Go(func() { f.clusterInformer(namespace).RunWithContext(f.ctx) })
		}
	}
	if f.how.clusters {
		informers.Go(f.renewClusters)
	}
	<-f.ctx.Done()
	informers.Wait()
	f.streams.Wait()
}

func (f *following) informer(namespace string) cache.Controller {
	pods, selector := f.core.Pods(namespace), sparkPods
	if f.how.clusters {
		selector = withClusters
	}
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: kube.NewSource(f.core, pods.List, pods.Watch)(func(options *metav1.ListOptions) { options.LabelSelector = selector }),
		ObjectType:    &corev1.Pod{},
		Transform:     stripSparkPod,
		Handler:       handlerOf(f.observe, f.gone),
	})
	return informer
}

// handlerOf returns a handler that observes objects that are there, and notes which are gone. The next Pod of a StatefulSet has the same name.
func handlerOf[O metav1.Object](observe, gone func(O)) cache.ResourceEventHandler {
	return kube.ByObject(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { observe(object.(O)) },
		UpdateFunc: func(_, object any) { observe(object.(O)) },
		DeleteFunc: func(object any) {
			if last, ok := kube.LastKnown(object).(O); ok {
				gone(last)
			}
		},
	})
}

// sparkPod is what the follower reads of a Pod of Spark.
type sparkPod struct {
	// ObjectMeta is its identity: its name, UID, resourceVersion and time of creation.
	metav1.ObjectMeta
	role  string
	owner metav1.OwnerReference
	// cluster is the name of its cluster, for a master and a worker.
	cluster string
	// runs are the runs of its containers that have begun and not ended; in a cluster, where nothing else reads the rest of them, also those that have ended.
	// restarts is how often each container was restarted.
	runs     []containerRun
	restarts map[string]int32
}

// containerRun is a run of a container.
type containerRun struct {
	container string
	restart   int32
	started   time.Time
	ended     bool
}

// run returns the run of a container with a log; nil if the Pod does not have it.
func (p *sparkPod) run(key logKey) *containerRun {
	i := slices.IndexFunc(p.runs, func(run containerRun) bool { return run.container == key.container && run.restart == key.restart })
	if i < 0 {
		return nil
	}
	return &p.runs[i]
}

// stripSparkPod transforms a corev1.Pod of the informer.
func stripSparkPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	stripped := &sparkPod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion, CreationTimestamp: pod.CreationTimestamp,
		},
		role: pod.Labels[roleLabel], restarts: map[string]int32{},
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		stripped.owner = metav1.OwnerReference{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID}
	}
	stripped.cluster = clusterOf(pod, stripped.owner)
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		stripped.restarts[status.Name] = status.RestartCount
		if status.State.Running != nil {
			stripped.runs = append(stripped.runs, containerRun{status.Name, status.RestartCount, status.State.Running.StartedAt.Time, false})
		}
		if stripped.cluster != "" {
			stripped.runs = append(stripped.runs, endedRuns(status)...)
		}
	}
	return stripped, nil
}

const (
	// roleLabel is Spark's label of the role of a Pod.
	roleLabel = "spark-role"
	// sparkApplication is the kind of the owners of driver Pods.
	sparkApplication = "SparkApplication"
)

// observe follows the logs of the containers of a Pod that run, and notes which have ended.
func (f *following) observe(pod *sparkPod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	driver := pod.owner.UID
	if pod.role == archive.RoleDriver {
		driver = pod.UID
		f.drivers[pod.UID] = pod
	}
	if known := f.clusters[types.NamespacedName{Namespace: pod.Namespace, Name: pod.cluster}]; known != nil {
		known.noteMember(pod)
	}
	for key, log := range f.logs {
		if key.pod != pod.UID {
			continue
		}
		run := pod.run(key)
		if log.listed = run != nil; run == nil || run.ended {
			f.end(key, log, pod.restarts[key.container]-key.restart, false)
		}
	}
	if f.ctx.Err() != nil || !f.follows(pod) {
		return
	}
	for _, run := range pod.runs {
		key := logKey{pod.UID, run.container, run.restart}
		if f.logs[key] != nil {
			continue
		}
		waiting := f.waiting
		if pod.cluster != "" {
			waiting = f.clusterWaiting
		}
		leave, ok := waiting.TryAcquire(pod.Namespace)
		if !ok {
			continue // it is stored at the end; that of a cluster is tried again
		}
		log := newFollowedLog(pod, run, driver)
		f.logs[key] = log
		f.streams.Go(func() {
			defer leave()
			defer f.done(key)
			if err := guarded(f.ctx, func() error { return f.follow(log) }); err != nil && f.ctx.Err() == nil {
				logging.FromContext(f.ctx).Warnw("log not followed to its end", "namespace", pod.Namespace, "pod", pod.Name, "container", run.container, zap.Error(err))
			}
		})
	}
}

// follows reports whether the settings ask to follow the logs of a Pod.
func (f *following) follows(pod *sparkPod) bool {
	switch {
	case f.settings().Archive.URLOf(pod.Namespace) == "":
		return false
	case pod.role == archive.RoleDriver:
		return f.how.drivers && pod.owner.Kind == sparkApplication
	case pod.role == archive.RoleExecutor:
		return f.how.executors && pod.owner.Kind == "Pod"
	default:
		return f.how.clusters && pod.cluster != ""
	}
}

// gone notes that a Pod is gone.
func (f *following) gone(pod *sparkPod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.drivers, pod.UID)
	delete(f.attempts, pod.UID)
	for key, log := range f.logs {
		if key.pod == pod.UID {
			log.listed = false
			f.end(key, log, 0, true)
		}
	}
}

// end notes that the container of a log has ended.
func (f *following) end(key logKey, log *followedLog, later int32, lost bool) {
	if log.ended(later, lost); log.done && !log.listed {
		delete(f.logs, key)
	}
}

// done notes that a log is not followed any more. While its Pod shows its run, that is remembered.
func (f *following) done(key logKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := f.logs[key]
	if log == nil {
		return
	}
	if log.done = true; log.isOver() && !log.listed {
		delete(f.logs, key)
	}
}
