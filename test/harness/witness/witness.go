// Package witness watches objects on an API server without a gap, so that a test can judge each of their revisions.
package witness

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

// Watch is the method of a typed client.
type Watch func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)

// Follow calls see for each change after a resource version, until the context is done. If changes are lost, it calls lost.
func Follow(ctx context.Context, after string, client Watch, see func(watch.Event), lost func()) error {
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, after, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return client(ctx, options)
		},
	})
	if err != nil {
		return err
	}
	go func() {
		for event := range watcher.ResultChan() {
			see(event)
		}
		if ctx.Err() == nil {
			lost()
		}
	}()
	return nil
}

// Applications has a history see each revision of each application, of all APIs, from now on. If changes are lost, as when a CRD is
// applied, it calls lost. If that returns true, it goes on with the applications that there are.
func Applications(ctx context.Context, spark versioned.Interface, history *invariants.History, lost func() (goOn bool)) error {
	apaches, kubeflows := spark.SparkV1().SparkApplications(metav1.NamespaceAll), spark.SparkoperatorV1beta2().SparkApplications(metav1.NamespaceAll)
	earlies := spark.EarlyV1alpha1().SparkApplications(metav1.NamespaceAll)
	err := applications(ctx, history, lost, earlies.Watch, func() (runtime.Object, error) { return earlies.List(ctx, metav1.ListOptions{}) })
	if err != nil && !apierrors.IsNotFound(err) { // this API is opt-in
		return err
	}
	return errors.Join(
		applications(ctx, history, lost, apaches.Watch, func() (runtime.Object, error) { return apaches.List(ctx, metav1.ListOptions{}) }),
		applications(ctx, history, lost, kubeflows.Watch, func() (runtime.Object, error) { return kubeflows.List(ctx, metav1.ListOptions{}) }),
	)
}

func applications(ctx context.Context, history *invariants.History, lost func() bool, client Watch, list func() (runtime.Object, error)) error {
	now, err := list()
	if err != nil {
		return err
	}
	see := func(what watch.EventType, object runtime.Object) {
		if app, ok := object.(dialect.Application); ok {
			history.SawApplication(what, app)
		}
	}
	err = meta.EachListItem(now, func(object runtime.Object) error {
		see(watch.Modified, object)
		return nil
	})
	if err != nil {
		return err
	}
	after, err := meta.NewAccessor().ResourceVersion(now)
	if err != nil {
		return err
	}
	return Follow(ctx, after, client, func(event watch.Event) { see(event.Type, event.Object) }, func() {
		for lost() && applications(ctx, history, lost, client, list) != nil {
		}
	})
}

// Drivers has a history see each revision of each driver Pod, those included that exist already. see, which may be nil, is called
// with each changed one, too.
func Drivers(ctx context.Context, kube kubernetes.Interface, history *invariants.History, see func(*corev1.Pod), lost func()) error {
	pods := kube.CoreV1().Pods(metav1.NamespaceAll)
	list, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if IsDriver(&list.Items[i]) {
			history.SawPod(watch.Modified, &list.Items[i])
		}
	}
	// All Pods are watched: a watch of those with a label reports one that loses it as deleted.
	return Follow(ctx, list.ResourceVersion, pods.Watch, func(event watch.Event) {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok || !IsDriver(pod) {
			return
		}
		history.SawPod(event.Type, pod)
		if see != nil {
			see(pod)
		}
	}, lost)
}

// IsDriver reports whether a Pod is a driver's, by its owner: its labels may be gone.
func IsDriver(pod *corev1.Pod) bool {
	for _, owner := range pod.OwnerReferences {
		if owner.Kind == "SparkApplication" {
			return true
		}
	}
	return false
}
