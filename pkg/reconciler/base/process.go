package base

import (
	"context"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/config/knative"
	"github.com/firesteel-dev/firesteel/pkg/events"
)

// NewRelay makes the relay that tells of the objects of a controller, of those that are owned. progress is to be called when
// there is news of one. namespaces tells what the settings' scope may ask.
type NewRelay func(
	ctx context.Context, store *config.Store, namespaces config.NamespaceLabels, owned func(events.Object) bool,
	progress func(types.NamespacedName),
) *events.Relay

// Process is what the controllers of a process share. They are made one after the other.
type Process struct {
	// StartBacklog is of the schedules' runs.
	StartBacklog StartBacklog

	newRelay NewRelay

	store      *config.Store
	namespaces *namespaces
	listeners  []Listener
}

// Listener is told of what a controller is to follow.
type Listener struct {
	// SettingsChanged have changed.
	SettingsChanged func(before, after *config.Config)
	// NamespaceChanged is a namespace whose objects may have come into the scope, or left it.
	NamespaceChanged func(namespace string)
}

// NewProcess has the controllers make their relays by newRelay.
func NewProcess(newRelay NewRelay) *Process { return &Process{newRelay: newRelay} }

// NamespaceLabels tells the labels of a namespace, where the settings ask for them.
func (p *Process) NamespaceLabels(namespace string) (labels.Set, bool) {
	return p.namespaces.labels(namespace)
}

// Relay makes the relay of a controller, once the settings are known.
func (p *Process) Relay(ctx context.Context, owned Owned, progress func(types.NamespacedName)) *events.Relay {
	return p.newRelay(ctx, p.store, p.NamespaceLabels,
		func(object events.Object) bool { return owned(object.Key(), object.UID) }, progress)
}

// SettingsChanged is the store of settings, whose changes act at once: the follower is told of each. What is refused is told on
// its ConfigMap.
func (p *Process) Settings(ctx context.Context, watcher configmap.Watcher, its Listener) *config.Store {
	p.listeners = append(p.listeners, its)
	if p.store != nil {
		return p.store
	}
	logger, recorder := logging.FromContext(ctx).Named("config"), controller.GetEventRecorder(ctx)
	refused := func(configMap *corev1.ConfigMap, err error) {
		recorder.Event(configMap, corev1.EventTypeWarning, "SettingRefused", "What was before stays. "+err.Error())
	}
	knative.Watch(watcher, func(configMap *corev1.ConfigMap, err error) {
		logger.Errorw("A change of the configuration cannot be used: the next start would fail", "error", err)
		refused(configMap, err)
	})
	p.store = config.NewStore(logger, func(before, after *config.Config) {
		logScopeChange(logger, before.Scope, after.Scope)
		if after.Scope.UsesNamespaceLabels() {
			p.namespaces.watch(ctx)
		}
		for _, its := range p.listeners {
			its.SettingsChanged(before, after)
		}
	}, refused)
	p.namespaces = newNamespaces(ctx, kubeclient.Get(ctx),
		func(its labels.Set) bool { return p.store.Load().Scope.SelectsNamespace(its) },
		func(namespace string) {
			for _, its := range p.listeners {
				its.NamespaceChanged(namespace)
			}
		})
	p.store.WatchConfigs(watcher)
	return p.store
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
