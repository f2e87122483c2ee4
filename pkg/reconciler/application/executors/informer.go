package executors

import (
	"cmp"
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	podinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// Applications finds applications by their records.
type Applications interface {
	// OfExecutor returns the names of the applications that an executor may belong to.
	OfExecutor(pod *Pod) []types.NamespacedName
	// CountsUsage reports whether an application counts what an executor uses.
	CountsUsage(pod *Pod) bool
	// WritesUsage reports whether the record of an application that counts an executor is written again.
	WritesUsage(pod *Pod) bool
	// CountsExecutors reports whether the number of executors matters to an application now.
	CountsExecutors(name types.NamespacedName) bool
}

// Queue is the work queue of the applications.
type Queue interface {
	EnqueueKey(key types.NamespacedName)
	EnqueueKeyAfter(key types.NamespacedName, delay time.Duration)
}

// Watch follows the executors of an API. It enqueues an application when the number of its ready executors changed and
// matters. If details is not nil, it also enqueues an application when the details changed. It does so after
// CollectInterval, so that one status write shows many changes. used and finished get all changes; an application is enqueued if more executors of it
// ended than stay. countChanged is called with a namespace when an executor was created there,
// or ended. Watch returns a function that reports whether all executors that existed at the start are counted.
func Watch(
	ctx context.Context, api *dialect.API, queue Queue, apps Applications, counter *Counter, details *Details, used *Usage, finished *Finished, countChanged func(namespace string),
) func() bool {
	note := func(before, after *Pod) {
		before, after = before.executor(), after.executor()
		if before == nil && after == nil {
			return
		}
		used.Update(before, after, apps)
		surplus := finished.Update(before, after)
		counted, created := counter.Update(before, after)
		if created {
			countChanged(cmp.Or(after, before).Namespace)
		}
		listed := details != nil && details.Update(before, after)
		if !counted && !listed && !surplus {
			return
		}
		for _, name := range apps.OfExecutor(cmp.Or(after, before)) {
			if counted && apps.CountsExecutors(name) {
				queue.EnqueueKey(name)
			}
			if listed {
				queue.EnqueueKeyAfter(name, CollectInterval)
			}
			if surplus {
				queue.EnqueueKeyAfter(name, finishedAge)
			}
		}
	}
	informer := podinformer.Get(ctx, api.ExecutorSelector).Informer()
	base.Must(ctx, informer.SetTransform(Strip))
	synced := base.AddHandler(ctx, informer, cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { note(nil, object.(*Pod)) },
		UpdateFunc: func(before, after any) { note(before.(*Pod), after.(*Pod)) },
		DeleteFunc: func(object any) {
			if pod, ok := kube.LastKnown(object).(*Pod); ok {
				note(pod, nil)
			}
		},
	}).HasSynced
	return func() bool {
		if !synced() {
			return false
		}
		used.complete()
		return true
	}
}
