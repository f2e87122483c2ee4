package chaos

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// witness has the history see all that happens on the API server from now on, until blind is called.
func (w *env) witness(ctx context.Context) error {
	ctx, w.blind = context.WithCancel(ctx)
	return errors.Join(w.watchApplications(ctx), w.watchDrivers(ctx))
}

// watchApplications has the history see every revision of every application, as the API server has it.
func (w *env) watchApplications(ctx context.Context) error {
	apaches := w.Spark.SparkV1().SparkApplications(metav1.NamespaceAll)
	none, err := apaches.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	see := func(event watch.Event) {
		if app, ok := event.Object.(dialect.Application); ok {
			w.history.SawApplication(event.Type, app)
		}
	}
	kubeflows := w.Spark.SparkoperatorV1beta2().SparkApplications(metav1.NamespaceAll)
	return errors.Join(
		w.follow(ctx, none.ResourceVersion, apaches.Watch, see),
		w.follow(ctx, none.ResourceVersion, kubeflows.Watch, see),
	)
}

// watchDrivers has the history see every revision of every driver Pod, and gives drivers that run their executors.
func (w *env) watchDrivers(ctx context.Context) error {
	pods := w.Kube.CoreV1().Pods(metav1.NamespaceAll)
	list, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	executors := newExecutors(w)
	for i := range list.Items {
		if isDriver(&list.Items[i]) {
			w.history.SawPod(watch.Modified, &list.Items[i])
		}
	}
	// All Pods are watched: a watch of those with a label reports one that loses it as deleted.
	return w.follow(ctx, list.ResourceVersion, pods.Watch, func(event watch.Event) {
		if pod, ok := event.Object.(*corev1.Pod); ok && isDriver(pod) {
			w.history.SawPod(event.Type, pod)
			executors.see(ctx, pod)
		}
	})
}

func (w *env) follow(
	ctx context.Context, from string, watchFrom func(context.Context, metav1.ListOptions) (watch.Interface, error), see func(watch.Event),
) error {
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, from, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return watchFrom(ctx, options)
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
			w.supervisor.Violate("a witness lost sight of the API server: the run proves nothing")
		}
	}()
	return nil
}

// listen has the history hear what reached the sink, until the context ends, and counts what the sink did wrong.
func (w *env) listen(ctx context.Context) error {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		entries, err := w.eventlog.Read()
		for _, entry := range entries {
			w.history.SawEvent(entry)
			if entry.Fault != "" {
				w.counters.count("sink " + entry.Fault)
			}
			w.lately.remember(entry)
		}
		if err != nil {
			return fmt.Errorf("read the sink's event log: %w", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ignore(ctx.Err(), func(err error) bool { return errors.Is(err, context.Canceled) })
		}
	}
}
