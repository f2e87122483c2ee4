package live

import (
	"cmp"
	"context"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/overview"
	"github.com/firesteel-dev/firesteel/pkg/schedule/variant"
)

// AllNamespaces stands for all namespaces.
const AllNamespaces = metav1.NamespaceAll

// kind is a kind of objects that is watched.
type kind struct {
	schema.GroupVersionKind
	resource string
	noun     overview.Kind
}

// kinds are all kinds that Firesteel serves.
var kinds = func() (all []kind) {
	for _, api := range applications.APIs() {
		all = append(all, kind{api.GroupVersionKind, api.Resource, overview.Application})
	}
	all = append(all, kind{sparkv1.SchemeGroupVersion.WithKind("SparkCluster"), "sparkclusters", overview.Cluster})
	for _, k := range variant.All {
		all = append(all, kind{k.GroupVersionKind(), k.GroupResource().Resource, overview.Schedule})
	}
	return all
}()

// name names the resource with its group, as Ref does.
func (k kind) name() string {
	return schema.GroupResource{Group: k.Group, Resource: k.resource}.String()
}

// ResourceNames are the resources of all kinds, such as sparkapplications.spark.apache.org.
func ResourceNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name())
	}
	return names
}

// NounOf returns the noun of a resource, and whether there is such a resource.
func NounOf(resource string) (noun overview.Kind, ok bool) {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.name() == resource })
	if at < 0 {
		return "", false
	}
	return kinds[at].noun, true
}

// resourceOf returns the plural of a kind, and whether there is such a kind.
func resourceOf(wanted schema.GroupKind) (resource string, ok bool) {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.GroupKind() == wanted })
	if at < 0 {
		return "", false
	}
	return kinds[at].resource, true
}

// podSelector selects the Pods of applications and clusters.
const podSelector = resources.LabelRole + " in (" + roleDriver + "," + roleExecutor + "," + roleMaster + "," + roleWorker + ")"

// watchedNamespace has the informers of a namespace, or of all.
type watchedNamespace struct {
	cancel    context.CancelFunc
	running   sync.WaitGroup
	mutex     sync.Mutex
	informers []*informer
}

// informer follows the objects of a kind, or Pods.
type informer struct {
	kube.WatchErrors
	shared cache.SharedInformer
	synced cache.InformerSynced
}

func (w *watchedNamespace) start(ctx context.Context, l *Live, namespace string) {
	ctx, w.cancel = context.WithCancel(ctx)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, k := range kinds {
		k.Version = cmp.Or(l.options.Versions[k.name()], k.Version)
		client := l.options.Dynamic.Resource(k.GroupVersion().WithResource(k.resource)).Namespace(namespace)
		example := &unstructured.Unstructured{}
		example.SetGroupVersionKind(k.GroupVersionKind)
		w.run(ctx, l.inform(namespace, k.name(), objects{client}, l.options.Dynamic, example, l.objectTransform(k), l.objectHandler()))
	}
	client := l.options.Kubernetes.CoreV1().Pods(namespace)
	w.run(ctx, l.inform(namespace, "pods", pods{client}, l.options.Kubernetes, &corev1.Pod{}, l.podTransform, l.podHandler()))
}

func (w *watchedNamespace) run(ctx context.Context, i *informer) {
	w.informers = append(w.informers, i)
	w.running.Go(func() { i.shared.RunWithContext(ctx) })
}

// stop ends the informers. When it returns, they set no object any more.
func (w *watchedNamespace) stop() {
	if w.cancel != nil {
		w.cancel()
	}
	w.running.Wait()
}

// synced reports whether each informer has read its objects once, or may not read them.
func (w *watchedNamespace) synced() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, i := range w.informers {
		if !i.synced() && !apierrors.IsForbidden(i.Last()) {
			return false
		}
	}
	return len(w.informers) > 0
}

// inform returns an informer, which does not run yet.
func (l *Live) inform(
	namespace, name string, from source, client any, example runtime.Object, transform cache.TransformFunc, handler cache.ResourceEventHandler,
) *informer {
	i := &informer{}
	shared := cache.NewSharedIndexInformer(l.freshness.follow(i, from, client), example, 0, cache.Indexers{})
	// These fail only after the start.
	_ = shared.SetTransform(transform)
	_ = i.Follow(shared, func(err error) {
		l.options.Logger.Warnw("objects cannot be watched, the console does not show them: allow list and watch on the resource",
			"resource", name, "namespace", namespace, "error", err)
	})
	registered, _ := shared.AddEventHandler(handler)
	i.shared, i.synced = shared, registered.HasSynced
	return i
}

// objects reads objects of a kind.
type objects struct{ client dynamic.ResourceInterface }

func (o objects) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return o.client.List(ctx, options)
}

func (o objects) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return o.client.Watch(ctx, options)
}

// pods reads the Pods that podSelector selects.
type pods struct{ client typedcorev1.PodInterface }

func (p pods) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	options.LabelSelector = podSelector
	return p.client.List(ctx, options)
}

func (p pods) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.LabelSelector = podSelector
	return p.client.Watch(ctx, options)
}

// objectTransform returns what makes objects small before they are kept. It may get what it made.
func (l *Live) objectTransform(k kind) cache.TransformFunc {
	return func(given any) (any, error) {
		if source, ok := given.(*unstructured.Unstructured); ok {
			return newObject(source, k.name(), l.options.Settings(), l.clock.Now()), nil
		}
		return given, nil
	}
}

func (l *Live) podTransform(given any) (any, error) {
	if source, ok := given.(*corev1.Pod); ok {
		return newPod(source), nil
	}
	return given, nil
}

func (l *Live) objectHandler() cache.ResourceEventHandler {
	set := func(given any) {
		if o, ok := given.(*object); ok {
			l.setObject(o)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: set, UpdateFunc: func(_, now any) { set(now) },
		DeleteFunc: func(given any) {
			last, unseen := lastState(given)
			if o, ok := last.(*object); ok {
				l.deleteObject(o.row.Ref, o.UID, unseen)
			}
		},
	}
}

func (l *Live) podHandler() cache.ResourceEventHandler {
	set := func(given any) {
		if p, ok := given.(*pod); ok && len(p.keys) > 0 {
			l.setPod(p)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: set, UpdateFunc: func(_, now any) { set(now) },
		DeleteFunc: func(given any) {
			last, _ := lastState(given)
			if p, ok := last.(*pod); ok {
				l.deletePod(nameOf(p), p.UID)
			}
		},
	}
}

// lastState returns the last known state of what was deleted, and whether the deletion itself was not seen.
func lastState(given any) (last any, unseen bool) {
	if tombstone, ok := given.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Obj, true
	}
	return given, false
}
