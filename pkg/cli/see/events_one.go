package see

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

// eventsOfOne prints what happens to one object.
type eventsOfOne struct {
	*stream
	found *target.Found
	// pods are the names of the object's Pods. others are the names of Pods that are not the object's.
	pods, others map[string]bool
}

// one prints what happened to the object with a name.
func (s *stream) one(ctx context.Context, name string, nouns ...overview.Kind) error {
	found, o, err := s.Find(ctx, name, nouns...)
	if err != nil {
		return err
	}
	e := &eventsOfOne{stream: s, found: found, pods: map[string]bool{}, others: map[string]bool{}}
	all := s.transitions(o, "")
	events, err := e.list(ctx, o)
	if err != nil {
		s.Warn(fmt.Sprintf("Kubernetes Events cannot be read: %v", err))
	}
	for i := range events {
		if h, ok := s.event(&events[i]); ok {
			all = append(all, h)
		}
	}
	if err := s.first(all); err != nil || !s.eventsOptions.follow {
		return err
	}
	return e.follow(ctx, o)
}

// list returns the Events about an object and its Pods, and learns the names of the Pods.
func (e *eventsOfOne) list(ctx context.Context, o *overview.Object) ([]corev1.Event, error) {
	if err := e.learnPods(ctx, o); err != nil {
		return nil, err
	}
	list, err := e.Kube.CoreV1().Events(o.Namespace()).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(event corev1.Event) bool { return !e.concerns(&event, o) }), nil
}

// learnPods learns the names of the Pods that an object has now. Names of Pods that are gone are kept.
func (e *eventsOfOne) learnPods(ctx context.Context, o *overview.Object) error {
	pods, err := e.cluster.pods(ctx, o)
	if err != nil {
		return err
	}
	if pods.Driver != nil {
		e.pods[pods.Driver.Name] = true
	}
	for _, pod := range slices.Concat(pods.Executors, pods.Earlier) {
		e.pods[pod.Name] = true
	}
	addDrivers(o, func(name string) { e.pods[name] = true })
	return nil
}

// addDrivers calls a function with the name of each driver in the record of an object.
func addDrivers(o *overview.Object, add func(name string)) {
	if o.Record == nil {
		return
	}
	for _, t := range o.Record.Transitions {
		if t.DriverPod != "" {
			add(t.DriverPod)
		}
	}
}

// concerns reports whether an Event is about an object or one of its Pods.
func (e *eventsOfOne) concerns(event *corev1.Event, o *overview.Object) bool {
	if event.InvolvedObject.Kind == "Pod" {
		return e.pods[event.InvolvedObject.Name]
	}
	return event.InvolvedObject.UID == o.Source.GetUID() || event.InvolvedObject.UID == "" && event.InvolvedObject.Name == o.Name()
}

// follow prints what happens until the object is gone, or the context ends.
func (e *eventsOfOne) follow(ctx context.Context, o *overview.Object) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go watched(ctx, "", func(options metav1.ListOptions) (watch.Interface, error) {
		return e.Kube.CoreV1().Events(o.Namespace()).Watch(ctx, options)
	}, func(event watch.Event) {
		if happened, ok := event.Object.(*corev1.Event); ok && event.Type != watch.Deleted {
			e.printEvent(ctx, happened, o)
		}
	})
	err := target.Until(ctx, e.Dynamic, e.found, func(now *overview.Object) (bool, error) {
		if now == nil {
			return true, nil
		}
		e.lock.Lock()
		defer e.lock.Unlock()
		e.printNow(e.transitions(now, "")...)
		return false, nil
	})
	switch {
	case ctx.Err() != nil:
		return nil // the user ended it
	case err != nil:
		return err
	}
	fmt.Fprintln(e.ErrOut, "The object is gone.")
	return nil
}

func (e *eventsOfOne) printEvent(ctx context.Context, event *corev1.Event, o *overview.Object) {
	e.lock.Lock()
	defer e.lock.Unlock()
	name := event.InvolvedObject.Name
	if event.InvolvedObject.Kind == "Pod" && !e.pods[name] && !e.others[name] {
		now, err := e.again(ctx, e.found)
		if err == nil && now != nil {
			err = e.learnPods(ctx, now)
		}
		if len(e.others) >= maxRemembered {
			clear(e.others)
		}
		e.others[name] = !e.pods[name] && (err == nil || !target.Transient(err)) // else asked again with its next Event
	}
	if !e.concerns(event, o) {
		return
	}
	if h, ok := e.event(event); ok {
		e.printNow(h)
	}
}
