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
// It returns a function that reports whether all executors that existed at the start are counted.
func watchExecutors(
	ctx context.Context, api *dialect.API, impl *controller.Impl, apps lister, currentDialect func() dialect.Dialect,
	counter *executorCounter, details *executorDetails,
) func() bool {
	note := func(before, after *executorPod) {
		before, after = before.executor(), after.executor()
		if before == nil && after == nil {
			return
		}
		counted := counter.update(before, after)
		listed := details != nil && details.update(before, after)
		if !counted && !listed {
			return
		}
		for _, name := range apps.byExecutor(cmp.Or(after, before)) {
			if counted && countsExecutors(apps, name, currentDialect()) {
				impl.EnqueueKey(name)
			}
			if listed {
				impl.EnqueueKeyAfter(name, collectInterval)
			}
		}
	}
	informer := podinformer.Get(ctx, api.ExecutorSelector).Informer()
	base.Must(ctx, informer.SetTransform(stripExecutor))
	return base.AddHandler(ctx, informer, cache.ResourceEventHandlerFuncs{
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
func countsExecutors(apps lister, name types.NamespacedName, d dialect.Dialect) bool {
	app, known := apps.get(name)
	return known && lifecycle.CountsExecutors(lifecycle.CurrentState(app.GetRecord()), d.Policy(app))
}
