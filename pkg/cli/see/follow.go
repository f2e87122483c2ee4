package see

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// again is how long to wait before a watch is begun anew that ended or could not be begun.
const again = time.Second

// watching is a watch that is begun anew whenever it ends.
type watching struct {
	// begin begins it from a version, or from now if that is empty.
	begin func(options metav1.ListOptions) (watch.Interface, error)
	// each is called with each event.
	each func(watch.Event)
	// reread is called before the watch begins without a version, and returns one; nil if it begins from now. What was deleted meanwhile, no
	// watch tells.
	reread func() (version string, err error)
}

// until watches until the context ends.
func (w *watching) until(ctx context.Context, version string) {
	for ctx.Err() == nil {
		var err error
		if version == "" && w.reread != nil {
			version, err = w.reread()
		}
		var begun watch.Interface
		if err == nil {
			begun, err = w.begin(metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true})
		}
		if err != nil {
			version = ""
			pause(ctx)
			continue
		}
		version = forward(ctx, begun, version, w.each)
		begun.Stop()
		pause(ctx)
	}
}

// watched watches until the context ends. The function is not called by two goroutines at once if the caller locks.
func watched(ctx context.Context, version string, begin func(options metav1.ListOptions) (watch.Interface, error), each func(watch.Event)) {
	(&watching{begin: begin, each: each}).until(ctx, version)
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
			return c.Kube.CoreV1().Pods(o.Namespace()).Watch(ctx, options)
		}, changed)
	}
	return signal
}

func (c *cluster) watchObject(ctx context.Context, resource schema.GroupVersionResource, namespace, name string, options metav1.ListOptions) (watch.Interface, error) {
	options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	return c.Dynamic.Resource(resource).Namespace(namespace).Watch(ctx, options)
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
