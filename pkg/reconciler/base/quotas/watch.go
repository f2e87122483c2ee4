package quotas

import (
	"context"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	informercorev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/kube/classes"
)

// watches are the informers that run while the setting is on. The zero value runs none.
type watches struct {
	stop context.CancelFunc
	// since is when the setting was switched on.
	since   time.Time
	quotas  *watch
	classes *classes.Classes
}

// watch is an informer. It also counts as synced while its first list is forbidden: then no quota is known, and the API server refuses what does
// not fit.
type watch struct {
	informer     cache.SharedIndexInformer
	registration cache.ResourceEventHandlerRegistration
	errors       kube.WatchErrors
}

func (w *watch) synced() bool {
	return apierrors.IsForbidden(w.errors.Last()) && w.informer.LastSyncResourceVersion() == "" || w.registration.HasSynced()
}

// Configure sets the settings. It starts the informers if the setting is switched on, and stops them if it is switched off. If the settings have
// changed, it enqueues the applications that wait.
func (t *Tracker) Configure(settings config.QuotaSettings) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	before := t.settings
	t.settings = settings
	switch on, was := settings.Quota != config.QuotaOff, before.Quota != config.QuotaOff; {
	case on && !was:
		t.start()
	case was && !on:
		t.watches.stop()
		t.watches = &watches{}
		clear(t.quotas)
	}
	if before == settings {
		return
	}
	clear(t.queues)
	for namespace, apps := range t.apps {
		for _, app := range apps {
			if app.waits {
				app.source.Enqueue(app.key)
			}
		}
		t.clearShort(namespace)
	}
}

// clearShort enqueues the applications that report a quota without room for executors, if the namespace has no quota any more. The mutex is held.
func (t *Tracker) clearShort(namespace string) {
	if len(t.quotas[namespace]) > 0 {
		return
	}
	for _, app := range t.apps[namespace] {
		app.setShort(false, t.clock.Now())
	}
}

// start starts the informers. The mutex is held.
func (t *Tracker) start() {
	ctx, stop := context.WithCancel(t.ctx)
	started := &watches{stop: stop, since: t.clock.Now(), classes: classes.Follow(ctx, t.kube, t.logger)}
	// An informer that was stopped may still deliver an event.
	current := func(change func(*corev1.ResourceQuota)) func(any) {
		return func(object any) {
			t.mutex.Lock()
			defer t.mutex.Unlock()
			if q, ok := kube.LastKnown(object).(*corev1.ResourceQuota); ok && t.watches == started {
				change(q)
				t.changed(q.Namespace)
			}
		}
	}
	set := current(t.quotas.Set)
	started.quotas = t.watchQuotas(ctx, informercorev1.NewResourceQuotaInformer(t.kube, metav1.NamespaceAll, 0, cache.Indexers{}),
		cache.ResourceEventHandlerFuncs{
			AddFunc: set, UpdateFunc: func(_, after any) { set(after) }, DeleteFunc: current(t.removeQuota),
		})
	t.watches = started
}

// removeQuota removes a quota. The mutex is held.
func (t *Tracker) removeQuota(q *corev1.ResourceQuota) {
	if t.quotas.Remove(q.Namespace, q.Name); len(t.quotas[q.Namespace]) > 0 {
		return
	}
	for _, app := range t.apps[q.Namespace] {
		if app.waits {
			app.source.Enqueue(app.key) // no quota limits them any more
		}
	}
	t.clearShort(q.Namespace)
}

// watchQuotas starts the informer of ResourceQuotas.
func (t *Tracker) watchQuotas(ctx context.Context, informer cache.SharedIndexInformer, handler cache.ResourceEventHandlerFuncs) *watch {
	w := &watch{informer: informer}
	if err := w.errors.Follow(informer, func(err error) {
		t.logger.Warnw("quota of config-admission needs the right to list and watch", "what", "resource quotas", zap.Error(err))
	}); err != nil {
		t.logger.Errorw("cannot follow errors of a watch", "what", "resource quotas", zap.Error(err))
	}
	var err error
	if w.registration, err = informer.AddEventHandler(handler); err != nil {
		t.logger.Fatalw("The controller cannot be set up", zap.Error(err))
	}
	go informer.RunWithContext(ctx)
	return w
}

// admitted returns a Pod as the API server will admit it, and the value of its priority class.
func (t *Tracker) admitted(pod *corev1.Pod) (admitted *corev1.Pod, priority int32) {
	t.mutex.Lock()
	known := t.watches.classes
	t.mutex.Unlock()
	return known.Admitted(pod)
}
