package application

import (
	"context"
	"reflect"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate"
)

// Process is what the controllers of a process share. They are made one after the other.
type Process struct {
	newRelay NewRelay
	fetch    podtemplate.Fetch

	store      *config.Store
	namespaces *namespaces
	followers  []follower
}

// follower is told of what a controller is to follow.
type follower struct {
	// settings have changed.
	settings func(before, after *config.Config)
	// moved is a namespace whose applications may have come into the scope, or left it.
	moved func(namespace string)
}

// NewProcess has the controllers make their relays by newRelay and fetch pod templates by fetch.
func NewProcess(newRelay NewRelay, fetch podtemplate.Fetch) *Process {
	return &Process{newRelay: newRelay, fetch: fetch}
}

// NamespaceLabels tells the labels of a namespace, where the settings ask for them.
func (p *Process) NamespaceLabels(namespace string) (labels.Set, bool) {
	return p.namespaces.labels(namespace)
}

// FollowNamespaces tells of namespaces whose objects may have come into the scope, or left it. It is to be asked before the
// settings are watched.
func (p *Process) FollowNamespaces(moved func(namespace string)) {
	p.followers = append(p.followers, follower{settings: func(_, _ *config.Config) {}, moved: moved})
}

// settings is the store of settings, whose changes act at once: the follower is told of each. What is refused is told on
// its ConfigMap.
func (p *Process) settings(ctx context.Context, watcher configmap.Watcher, its follower) *config.Store {
	p.followers = append(p.followers, its)
	if p.store != nil {
		return p.store
	}
	logger, recorder := logging.FromContext(ctx).Named("config"), controller.GetEventRecorder(ctx)
	refused := func(configMap *corev1.ConfigMap, err error) {
		recorder.Event(configMap, corev1.EventTypeWarning, "SettingRefused", "What was before stays. "+err.Error())
	}
	config.WatchKnatives(watcher, func(configMap *corev1.ConfigMap, err error) {
		logger.Errorw("A change of the configuration cannot be used: the next start would fail", "error", err)
		refused(configMap, err)
	})
	p.store = config.NewStore(logger, func(before, after *config.Config) {
		tellOfScope(logger, before.Scope, after.Scope)
		if after.Scope.AsksForNamespaces() {
			p.namespaces.watch(ctx)
		}
		for _, its := range p.followers {
			its.settings(before, after)
		}
	}, refused)
	p.namespaces = newNamespaces(ctx, kubeclient.Get(ctx),
		func(its labels.Set) bool { return p.store.Load().Scope.SelectsNamespace(its) },
		func(namespace string) {
			for _, its := range p.followers {
				its.moved(namespace)
			}
		})
	p.store.WatchConfigs(watcher)
	return p.store
}

func tellOfScope(logger *zap.SugaredLogger, before, after *config.Scope) {
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

// follow has the applications looked at that a change of the settings concerns: those that come into the scope, those
// that leave it, and all that are served where the defaults changed.
func (r *Reconciler) follow(before, after *config.Config) {
	if !reflect.DeepEqual(before.Handlers, after.Handlers) {
		r.relay.HandlersMoved()
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
