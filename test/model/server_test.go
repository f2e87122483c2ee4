package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/test/invariants"
)

// Resources, with their groups where they have one.
const (
	apaches   = "sparkapplications.spark.apache.org"
	kubeflows = "sparkapplications.sparkoperator.k8s.io"
	earlies   = "sparkapplications.spark-operator.k8s.io"
	pods      = "pods"
	leases    = "leases.coordination.k8s.io"
)

// object is anything that the server stores.
type object interface {
	runtime.Object
	metav1.Object
}

// key names an object.
type key struct{ resource, namespace, name string }

func (k key) String() string { return k.resource + " " + k.namespace + "/" + k.name }

// change is an entry of the server's log, from which watches are served.
type change struct {
	at       time.Time
	revision int64
	kind     watch.EventType
	resource string
	object   object
	// before is the object before the change; nil if there was none.
	before object
}

// shownBy returns how a watch with a selector shows a change. It shows an object that the selector lets through no more as deleted, in its
// state before the change, and one that it lets through again as created. Shown is nil if the watch does not show the change.
func (c change) shownBy(selects func(object) bool) (kind watch.EventType, shown object) {
	before, after := c.before != nil && selects(c.before), c.kind != watch.Deleted && selects(c.object)
	switch {
	case before && c.kind == watch.Deleted:
		return watch.Deleted, c.object
	case before && !after:
		shown = clone(c.before)
		shown.SetResourceVersion(c.object.GetResourceVersion())
		return watch.Deleted, shown
	case after && !before:
		return watch.Added, c.object
	case after:
		return watch.Modified, c.object
	default:
		return "", nil
	}
}

// String describes a change in a line.
func (c change) String() string {
	text := fmt.Sprintf("%s %4d %-8s %s/%s %s", c.at.Format("15:04:05.000"), c.revision, c.kind, c.resource, c.object.GetName(), c.object.GetUID())
	if c.object.GetDeletionTimestamp() != nil {
		text += " terminating"
	}
	switch o := c.object.(type) {
	case *corev1.Pod:
		text += fmt.Sprintf(" of %s %s %s %s, %d labels", ownerOf(o), o.Status.Phase, o.Annotations["node"], o.Labels[dialect.LabelLaunch], len(o.Labels))
	case dialect.Application:
		if r := o.GetRecord(); r != nil {
			text += fmt.Sprintf(" %s of attempt %d", lifecycle.CurrentState(r), r.Attempt.ID)
			if r.Launch != nil {
				text += fmt.Sprintf(", launch %s, driver %s", r.Launch.ID, r.Launch.DriverUID)
			}
		}
	}
	return text
}

// server is a model of the API server and of its garbage collector.
type server struct {
	t *testing.T

	mu       sync.Mutex
	revision int64
	births   int
	objects  map[key]object
	log      []change
	// news is closed and replaced at each change.
	news chan struct{}
	// history sees every revision of applications and driver Pods.
	history *invariants.History
	// interrupts reports whether the removal of a Pod is interrupted after its grace period was set to zero; nil if none is.
	interrupts func() bool
}

func newServer(t *testing.T) *server {
	return &server{t: t, objects: map[key]object{}, news: make(chan struct{}), history: invariants.NewHistory(config.Default().Events.DeletionGrace)}
}

func (s *server) get(k key) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, known := s.objects[k]
	if !known {
		return nil, apierrors.NewNotFound(groupResource(k), k.name)
	}
	return clone(stored), nil
}

// list returns what a selector lets through, and the revision that it is of.
func (s *server) list(resource string, selects func(object) bool) ([]object, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []object
	for k, stored := range s.objects {
		if k.resource == resource && selects(stored) {
			found = append(found, clone(stored))
		}
	}
	slices.SortFunc(found, func(a, b object) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return found, s.revision
}

func (s *server) create(k key, given object) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.objects[k]; taken {
		return nil, apierrors.NewAlreadyExists(groupResource(k), k.name)
	}
	s.births++
	made := clone(given)
	made.SetUID(types.UID(fmt.Sprintf("uid-%d", s.births)))
	made.SetCreationTimestamp(metav1.Now().Rfc3339Copy())
	made.SetGeneration(1)
	if pod, ok := made.(*corev1.Pod); ok {
		pod.Status.Phase = corev1.PodPending
	}
	s.store(k, made, watch.Added)
	if owner := ownerOf(made); owner != "" && !s.exists(owner) {
		s.end(k, made, nil) // the garbage collector's work
	}
	return clone(made), nil
}

// alive reports whether a driver may run, now or later. One whose containers ended, or that no node will start, cannot.
func alive(pod *corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func ownerOf(o metav1.Object) types.UID {
	for _, owner := range o.GetOwnerReferences() {
		return owner.UID
	}
	return ""
}

func (s *server) exists(uid types.UID) bool {
	for _, stored := range s.objects {
		if stored.GetUID() == uid {
			return true
		}
	}
	return false
}

// change writes an object as change makes it of the stored one, where the precondition holds.
func (s *server) change(k key, condition metav1.Preconditions, change func(stored object) error) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, known := s.objects[k]
	if !known {
		return nil, apierrors.NewNotFound(groupResource(k), k.name)
	}
	if err := holds(k, condition, stored); err != nil {
		return nil, err
	}
	changed := clone(stored)
	if err := change(changed); err != nil {
		return nil, err
	}
	if changed.GetDeletionTimestamp() != nil && len(changed.GetFinalizers()) == 0 && !heldByNode(changed) {
		s.remove(k, changed)
		return clone(changed), nil
	}
	s.store(k, changed, watch.Modified)
	return clone(changed), nil
}

// heldByNode reports whether a terminating object is a Pod within its grace period.
func heldByNode(o object) bool {
	pod, ok := o.(*corev1.Pod)
	return ok && *pod.DeletionGracePeriodSeconds > 0
}

func holds(k key, condition metav1.Preconditions, stored object) error {
	wrongUID := condition.UID != nil && *condition.UID != stored.GetUID()
	wrongVersion := condition.ResourceVersion != nil && *condition.ResourceVersion != "" &&
		*condition.ResourceVersion != stored.GetResourceVersion()
	if wrongUID || wrongVersion {
		return apierrors.NewConflict(groupResource(k), k.name, fmt.Errorf("it is %s at %s", stored.GetUID(), stored.GetResourceVersion()))
	}
	return nil
}

// update takes metadata and spec of an object, or with the subresource its status.
func (s *server) update(k key, given object, subresource string) (object, error) {
	version := given.GetResourceVersion()
	return s.change(k, metav1.Preconditions{ResourceVersion: &version}, func(stored object) error {
		return s.merge(stored, given, subresource)
	})
}

func (s *server) merge(stored, given object, subresource string) error {
	wanted := clone(given)
	switch app := stored.(type) {
	case *sparkv1.SparkApplication:
		wanted := wanted.(*sparkv1.SparkApplication)
		return mergeParts(app, wanted, subresource, part(&app.Spec, wanted.Spec), part(&app.Status, wanted.Status))
	case *v1beta2.SparkApplication:
		wanted := wanted.(*v1beta2.SparkApplication)
		return mergeParts(app, wanted, subresource, part(&app.Spec, wanted.Spec), part(&app.Status, wanted.Status))
	case *earlyv1alpha1.SparkApplication:
		wanted := wanted.(*earlyv1alpha1.SparkApplication)
		return mergeParts(app, wanted, subresource, part(&app.Spec, wanted.Spec), part(&app.Status, wanted.Status))
	case *coordinationv1.Lease:
		app.Spec = wanted.(*coordinationv1.Lease).Spec
		return nil
	default:
		return fmt.Errorf("no update of a %T is modelled", stored)
	}
}

// part returns a part of an object in JSON, to compare it with an earlier one.
func part[T any](stored *T, wanted T) func() bool {
	return func() bool {
		before, _ := json.Marshal(stored)
		after, _ := json.Marshal(wanted)
		*stored = wanted
		return string(before) != string(after)
	}
}

func mergeParts(stored, wanted object, subresource string, spec, status func() bool) error {
	if subresource == "status" {
		status()
		return nil
	}
	stored.SetFinalizers(wanted.GetFinalizers())
	stored.SetAnnotations(wanted.GetAnnotations())
	if spec() {
		stored.SetGeneration(stored.GetGeneration() + 1)
	}
	return nil
}

// patch applies a JSON merge patch to an application.
func (s *server) patch(k key, patch []byte, subresource string) (object, error) {
	var condition struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(patch, &condition); err != nil {
		return nil, err
	}
	version := condition.Metadata.ResourceVersion
	return s.change(k, metav1.Preconditions{ResourceVersion: &version}, func(stored object) error {
		before, err := json.Marshal(stored)
		if err != nil {
			return err
		}
		after, err := jsonpatch.MergePatch(before, patch)
		if err != nil {
			return err
		}
		patched := newApplication(k.resource)
		if err := json.Unmarshal(after, patched); err != nil {
			return err
		}
		return s.merge(stored, patched, subresource)
	})
}

// delete begins the deletion of an object, and ends it where nothing holds it: a Pod is held by its node.
func (s *server) delete(k key, options metav1.DeleteOptions) error {
	condition := metav1.Preconditions{}
	if options.Preconditions != nil {
		condition = *options.Preconditions
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, known := s.objects[k]
	if !known {
		return apierrors.NewNotFound(groupResource(k), k.name)
	}
	if err := holds(k, condition, stored); err != nil {
		return err
	}
	s.end(k, stored, options.GracePeriodSeconds)
	return nil
}

func (s *server) end(k key, stored object, grace *int64) {
	going := clone(stored)
	held := len(going.GetFinalizers()) > 0
	if pod, ok := going.(*corev1.Pod); ok {
		seconds := int64(30)
		if grace != nil {
			seconds = *grace
		}
		before := pod.DeletionGracePeriodSeconds
		if before != nil {
			seconds = min(seconds, *before) // a grace period only becomes shorter
		}
		if pod.Spec.NodeName == "" {
			seconds = 0
		}
		pod.DeletionGracePeriodSeconds = &seconds
		held = held || seconds > 0
		if interrupted := s.interrupts != nil && (before == nil || *before > 0) && s.interrupts(); interrupted {
			held = true
		}
		if shorter := before != nil && seconds < *before; held && shorter {
			going.SetDeletionTimestamp(nil) // it is set anew
		}
	}
	if !held {
		s.remove(k, going)
		return
	}
	if going.GetDeletionTimestamp() == nil {
		now := metav1.Now().Rfc3339Copy() // timestamps of metadata are of whole seconds
		if pod, ok := going.(*corev1.Pod); ok {
			now = metav1.NewTime(now.Add(time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second))
		}
		going.SetDeletionTimestamp(&now)
		s.store(k, going, watch.Modified)
	}
}

// remove takes an object out, and what it owned after it.
func (s *server) remove(k key, gone object) {
	before := s.objects[k]
	delete(s.objects, k)
	s.enter(k, gone, watch.Deleted, before)
	var left []key
	for other, owned := range s.objects {
		if ownerOf(owned) == gone.GetUID() {
			left = append(left, other)
		}
	}
	slices.SortFunc(left, func(a, b key) int { return cmp.Compare(a.String(), b.String()) })
	for _, other := range left {
		if owned, stored := s.objects[other]; stored {
			s.end(other, owned, nil)
		}
	}
}

func (s *server) store(k key, o object, kind watch.EventType) {
	before := s.objects[k]
	s.objects[k] = o
	s.enter(k, o, kind, before)
}

func (s *server) enter(k key, o object, kind watch.EventType, before object) {
	s.revision++
	o.SetResourceVersion(fmt.Sprint(s.revision))
	if k.resource == leases {
		return // they are not watched
	}
	s.log = append(s.log, change{at: time.Now(), revision: s.revision, kind: kind, resource: k.resource, object: clone(o), before: before})
	close(s.news)
	s.news = make(chan struct{})
	switch o := o.(type) {
	case dialect.Application:
		s.history.SawApplication(kind, o)
	case *corev1.Pod:
		s.history.SawPod(kind, o)
	}
}

// after is what changed of a resource after a revision, and a channel that is closed when there is more.
func (s *server) after(resource string, revision int64) ([]change, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []change
	first, _ := slices.BinarySearchFunc(s.log, revision+1, func(c change, wanted int64) int { return int(c.revision - wanted) })
	for _, c := range s.log[first:] {
		if c.resource == resource {
			found = append(found, c)
		}
	}
	return found, s.news
}

func clone(o object) object { return o.DeepCopyObject().(object) }

func groupResource(k key) schema.GroupResource { return schema.GroupResource{Resource: k.resource} }
