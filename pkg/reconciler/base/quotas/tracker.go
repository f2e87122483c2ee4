package quotas

import (
	"context"
	"iter"
	"math"
	"reflect"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/quota"
)

// Tracker has the quotas of all namespaces and the applications with claims on them. It is safe for concurrent use.
type Tracker struct {
	ctx     context.Context
	kube    kubernetes.Interface
	clock   clock.WithDelayedExecution
	logger  *zap.SugaredLogger
	watches *watches

	mutex    sync.Mutex
	settings config.QuotaSettings
	sources  []*Source
	quotas   quota.Limits
	apps     map[string]map[types.UID]*application
	refusals map[types.UID]refusal
	reports  map[types.UID]report
	// queues are the queues that are still valid, by namespace.
	queues map[string]*quota.Queue
	// due are the namespaces whose applications will be woken after wakeDelay. wakes are the times at which those of other namespaces will be.
	due   map[string]bool
	wakes map[string]time.Time
}

// New returns a tracker that watches nothing yet.
func New(ctx context.Context, kube kubernetes.Interface, clock clock.WithDelayedExecution, logger *zap.SugaredLogger) *Tracker {
	return &Tracker{
		ctx: ctx, kube: kube, clock: clock, logger: logger, settings: config.QuotaSettings{Quota: config.QuotaOff},
		quotas: quota.Limits{}, apps: map[string]map[types.UID]*application{}, refusals: map[types.UID]refusal{},
		reports: map[types.UID]report{}, queues: map[string]*quota.Queue{}, due: map[string]bool{}, wakes: map[string]time.Time{}, watches: &watches{},
	}
}

// Source has the applications or the clusters of one API.
type Source struct {
	tracker *Tracker
	// Enqueue requeues an application.
	Enqueue func(types.NamespacedName)
	// Pods returns which Pods of an application's launch exist.
	Pods func(app types.NamespacedName, launch v1alpha1.Launch) Pods
	// Synced reports whether all applications and Pods that existed at the start are known.
	Synced func() bool
}

// Pods are the Pods of a launch that exist.
type Pods struct {
	Driver    bool
	Executors int64
	// Over reports whether the driver has ended.
	Over bool
}

// AddSource adds the applications or the clusters of an API. It is called before any controller starts.
func (t *Tracker) AddSource(source Source) *Source {
	source.tracker = t
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.sources = append(t.sources, &source)
	return &source
}

// State is what the tracker needs to know of an application.
type State struct {
	Object metav1.Object
	Record *v1alpha1.Record
	// Waits reports whether the attempt waits for its launch, and is neither suspended nor deleted nor out of the scope. Active reports
	// whether it may have or create Pods.
	Waits, Active bool
	// Cluster reports whether it is a cluster: the records of clusters have no launch.
	Cluster bool
}

// application is an application with a claim on the quotas.
type application struct {
	source   *Source
	key      types.NamespacedName
	claim    *v1alpha1.QuotaClaim
	launch   v1alpha1.Launch // empty if it has none
	waits    bool
	reserved bool
	// order is the resourceVersion of the write that reserved room; zero if that is not known exactly.
	order uint64
	// shortSince is since when the quotas have had no room for its missing executors. short reports whether that has lasted for shortAfter.
	shortSince time.Time
	short      bool
	// complete reports whether it has had all planned executors at once. Spark may have removed some since then.
	complete bool
}

// Set stores the state of an application. exact reports whether its earlier state was known: then its resourceVersion is that of the write that
// made the difference.
func (s *Source) Set(state State, exact bool) {
	s.tracker.mutex.Lock()
	defer s.tracker.mutex.Unlock()
	s.set(state, exact)
}

// Reread stores the states of applications again, if something else than their objects has changed them. It holds the mutex while states are read
// from the cache: so no state is older than one that Set has stored.
func (s *Source) Reread(states iter.Seq[State]) {
	s.tracker.mutex.Lock()
	defer s.tracker.mutex.Unlock()
	for state := range states {
		s.set(state, false)
	}
}

// States returns the states of the objects of a cache. It lists the cache during the iteration.
func States[O any](list func() []any, state func(O) State) iter.Seq[State] {
	return func(yield func(State) bool) {
		for _, object := range list() {
			if o, ok := object.(O); ok && !yield(state(o)) {
				return
			}
		}
	}
}

// set stores a state. The mutex is held.
func (s *Source) set(state State, exact bool) {
	t := s.tracker
	namespace, uid := state.Object.GetNamespace(), state.Object.GetUID()
	before, after := t.apps[namespace][uid], s.applicationOf(state)
	switch {
	case after == nil && before != nil:
		t.remove(namespace, uid)
		return
	case after == nil:
		return
	}
	renewed := true
	if before != nil {
		after.order, after.shortSince, after.short = before.order, before.shortSince, before.short
		if renewed = !before.reserved || !before.claim.Reserved.Equal(after.claim.Reserved); !renewed {
			after.complete = after.complete || before.complete
		}
	}
	if after.reserved && renewed {
		if after.order = 0; exact {
			after.order = versionOf(state.Object)
		}
		if after.launch.DriverUID == "" {
			s.Enqueue(after.key) // the watch has delivered the reservation: it can be confirmed
		}
	}
	if t.apps[namespace] == nil {
		t.apps[namespace] = map[types.UID]*application{}
	}
	t.apps[namespace][uid] = after
	if after.waits && (before == nil || !before.waits) && len(t.quotas[namespace]) == 0 {
		s.Enqueue(after.key) // the last quota was deleted after it was decided that the application waits
	}
	switch queue := t.queues[namespace]; {
	case before != nil && before.sameAs(after):
	case before == nil && after.waits && queue != nil && queue.Append(t.of(uid, after)):
		t.wakeSoon(namespace)
	default:
		t.changed(namespace)
	}
}

// applicationOf returns the application of a state; nil if it has no claim on the quotas.
func (s *Source) applicationOf(state State) *application {
	record := state.Record
	if record == nil || record.Quota == nil || len(record.Quota.Pods) > quota.MaxPods {
		return nil
	}
	launched := record.Launch != nil || state.Cluster && record.Quota.Reserved != nil
	app := &application{
		source: s, key: kube.KeyOf(state.Object), claim: record.Quota,
		waits: state.Waits && !launched, reserved: state.Active && launched && record.Quota.Reserved != nil,
		complete: record.Quota.Complete && record.Quota.Elastic,
	}
	if record.Launch != nil {
		app.launch = *record.Launch
	}
	if !app.waits && !app.reserved {
		return nil
	}
	return app
}

// sameAs reports whether nothing of an application has changed that decisions depend on.
func (a *application) sameAs(after *application) bool {
	return a.waits == after.waits && a.reserved == after.reserved && a.complete == after.complete && a.order == after.order &&
		quota.SameClaim(a.claim, after.claim) && reflect.DeepEqual(a.launch, after.launch)
}

// changed discards the computed queue of a namespace, and wakes the applications for which there is room. The mutex is held.
func (t *Tracker) changed(namespace string) {
	delete(t.queues, namespace)
	t.wakeSoon(namespace)
}

// versionOf returns the resourceVersion of an object as a number. Zero stands for one that is none.
func versionOf(object metav1.Object) uint64 {
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}

// Forget forgets a deleted application.
func (s *Source) Forget(object metav1.Object) {
	t := s.tracker
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.refusals, object.GetUID())
	delete(t.reports, object.GetUID())
	if t.apps[object.GetNamespace()][object.GetUID()] != nil {
		t.remove(object.GetNamespace(), object.GetUID())
	}
}

// PodsChanged must be called when the driver or an executor of a namespace was created, ended or was deleted.
func (s *Source) PodsChanged(namespace string) {
	t := s.tracker
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.changed(namespace)
}

func (t *Tracker) remove(namespace string, uid types.UID) {
	if delete(t.apps[namespace], uid); len(t.apps[namespace]) == 0 {
		delete(t.apps, namespace)
	}
	t.changed(namespace)
}

// lateAfter is the time after which a hold reports that the quotas are not known. The first list takes a moment.
const lateAfter = 10 * time.Second

// late reports whether Ready should have been true for a while.
func (t *Tracker) late() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.watches.quotas != nil && t.clock.Since(t.watches.since) >= lateAfter
}

// Ready reports whether the tracker knows enough for claims and decisions. It is false while the setting is off: a reconcile may see a change of the
// settings before the tracker does.
func (t *Tracker) Ready() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.watches.quotas == nil {
		return false
	}
	for _, source := range t.sources {
		if !source.Synced() {
			return false
		}
	}
	return t.watches.quotas.synced() && t.watches.classes.Synced()
}

// Limits reports whether a namespace has quotas that are compared with what an application asks for.
func (t *Tracker) Limits(namespace string) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return len(t.quotas[namespace]) > 0
}

// decide decides whether an application without a reservation may reserve room.
func (t *Tracker) decide(app metav1.Object, claim *v1alpha1.QuotaClaim) quota.Decision {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.queue(app.GetNamespace()).Decide(quota.Application{UID: app.GetUID(), Claim: claim, RefusedUntil: t.refusedUntil(app.GetUID())})
}

// queue returns the queue of a namespace. It computes the queue only if it may have changed. The mutex is held.
func (t *Tracker) queue(namespace string) *quota.Queue {
	now, queue := t.clock.Now(), t.queues[namespace]
	if queue == nil || !queue.Ends().IsZero() && !now.Before(queue.Ends()) {
		queue = t.namespace(namespace).Queue(now, t.settings.QuotaOvertake)
		t.queues[namespace] = queue
	}
	return queue
}

// confirm decides whether an application with a reservation may launch. known is false if the watch has not delivered the reservation yet: then the
// application is enqueued when it does.
func (t *Tracker) confirm(app metav1.Object, claim *v1alpha1.QuotaClaim) (decision quota.Decision, known bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	own := t.apps[app.GetNamespace()][app.GetUID()]
	if own == nil || !own.reserved || !own.claim.Reserved.Equal(claim.Reserved) {
		return quota.Decision{}, false
	}
	reserved := quota.Application{UID: app.GetUID(), Claim: claim, Order: own.order}
	if own.order == 0 {
		reserved.Order = math.MaxUint64
	}
	return t.queue(app.GetNamespace()).Confirm(reserved), true
}

// ExecutorsLack returns the resources of quotas without room for executors of an application; nil if there was room within the last shortAfter.
func (s *Source) ExecutorsLack(app metav1.Object) []quota.Lack {
	t := s.tracker
	t.mutex.Lock()
	defer t.mutex.Unlock()
	own := t.apps[app.GetNamespace()][app.GetUID()]
	if own == nil || !own.short {
		return nil
	}
	return quota.Namespace{Quotas: t.quotas.In(app.GetNamespace())}.ExecutorsLack(t.of(app.GetUID(), own))
}

// namespace returns what is known of a namespace.
func (t *Tracker) namespace(name string) quota.Namespace {
	n := quota.Namespace{Quotas: t.quotas.In(name)}
	for uid, app := range t.apps[name] {
		if app.waits {
			n.Waiting = append(n.Waiting, t.of(uid, app))
		} else {
			n.Reserved = append(n.Reserved, t.of(uid, app))
		}
	}
	return n
}

// of returns an application with its Pods. The mutex is held.
func (t *Tracker) of(uid types.UID, known *application) quota.Application {
	app := quota.Application{UID: uid, Claim: known.claim, Order: known.order, RefusedUntil: t.refusedUntil(uid)}
	if known.reserved {
		pods := known.source.Pods(known.key, known.launch)
		app.Driver, app.Executors, app.Over = pods.Driver, pods.Executors, pods.Over
		if planned := known.claim.Pods; known.claim.Elastic && !known.complete && len(planned) > 1 && pods.Executors >= planned[1].Count {
			known.complete = true
			known.source.Enqueue(known.key) // to write it into the record
		}
		app.Complete = known.complete
	}
	return app
}

// Complete reports whether an application with dynamic allocation has had all planned executors at once.
func (s *Source) Complete(app metav1.Object) bool {
	t := s.tracker
	t.mutex.Lock()
	defer t.mutex.Unlock()
	own := t.apps[app.GetNamespace()][app.GetUID()]
	return own != nil && own.complete
}

// refusal counts the refusals of an application's objects for a quota. until is until when its launch waits.
type refusal struct {
	count int
	until time.Time
}

const (
	firstRefusal = time.Second
	maxRefusal   = time.Minute
)

// Refused records that the API server refused an object of a launch for a quota, and returns until when the launch waits. Either the cache of the
// quotas is stale, or a quota of other objects than Pods is full.
func (t *Tracker) Refused(app metav1.Object) (until time.Time) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	known := t.refusals[app.GetUID()]
	known.until = t.clock.Now().Add(min(firstRefusal<<min(known.count, 16), maxRefusal))
	known.count++
	t.refusals[app.GetUID()] = known
	t.changed(app.GetNamespace())
	return known.until
}

// RefusedUntil returns until when a launch waits after such a refusal; zero if it does not.
func (t *Tracker) RefusedUntil(app types.UID) time.Time {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.refusedUntil(app)
}

func (t *Tracker) refusedUntil(app types.UID) time.Time {
	if known, ok := t.refusals[app]; ok && t.clock.Now().Before(known.until) {
		return known.until
	}
	return time.Time{}
}

// Launched forgets the refusals of an application whose launch is complete.
func (t *Tracker) Launched(app types.UID) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.refusals, app)
	delete(t.reports, app)
}
