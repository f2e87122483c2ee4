package sparkapplication

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	podinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	"knative.dev/pkg/controller"

	appinformer "github.com/firesteel-dev/firesteel/pkg/client/injection/informers/spark/v1/sparkapplication"
	sparklisters "github.com/firesteel-dev/firesteel/pkg/client/listers/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// ExecutorSelector selects the executor Pods that the controller watches: those of the drivers that it watches.
const ExecutorSelector = "spark-role=executor," + apache.LabelOperator

// byApplicationID is the index of driver Pods by namespace and spark.app.id.
const byApplicationID = "applicationID"

// watchExecutors counts executors, and has an application looked at where their number matters to it and changed.
func watchExecutors(ctx context.Context, r *Reconciler, impl *controller.Impl, defaults func() apache.Defaults) {
	drivers, applications := podinformer.Get(ctx, DriverSelector).Informer().GetIndexer(), appinformer.Get(ctx).Lister()
	note := func(before, after *corev1.Pod) {
		if !r.executors.note(before, after) {
			return
		}
		for _, driver := range driversOf(drivers, cmp.Or(after, before)) {
			if name, known := applicationOf(driver); known && countsExecutors(applications, name, defaults()) {
				impl.EnqueueKey(name)
			}
		}
	}
	informer := podinformer.Get(ctx, ExecutorSelector).Informer()
	must(ctx, informer.SetTransform(stripExecutor))
	r.executorsSynced = handle(ctx, informer, cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { note(nil, object.(*corev1.Pod)) },
		UpdateFunc: func(before, after any) { note(before.(*corev1.Pod), after.(*corev1.Pod)) },
		DeleteFunc: func(object any) {
			if pod, ok := lastKnown(object).(*corev1.Pod); ok {
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
func countsExecutors(applications sparklisters.SparkApplicationLister, name types.NamespacedName, defaults apache.Defaults) bool {
	app, err := applications.SparkApplications(name.Namespace).Get(name.Name)
	if err != nil {
		return false
	}
	state := lifecycle.CurrentState(app.Status.Firesteel)
	return lifecycle.CountsExecutors(state, apache.Policy(app, defaults))
}

func indexApplicationID(object any) ([]string, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return nil, nil
	}
	return []string{applicationIDOf(pod).String()}, nil
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
