package application

import (
	"context"
	"reflect"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
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

	store     *config.Store
	followers []func(before, after *config.Config)
}

// NewProcess has the controllers make their relays by newRelay and fetch pod templates by fetch.
func NewProcess(newRelay NewRelay, fetch podtemplate.Fetch) *Process {
	return &Process{newRelay: newRelay, fetch: fetch}
}

// settings is the store of settings, whose changes act at once: follow is told of each. What is refused is told on its
// ConfigMap.
func (p *Process) settings(ctx context.Context, watcher configmap.Watcher, follow func(before, after *config.Config)) *config.Store {
	p.followers = append(p.followers, follow)
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
		for _, follow := range p.followers {
			follow(before, after)
		}
	}, refused)
	p.store.WatchConfigs(watcher)
	return p.store
}

func tellOfScope(logger *zap.SugaredLogger, before, after *config.Scope) {
	if before.Namespaces() != after.Namespaces() {
		logger.Infof("Updating operator namespaces to %s", after.Namespaces()) // in the Apache operator's words
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
		served := after.Scope.Serves(app)
		return served != before.Scope.Serves(app) || served && redefined
	})
}
