package base

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/config/knative"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/namespaces"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/quotas"
)

// NewRelay makes the relay that publishes the events of a controller's objects, if they are owned. The relay calls progress when
// the delivery of an object's events has progressed. namespaces returns the labels that the scope selects by.
type NewRelay func(
	ctx context.Context, store *config.Store, namespaces config.NamespaceLabels, owned func(events.Object) bool,
	progress func(types.NamespacedName),
) *events.Relay

// Process is what the controllers of a process share. The controllers are made one after the other.
type Process struct {
	// DueRuns are the schedules whose run is due and not created yet. Meanwhile runs that exist wait for their launch: to create a run
	// costs little, to launch one costs much.
	DueRuns Burst
	// FirstLaunches are the applications that no reconcile has handled yet. In a burst, status writes and releases of others wait for a moment.
	FirstLaunches Burst

	newRelay NewRelay
	started  Started
	restart  func()

	store      *config.Store
	namespaces *namespaceLabels
	quotas     *quotas.Tracker
	listeners  []Listener

	stopping atomic.Bool
	settled  []func() bool
}

// Listener is what a controller does when the settings, or the labels of a namespace, change.
type Listener struct {
	// SettingsChanged is called after each change of the settings.
	SettingsChanged func(before, after *config.Config)
	// NamespaceChanged is called if the objects of a namespace may have come into the scope, or left it, or have other defaults.
	NamespaceChanged func(namespace string)
}

// Started are the settings that a process cannot change while it runs.
type Started struct {
	// OnlyNamespaces are those that the informers read; nil if they read all. Informers that run would show objects of other ones, which are
	// old, as new.
	OnlyNamespaces []string
	// NamespaceHandler reports whether the process has the controller that asks the namespace handler.
	NamespaceHandler bool
}

// StartedWith returns the settings for a process that starts.
func StartedWith(scope *config.Scope, handlers *config.Handlers) Started {
	return Started{OnlyNamespaces: scope.OnlyNamespaces(), NamespaceHandler: handlers.Requested(namespaces.Handler) && scope.OnlyNamespaces() == nil}
}

func (s Started) equals(other Started) bool {
	return slices.Equal(s.OnlyNamespaces, other.OnlyNamespaces) && s.NamespaceHandler == other.NamespaceHandler
}

// NewProcess returns a process whose controllers make their relays by newRelay. It has started with some settings. If these become others,
// restart is called.
func NewProcess(newRelay NewRelay, started Started, restart func()) *Process {
	return &Process{FirstLaunches: Burst{Window: launchesWindow}, newRelay: newRelay, started: started, restart: restart}
}

// Started returns the settings that the process has started with.
func (p *Process) Started() Started { return p.started }

const (
	// settlePeriod is how often a process that stops looks whether it may. It is longer than most reconciles, so that it sees a fence of
	// each that had begun.
	settlePeriod = 100 * time.Millisecond
	// settleLimit bounds that wait. A status write that yields to first launches waits for up to 1.5 s, and a busy API server takes seconds
	// to answer it. With the release of the leases that follows, it is less than half of a Pod's usual grace.
	settleLimit = 8 * time.Second
)

// BeforeStop adds a condition for the end of the process. It is called before the start.
func (p *Process) BeforeStop(settled func() bool) { p.settled = append(p.settled, settled) }

// Stopping reports whether the process is about to end.
func (p *Process) Stopping() bool { return p.stopping.Load() }

// Settle leaves new objects to the next leader, and waits until all conditions of BeforeStop hold, for a while at most. After that, the
// leases can be released: the next leader, which may be an older version, finds in the records what was begun.
func (p *Process) Settle(ctx context.Context) {
	p.stopping.Store(true)
	p.FirstLaunches.End()
	// An error means that time is over. The next leader then finishes what was begun.
	_ = wait.PollUntilContextTimeout(ctx, settlePeriod, settleLimit, false, func(context.Context) (bool, error) {
		return !slices.ContainsFunc(p.settled, func(settled func() bool) bool { return !settled() }), nil
	})
}

// launchesWindow is the time within which the arrival of many applications is a burst. A busy API server takes some 30 new applications
// in a second: with a shorter window, a burst that slows it down would end itself.
const launchesWindow = 3 * time.Second

// NamespaceLabels returns the labels of a namespace, if the scope selects by labels and the namespace is known.
func (p *Process) NamespaceLabels(namespace string) (labels.Set, bool) {
	return p.namespaces.labels(namespace)
}

// Relay makes the relay of a controller. Settings is called before.
func (p *Process) Relay(ctx context.Context, owned Owned, progress func(types.NamespacedName)) *events.Relay {
	return p.newRelay(ctx, p.store, p.NamespaceLabels,
		func(object events.Object) bool { return owned(object.Key(), object.UID) }, progress)
}

// Listen adds a listener. It is called from the start of the process on, when all controllers are made.
func (p *Process) Listen(listener Listener) { p.listeners = append(p.listeners, listener) }

// Settings returns the store of the settings, which all controllers share. A change takes effect at once. A change that is refused
// is reported on its ConfigMap.
func (p *Process) Settings(ctx context.Context, watcher configmap.Watcher) *config.Store {
	if p.store != nil {
		return p.store
	}
	logger, recorder := logging.FromContext(ctx).Named("config"), controller.GetEventRecorder(ctx)
	refused := func(configMap *corev1.ConfigMap, err error) {
		why := diagnosis.SettingRefused(err)
		recorder.Event(configMap, corev1.EventTypeWarning, why.Reason, why.Message())
	}
	knative.Watch(watcher, func(configMap *corev1.ConfigMap, err error) {
		logger.Errorw("invalid change of the configuration is ignored, and the next start would fail: correct the ConfigMap",
			"configMap", configMap.Namespace+"/"+configMap.Name, "error", err)
		refused(configMap, err)
	})
	p.store = config.NewStore(logger, func(before, after *config.Config) {
		logScopeChange(logger, before.Scope, after.Scope)
		if after.Complete() && !p.started.equals(StartedWith(after.Scope, after.Handlers)) {
			p.restart()
		}
		if after.Scope.UsesNamespaceLabels() {
			p.namespaces.watch(ctx)
		}
		for _, listener := range p.listeners {
			listener.SettingsChanged(before, after)
		}
	}, refused)
	p.namespaces = newNamespaces(ctx, kubeclient.Get(ctx),
		func(found labels.Set) bool { return p.store.Load().Scope.SelectsNamespace(found) },
		func(namespace string) {
			for _, listener := range p.listeners {
				listener.NamespaceChanged(namespace)
			}
		})
	core := kubeclient.Get(ctx)
	configMaps := core.CoreV1().ConfigMaps(metav1.NamespaceAll)
	Must(ctx, p.store.FollowNamespaces(ctx, kube.NewSource(core, configMaps.List, configMaps.Watch), func(namespace string) {
		logger.Infow("defaults of a namespace changed", "namespace", namespace)
		for _, listener := range p.listeners {
			listener.NamespaceChanged(namespace)
		}
	}))
	p.store.WatchConfigs(watcher)
	return p.store
}

// Quotas returns the tracker of quotas, which all controllers share. Settings is called before.
func (p *Process) Quotas(ctx context.Context) *quotas.Tracker {
	if p.quotas == nil {
		p.quotas = quotas.New(ctx, kubeclient.Get(ctx), clock.RealClock{}, logging.FromContext(ctx).Named("quotas"))
		p.quotas.Configure(p.store.Load().Admission.QuotaSettings)
		p.Listen(Listener{
			SettingsChanged:  func(_, after *config.Config) { p.quotas.Configure(after.Admission.QuotaSettings) },
			NamespaceChanged: func(string) {},
		})
	}
	return p.quotas
}

func logScopeChange(logger *zap.SugaredLogger, before, after *config.Scope) {
	if before.Namespaces() != after.Namespaces() {
		logger.Infof("Updating operator namespaces to %s", after.Namespaces()) // in the Apache operator's words
	}
	if before.NamespaceSelector() != after.NamespaceSelector() {
		logger.Infof("Updating operator namespace selector to %q", after.NamespaceSelector())
	}
	if before.Selector() != after.Selector() {
		logger.Infof("Updating operator label selector to %q", after.Selector())
	}
}
