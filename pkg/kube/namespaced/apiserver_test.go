package namespaced

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/kube"
)

var podsResource = schema.GroupResource{Resource: "pods"}

// apiserver is an API server in memory that has Pods.
type apiserver struct {
	mutex     sync.Mutex
	version   int
	history   []change
	compacted int
	watches   map[*serverWatch]string
	// forbidden are the namespaces that refuse.
	forbidden map[string]bool
	// brief has watches end at once.
	brief bool
	// lists and begun count requests by namespace, and listed holds the resource version of the last list of each.
	lists, begun map[string]int
	listed       map[string]string
}

type change struct {
	version int
	event   watch.Event
}

func newAPIServer() *apiserver {
	return &apiserver{watches: map[*serverWatch]string{}, forbidden: map[string]bool{}, lists: map[string]int{}, begun: map[string]int{}, listed: map[string]string{}}
}

// serverWatch is a watch of one namespace.
type serverWatch struct {
	server *apiserver
	events chan watch.Event
	once   sync.Once
}

func (w *serverWatch) ResultChan() <-chan watch.Event { return w.events }

func (w *serverWatch) Stop() {
	w.server.mutex.Lock()
	defer w.server.mutex.Unlock()
	w.end()
}

// end ends the watch. The mutex is held.
func (w *serverWatch) end() {
	w.once.Do(func() {
		delete(w.server.watches, w)
		close(w.events)
	})
}

// write writes an object, or deletes it.
func (a *apiserver) write(kind watch.EventType, namespace, name string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.version++
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: strconv.Itoa(a.version)}}
	c := change{a.version, watch.Event{Type: kind, Object: pod}}
	a.history = append(a.history, c)
	for w, of := range a.watches {
		if of == namespace {
			w.events <- c.event
		}
	}
}

// each calls f for each watch of a namespace.
func (a *apiserver) each(namespace string, f func(*serverWatch)) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for w, of := range a.watches {
		if of == namespace {
			f(w)
		}
	}
}

// end ends the watches of a namespace in their time.
func (a *apiserver) end(namespace string) { a.each(namespace, (*serverWatch).end) }

// breakWith ends the watches of a namespace with an error.
func (a *apiserver) breakWith(namespace string, err *apierrors.StatusError) {
	a.each(namespace, func(w *serverWatch) {
		w.events <- watch.Event{Type: watch.Error, Object: &err.ErrStatus}
		w.end()
	})
}

// forbid has a namespace refuse, or not.
func (a *apiserver) forbid(namespace string, forbidden bool) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.forbidden[namespace] = forbidden
}

// compact forgets the changes so far: no watch can go on before them.
func (a *apiserver) compact() {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.compacted = a.version
}

// requests returns the number of all requests.
func (a *apiserver) requests() (all int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for _, counts := range []map[string]int{a.lists, a.begun} {
		for _, count := range counts {
			all += count
		}
	}
	return all
}

// live returns the Pods of a namespace by name. The mutex is held.
func (a *apiserver) live(namespace string) []corev1.Pod {
	pods := map[string]*corev1.Pod{}
	for _, c := range a.history {
		pod := c.event.Object.(*corev1.Pod)
		switch {
		case pod.Namespace != namespace:
		case c.event.Type == watch.Deleted:
			delete(pods, pod.Name)
		default:
			pods[pod.Name] = pod
		}
	}
	var found []corev1.Pod
	for _, pod := range pods {
		found = append(found, *pod)
	}
	slices.SortFunc(found, func(a, b corev1.Pod) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return found
}

// in is the client of a namespace.
func (a *apiserver) in(namespace string) *serverClient { return &serverClient{a, namespace} }

type serverClient struct {
	*apiserver
	namespace string
}

// List lists, page by page if asked.
func (c *serverClient) List(_ context.Context, options metav1.ListOptions) (*corev1.PodList, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.lists[c.namespace]++
	c.listed[c.namespace] = options.ResourceVersion
	if c.forbidden[c.namespace] {
		return nil, apierrors.NewForbidden(podsResource, "", nil)
	}
	list := &corev1.PodList{Items: c.live(c.namespace)}
	list.ResourceVersion = strconv.Itoa(c.version)
	if options.Limit > 0 {
		from, _ := strconv.Atoi(options.Continue)
		to := min(from+int(options.Limit), len(list.Items))
		if to < len(list.Items) {
			list.Continue = strconv.Itoa(to)
		}
		list.Items = list.Items[from:to]
	}
	return list, nil
}

// Watch watches, from what exists or from a resource version.
func (c *serverClient) Watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.begun[c.namespace]++
	if c.forbidden[c.namespace] {
		return nil, apierrors.NewForbidden(podsResource, "", nil)
	}
	w := &serverWatch{server: c.apiserver, events: make(chan watch.Event, 1000)}
	c.watches[w] = c.namespace
	if options.SendInitialEvents != nil {
		for _, pod := range c.live(c.namespace) {
			w.events <- watch.Event{Type: watch.Added, Object: &pod}
		}
		w.events <- c.bookmark(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		return w, nil
	}
	if c.brief {
		w.end()
		return w, nil
	}
	from, _ := strconv.Atoi(options.ResourceVersion)
	if from < c.compacted {
		status := apierrors.NewResourceExpired("compacted").Status()
		w.events <- watch.Event{Type: watch.Error, Object: &status}
		w.end()
		return w, nil
	}
	for _, change := range c.history {
		if change.version > from && change.event.Object.(*corev1.Pod).Namespace == c.namespace {
			w.events <- change.event
		}
	}
	return w, nil
}

func (a *apiserver) bookmark(annotations map[string]string) watch.Event {
	return watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: strconv.Itoa(a.version), Annotations: annotations,
	}}}
}

// bookmarks sends a bookmark to each watch of a namespace.
func (a *apiserver) bookmarks(namespace string) {
	a.each(namespace, func(w *serverWatch) { w.events <- a.bookmark(nil) })
}

// listOnly has informers list, as those do whose API server cannot stream lists.
type listOnly bool

func (l listOnly) IsWatchListSemanticsUnSupported() bool { return bool(l) }

// informer runs an informer of the Pods of namespaces.
func (a *apiserver) informer(t *testing.T, n *Namespaces, lists listOnly) cache.SharedIndexInformer {
	t.Helper()
	pods := collect(n, a.in, &corev1.Pod{})
	informer := cache.NewSharedIndexInformer(kube.NewSource(lists, pods.List, pods.Watch)(func(*metav1.ListOptions) {}), &corev1.Pod{}, 0, cache.Indexers{})
	go informer.RunWithContext(t.Context())
	return informer
}
