package see

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/actions"
	"github.com/firesteel-dev/firesteel/pkg/cli/target"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

const (
	// eventsPage is how many objects are read at once.
	eventsPage = 500
	// maxHappenings bounds what is printed of the past: the newest.
	maxHappenings = 20_000
)

// eventsOfAll prints what happens to all objects of a namespace, or of all namespaces.
type eventsOfAll struct {
	*stream
	// versions are the versions of the lists, from which they are watched.
	versions map[schema.GroupVersionResource]string
	// pods reports whether a Pod is one of Spark's, by namespace and name.
	pods map[string]bool
	past []Happening
	// left is the number of past events that are left out.
	left int
}

// all prints what happened to all objects.
func (s *stream) all(ctx context.Context) error {
	e := &eventsOfAll{stream: s, versions: map[schema.GroupVersionResource]string{}, pods: map[string]bool{}}
	if err := e.listObjects(ctx); err != nil {
		return err
	}
	version, err := e.listEvents(ctx)
	if err != nil {
		s.Warn(fmt.Sprintf("Kubernetes Events cannot be read: %v", err))
	}
	e.prune(maxHappenings)
	if e.left > 0 {
		s.Warn(fmt.Sprintf("the oldest %d are left out: name an object to see all of it", e.left))
	}
	if err := s.first(e.past); err != nil || !s.eventsOptions.follow {
		return err
	}
	e.past = nil
	e.follow(ctx, version)
	return nil // the user ended it
}

func (e *eventsOfAll) listed() string {
	if e.allNamespaces {
		return metav1.NamespaceAll
	}
	return e.Namespace
}

// add adds events to the past. It stores at most twice as many as are printed.
func (e *eventsOfAll) add(all ...Happening) {
	e.past = append(e.past, all...)
	if len(e.past) >= 2*maxHappenings {
		e.prune(maxHappenings)
	}
}

// prune keeps the newest events.
func (e *eventsOfAll) prune(most int) {
	more := len(e.past) - most
	if more <= 0 {
		return
	}
	slices.SortStableFunc(e.past, func(a, b Happening) int { return a.Time.Compare(b.Time) })
	e.past, e.left = slices.Clone(e.past[more:]), e.left+more
}

// listObjects adds the transitions of all objects.
func (e *eventsOfAll) listObjects(ctx context.Context) error {
	var refused error
	for _, kind := range actions.Kinds {
		err := kind.Pages(ctx, e.Dynamic, e.listed(), metav1.ListOptions{Limit: eventsPage},
			func(served schema.GroupVersionResource, page *unstructured.UnstructuredList) error {
				e.versions[served] = page.GetResourceVersion()
				for i := range page.Items {
					e.add(e.transitionsOf(&page.Items[i])...)
				}
				return nil
			})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !actions.NotServed(err):
			refused = cmp.Or(refused, err)
		}
	}
	switch {
	case len(e.versions) > 0 && refused != nil:
		e.Warn(refused.Error())
	case len(e.versions) == 0:
		return cmp.Or(refused, target.NoneServed("Spark applications"))
	}
	return nil
}

// transitionsOf returns the transitions of an object that were not printed yet.
func (e *eventsOfAll) transitionsOf(read *unstructured.Unstructured) []Happening {
	o, err := overview.Read(read)
	if err != nil {
		return nil // list names it
	}
	addDrivers(o, func(name string) { e.pods[o.Namespace()+"/"+name] = true })
	return e.transitions(o, read.GetKind()+"/"+o.Name()+" ")
}

// listEvents adds the Kubernetes Events about Spark's objects, and returns the version of their list.
func (e *eventsOfAll) listEvents(ctx context.Context) (version string, err error) {
	pods, err := e.Kube.CoreV1().Pods(e.listed()).List(ctx, metav1.ListOptions{LabelSelector: resources.LabelRole, ResourceVersion: "0"})
	if err != nil {
		return "", err
	}
	for i := range pods.Items {
		e.pods[pods.Items[i].Namespace+"/"+pods.Items[i].Name] = true
	}
	options := metav1.ListOptions{Limit: eventsPage}
	for {
		list, err := e.Kube.CoreV1().Events(e.listed()).List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range list.Items {
			event := &list.Items[i]
			if known, concerned := e.concerns(event); known && !concerned || !known && !ofExecutor.MatchString(event.InvolvedObject.Name) {
				continue
			}
			if h, ok := e.event(event); ok {
				e.add(h)
			}
		}
		if options.Continue = list.Continue; options.Continue == "" {
			return list.ResourceVersion, nil
		}
	}
}

// ofExecutor matches the names that Spark gives executors. If a Pod is gone, its name is all that is known of it.
var ofExecutor = regexp.MustCompile(`-exec-[0-9]+$`)

// concerns reports whether an Event is about an object of Spark (concerned), and whether that is known.
func (e *eventsOfAll) concerns(event *corev1.Event) (known, concerned bool) {
	about := event.InvolvedObject
	if about.Kind == "Pod" {
		concerned, known = e.pods[event.Namespace+"/"+about.Name]
		return known, concerned
	}
	group := schema.FromAPIVersionAndKind(about.APIVersion, about.Kind).Group
	return true, slices.ContainsFunc(actions.Kinds, func(k actions.Kind) bool { return k.Group == group })
}

// follow prints what happens until the context ends.
func (e *eventsOfAll) follow(ctx context.Context, version string) {
	var group sync.WaitGroup
	for resource, version := range e.versions {
		group.Go(func() {
			watched(ctx, version, func(options metav1.ListOptions) (watch.Interface, error) {
				return e.Dynamic.Resource(resource).Namespace(e.listed()).Watch(ctx, options)
			}, func(event watch.Event) {
				if read, ok := event.Object.(*unstructured.Unstructured); ok {
					e.printTransitions(read, event.Type == watch.Deleted)
				}
			})
		})
	}
	group.Go(func() {
		watched(ctx, version, func(options metav1.ListOptions) (watch.Interface, error) {
			return e.Kube.CoreV1().Events(e.listed()).Watch(ctx, options)
		}, func(event watch.Event) {
			if happened, ok := event.Object.(*corev1.Event); ok && event.Type != watch.Deleted {
				e.printEvent(ctx, happened)
			}
		})
	})
	group.Wait()
}

func (e *eventsOfAll) printTransitions(read *unstructured.Unstructured, gone bool) {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.printNow(e.transitionsOf(read)...)
	if gone {
		delete(e.sequences, read.GetUID())
	}
}

func (e *eventsOfAll) printEvent(ctx context.Context, event *corev1.Event) {
	e.lock.Lock()
	defer e.lock.Unlock()
	known, concerned := e.concerns(event)
	if !known {
		concerned = e.learn(ctx, event)
	}
	if !concerned {
		return
	}
	if h, ok := e.event(event); ok {
		e.printNow(h)
	}
}

// learn reads the Pod of an Event, and reports whether it is one of Spark's.
func (e *eventsOfAll) learn(ctx context.Context, event *corev1.Event) bool {
	pod, err := e.Kube.CoreV1().Pods(event.Namespace).Get(ctx, event.InvolvedObject.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return ofExecutor.MatchString(event.InvolvedObject.Name) // asked again with its next Event
	}
	if len(e.pods) >= maxRemembered {
		clear(e.pods)
	}
	sparks := err == nil && pod.Labels[resources.LabelRole] != "" || err != nil && ofExecutor.MatchString(event.InvolvedObject.Name)
	e.pods[event.Namespace+"/"+event.InvolvedObject.Name] = sparks
	return sparks
}
