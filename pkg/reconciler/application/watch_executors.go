package application

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	podinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// watchExecutors counts executors, and has an application looked at where their number matters to it and changed. Where
// the API shows each of them, it has it looked at as well once their news is gathered.
func watchExecutors(ctx context.Context, r *Reconciler, impl *controller.Impl, apps shelf, speak func() dialect.Dialect) {
	note := func(before, after *executorPod) {
		before, after = before.executor(), after.executor()
		if before == nil && after == nil {
			return
		}
		counted := r.executors.note(before, after)
		listed := r.roster != nil && r.roster.note(before, after)
		if !counted && !listed {
			return
		}
		for _, name := range apps.ofExecutor(cmp.Or(after, before)) {
			if counted && countsExecutors(apps, name, speak()) {
				impl.EnqueueKey(name)
			}
			if listed {
				impl.EnqueueKeyAfter(name, gatherFor)
			}
		}
	}
	informer := podinformer.Get(ctx, r.api.ExecutorSelector).Informer()
	base.Must(ctx, informer.SetTransform(keepExecutor))
	r.executorsSynced = base.AddHandler(ctx, informer, cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { note(nil, object.(*executorPod)) },
		UpdateFunc: func(before, after any) { note(before.(*executorPod), after.(*executorPod)) },
		DeleteFunc: func(object any) {
			if pod, ok := base.LastKnown(object).(*executorPod); ok {
				note(pod, nil)
			}
		},
	}).HasSynced
}

// countsExecutors says that an application asks for a number of executors and is in a state in which that matters. Where
// the cache is behind, it is looked at anyway when the cache catches up.
func countsExecutors(apps shelf, name types.NamespacedName, d dialect.Dialect) bool {
	app, known := apps.get(name)
	return known && lifecycle.CountsExecutors(lifecycle.CurrentState(app.GetRecord()), d.Policy(app))
}
