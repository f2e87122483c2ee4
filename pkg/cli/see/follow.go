package see

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// again is how long to wait before a watch is begun anew that ended or could not be begun.
const again = time.Second

// watched watches until the context ends. Each object of the watch is handed on; a watch that ends is begun anew. begin begins it from a
// version, or from now if that is empty. The function is not called by two goroutines at once if the caller locks.
func watched(ctx context.Context, version string, begin func(options metav1.ListOptions) (watch.Interface, error), each func(watch.Event)) {
	for ctx.Err() == nil {
		w, err := begin(metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
		if err != nil {
			version = ""
			pause(ctx)
			continue
		}
		version = forward(ctx, w, version, each)
		w.Stop()
		pause(ctx)
	}
}

// forward hands on what a watch brings until it ends, and returns the version to go on from.
func forward(ctx context.Context, w watch.Interface, version string, each func(watch.Event)) string {
	for {
		select {
		case <-ctx.Done():
			return version
		case event, open := <-w.ResultChan():
			switch {
			case !open:
				return version
			case event.Type == watch.Error:
				return "" // the version is too old
			}
			if object, ok := event.Object.(metav1.Object); ok {
				version = object.GetResourceVersion()
			}
			if event.Type != watch.Bookmark {
				each(event)
			}
		}
	}
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(again):
	}
}

// follow prints each change of the objects of a table until the context ends.
func (t *table) follow(ctx context.Context) error {
	var lock sync.Mutex
	var group sync.WaitGroup
	for resource, version := range t.versions {
		group.Go(func() {
			watched(ctx, version, func(options metav1.ListOptions) (watch.Interface, error) {
				options.LabelSelector = t.selector
				return t.dynamic.Resource(resource).Namespace(t.listed()).Watch(ctx, options)
			}, func(event watch.Event) {
				object, ok := event.Object.(*unstructured.Unstructured)
				if !ok {
					return
				}
				lock.Lock()
				defer lock.Unlock()
				if version, ok := t.shown[object.GetUID()]; ok && version == object.GetResourceVersion() && version != "" && event.Type != watch.Deleted {
					return
				}
				rows := t.read([]unstructured.Unstructured{*object})
				if event.Type == watch.Deleted {
					delete(t.shown, object.GetUID())
					for _, r := range rows {
						r.State, r.Reason = "Deleted", ""
					}
				}
				if err := t.print(ctx, rows); err != nil {
					t.Warn(fmt.Sprintf("a change cannot be printed: %v", err))
				}
			})
		})
	}
	group.Wait()
	return nil // the user ended it
}

// changes signals that an object or one of its Pods changed. It signals at once, and never blocks: several changes may be one signal.
func (c *cluster) changes(ctx context.Context, found *target.Found, o *overview.Object) <-chan struct{} {
	signal := make(chan struct{}, 1)
	notify := func() {
		select {
		case signal <- struct{}{}:
		default:
		}
	}
	notify()
	changed := func(watch.Event) { notify() }
	go watched(ctx, "", func(options metav1.ListOptions) (watch.Interface, error) {
		return c.watchObject(ctx, found.Resource, found.GetNamespace(), found.GetName(), options)
	}, changed)
	if selector := o.PodSelector(); selector != "" {
		go watched(ctx, "", func(options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = selector
			return c.kube.CoreV1().Pods(o.Namespace()).Watch(ctx, options)
		}, changed)
	}
	return signal
}

func (c *cluster) watchObject(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, options metav1.ListOptions) (watch.Interface, error) {
	options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	return c.dynamic.Resource(resource).Namespace(namespace).Watch(ctx, options)
}

// running reports whether a container of a Pod has begun, so that it may have a log.
func running(pod *corev1.Pod, container string) bool {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == container {
			return status.State.Running != nil || status.State.Terminated != nil || status.LastTerminationState.Terminated != nil
		}
	}
	return pod.Status.Phase != corev1.PodPending && pod.Status.Phase != ""
}
