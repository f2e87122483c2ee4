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
)

// newStore makes a store of settings, whose changes act at once. What is refused is told on its ConfigMap.
func (r *Reconciler) newStore(ctx context.Context, watcher configmap.Watcher) *config.Store {
	logger, recorder := logging.FromContext(ctx).Named("config"), controller.GetEventRecorder(ctx)
	refused := func(configMap *corev1.ConfigMap, err error) {
		recorder.Event(configMap, corev1.EventTypeWarning, "SettingRefused", "What was before stays. "+err.Error())
	}
	config.WatchKnatives(watcher, func(configMap *corev1.ConfigMap, err error) {
		logger.Errorw("A change of the configuration cannot be used: the next start would fail", "error", err)
		refused(configMap, err)
	})
	return config.NewStore(logger, func(before, after *config.Config) { r.follow(logger, before, after) }, refused)
}

// follow has the applications looked at that a change of the settings concerns: those that come into the scope, those
// that leave it, and all that are served where the defaults changed.
func (r *Reconciler) follow(logger *zap.SugaredLogger, before, after *config.Config) {
	if !reflect.DeepEqual(before.Handlers, after.Handlers) {
		r.relay.HandlersMoved()
	}
	if before.Scope.Namespaces() != after.Scope.Namespaces() {
		logger.Infof("Updating operator namespaces to %s", after.Scope.Namespaces()) // in the Apache operator's words
	}
	if before.Scope.Selector() != after.Scope.Selector() {
		logger.Infof("Updating operator label selector to %q", after.Scope.Selector())
	}
	if r.follows != nil {
		r.follows(after)
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
