package drivers

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

const (
	// maxRelabelled bounds the watches of single Pods. Each is a connection to the API server.
	maxRelabelled = 256
	// UnwatchedInterval is how often a Pod is read that none of these watches follows.
	UnwatchedInterval = 10 * time.Second
)

// Relabelled follows the driver Pods that the informer does not show because another writer changed their labels. Each Pod
// has its own watch. An application has at most one such Pod.
type Relabelled struct {
	ctx      context.Context
	kube     kubernetes.Interface
	strip    cache.TransformFunc
	selector labels.Selector
	events   RelabelledEvents
	// owned reports whether this replica leads an application that still exists.
	owned base.Owned

	mutex   sync.Mutex
	pods    map[types.NamespacedName]*relabelledPod
	watches int
}

// RelabelledEvents are called when a followed Pod has changed or is gone.
type RelabelledEvents struct {
	Changed func(app types.NamespacedName)
	Deleted func(pod *corev1.Pod, tombstone bool)
}

// relabelledPod is the driver Pod of one application.
type relabelledPod struct {
	app      types.NamespacedName
	uid      types.UID
	lastSeen *Pod
	// stop ends the watch; nil if there is none.
	stop context.CancelFunc
}

// NewRelabelled returns a Relabelled that follows no Pod yet. The context ends all watches. A caller that ends the ownership
// of an application calls Forget or ForgetMatching after that.
func NewRelabelled(
	ctx context.Context, kube kubernetes.Interface, api *dialect.API, owned base.Owned, events RelabelledEvents,
) *Relabelled {
	return &Relabelled{
		ctx: ctx, kube: kube, strip: Strip(api), selector: api.SelectsDrivers(), events: events, owned: owned,
		pods: map[types.NamespacedName]*relabelledPod{},
	}
}

// Follow watches the driver Pod of an application if the informer does not show it. It reports whether the Pod is watched:
// by the informer, by Relabelled, or by the replica that owns the application.
func (r *Relabelled) Follow(object dialect.Application, pod *corev1.Pod) bool {
	app := kube.KeyOf(object)
	if r.selector.Matches(labels.Set(pod.Labels)) {
		r.Forget(app)
		return true
	}
	kept, err := r.strip(pod.DeepCopy())
	if err != nil {
		return false
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.forgetLocked(app)
	if !r.owned(app, object.GetUID()) {
		return true
	}
	followed := &relabelledPod{app: app, uid: pod.UID, lastSeen: kept.(*Pod)}
	r.pods[app] = followed
	if r.watches >= maxRelabelled {
		return false
	}
	var ctx context.Context
	ctx, followed.stop = context.WithCancel(r.ctx)
	r.watches++
	reflector := cache.NewReflectorWithOptions(r.listWatch(pod.Namespace, pod.Name), &corev1.Pod{}, &podStore{r, followed},
		cache.ReflectorOptions{Name: "driver Pod " + app.String()})
	go reflector.RunWithContext(ctx)
	return true
}

func (r *Relabelled) listWatch(namespace, name string) cache.ListerWatcher {
	pods, one := r.kube.CoreV1().Pods(namespace), fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	return kube.NewSource(r.kube, pods.List, pods.Watch)(func(options *metav1.ListOptions) { options.FieldSelector = one })
}

// Watched returns the driver Pod of an application if Relabelled watches it, else nil.
func (r *Relabelled) Watched(app types.NamespacedName, uid types.UID) *corev1.Pod {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	followed := r.pods[app]
	if followed == nil || followed.uid != uid || followed.stop == nil {
		return nil
	}
	return followed.lastSeen.AsPod()
}

// LastSeen returns the driver Pod of an application as it was last seen with changed labels, else nil.
func (r *Relabelled) LastSeen(app types.NamespacedName, uid types.UID) *corev1.Pod {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	followed := r.pods[app]
	if followed == nil || followed.uid != uid {
		return nil
	}
	return followed.lastSeen.AsPod()
}

// Forget ends the watch of an application's driver Pod, if there is one.
func (r *Relabelled) Forget(app types.NamespacedName) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.forgetLocked(app)
}

// ForgetMatching ends the watches of the applications for which remove returns true.
func (r *Relabelled) ForgetMatching(remove func(app types.NamespacedName) bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for app := range r.pods {
		if remove(app) {
			r.forgetLocked(app)
		}
	}
}

func (r *Relabelled) forgetLocked(app types.NamespacedName) {
	followed := r.pods[app]
	if followed == nil {
		return
	}
	delete(r.pods, app)
	if followed.stop != nil {
		followed.stop()
		r.watches--
	}
}

// update stores a newer state of a followed Pod.
func (r *Relabelled) update(followed *relabelledPod, pod *Pod) {
	r.mutex.Lock()
	current := r.pods[followed.app] == followed
	if current {
		followed.lastSeen = pod
	}
	r.mutex.Unlock()
	if current {
		r.events.Changed(followed.app)
	}
}

// end stops following a Pod that is gone, or seems to be gone: the next reconcile reads it live.
func (r *Relabelled) end(followed *relabelledPod) {
	r.mutex.Lock()
	current := r.pods[followed.app] == followed
	if current {
		r.forgetLocked(followed.app)
	}
	r.mutex.Unlock()
	if current {
		r.events.Changed(followed.app)
	}
}

// podStore receives the events of the watch of one Pod.
type podStore struct {
	*Relabelled
	followed *relabelledPod
}

// Add receives the Pod, or a later Pod with the same name.
func (s *podStore) Add(object any) error {
	kept, err := s.strip(object)
	if err != nil {
		return err
	}
	pod, ok := kept.(*Pod)
	if !ok || pod.UID != s.followed.uid {
		s.end(s.followed)
		return nil
	}
	s.update(s.followed, pod)
	return nil
}

// Update is Add.
func (s *podStore) Update(object any) error { return s.Add(object) }

// Delete receives the last state of the Pod.
func (s *podStore) Delete(object any) error {
	kept, err := s.strip(object)
	if err != nil {
		return err
	}
	if pod, ok := kept.(*Pod); ok && pod.UID == s.followed.uid {
		s.events.Deleted(pod.AsPod(), false)
	}
	s.end(s.followed)
	return nil
}

// Replace receives all Pods with the name: one, or none.
func (s *podStore) Replace(objects []any, _ string) error {
	for _, object := range objects {
		return s.Add(object)
	}
	s.end(s.followed)
	return nil
}

// Resync does nothing: all that was seen is already known.
func (s *podStore) Resync() error { return nil }
