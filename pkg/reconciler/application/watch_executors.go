package application

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	podinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/setup"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// byApplicationID is the index of driver Pods by namespace and spark.app.id.
const byApplicationID = "applicationID"

// watchExecutors counts executors, and has an application looked at where their number matters to it and changed. Where
// the API shows each of them, it has it looked at as well once their news is gathered.
func watchExecutors(ctx context.Context, r *Reconciler, impl *controller.Impl, apps shelf, speak func() dialect.Dialect) {
	drivers := podinformer.Get(ctx, r.api.DriverSelector).Informer().GetIndexer()
	note := func(before, after *corev1.Pod) {
		counted := r.executors.note(before, after)
		listed := r.roster != nil && r.roster.note(before, after)
		if !counted && !listed {
			return
		}
		for _, driver := range driversOf(drivers, cmp.Or(after, before)) {
			name, known := applicationOf(r.api.API, driver)
			if known && counted && countsExecutors(apps, name, speak()) {
				impl.EnqueueKey(name)
			}
			if known && listed {
				impl.EnqueueKeyAfter(name, gatherFor)
			}
		}
	}
	informer := podinformer.Get(ctx, r.api.ExecutorSelector).Informer()
	setup.Must(ctx, informer.SetTransform(r.stripExecutor()))
	r.executorsSynced = setup.Handle(ctx, informer, cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { note(nil, object.(*corev1.Pod)) },
		UpdateFunc: func(before, after any) { note(before.(*corev1.Pod), after.(*corev1.Pod)) },
		DeleteFunc: func(object any) {
			if pod, ok := setup.LastKnown(object).(*corev1.Pod); ok {
				note(pod, nil)
			}
		},
	}).HasSynced
}

// driversOf are the drivers that an executor may belong to.
func driversOf(drivers cache.Indexer, executor *corev1.Pod) []*corev1.Pod {
	found, err := drivers.ByIndex(byApplicationID, applicationIDOf(executor).String())
	if err != nil {
		return nil // there is such an index
	}
	pods := make([]*corev1.Pod, 0, len(found))
	for _, object := range found {
		pods = append(pods, object.(*corev1.Pod))
	}
	return pods
}

// countsExecutors says that an application asks for a number of executors and is in a state in which that matters. Where
// the cache is behind, it is looked at anyway when the cache catches up.
func countsExecutors(apps shelf, name types.NamespacedName, d dialect.Dialect) bool {
	app, known := apps.get(name)
	return known && lifecycle.CountsExecutors(lifecycle.CurrentState(app.GetRecord()), d.Policy(app))
}

func indexApplicationID(object any) ([]string, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil, nil
	}
	return []string{applicationIDOf(pod).String()}, nil
}

func (r *Reconciler) stripExecutor() cache.TransformFunc {
	if r.api.ShowsExecutors {
		return stripShownExecutor
	}
	return stripExecutor
}

// stripExecutor keeps of an executor Pod what is counted: whose it is, and whether it is ready.
func stripExecutor(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	kept := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp, OwnerReferences: pod.OwnerReferences,
			Labels: map[string]string{submission.LabelApplicationID: pod.Labels[submission.LabelApplicationID]},
		},
		Status: corev1.PodStatus{Phase: pod.Status.Phase},
	}
	if readyPod(pod) {
		kept.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return kept, nil
}

// stripShownExecutor keeps as well what is shown of it: its number, and how it ended.
func stripShownExecutor(object any) (any, error) {
	kept, err := stripExecutor(object)
	pod, ok := object.(*corev1.Pod)
	if !ok || err != nil {
		return kept, err
	}
	executor := kept.(*corev1.Pod)
	executor.Labels[submission.LabelExecutorID] = pod.Labels[submission.LabelExecutorID]
	if ended := endOfExecutor(pod.Status.ContainerStatuses); ended != nil {
		executor.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name:  executorContainer,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: ended.ExitCode, Reason: ended.Reason}},
		}}
	}
	return executor, nil
}
