package drivers

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// HasDriver reports whether a record names a driver Pod that is not released.
func HasDriver(record *v1alpha1.Record) bool {
	return record != nil && record.Launch != nil && !record.Launch.Released && record.Launch.DriverUID != ""
}

// maxExpectations bounds each kind of expectation. A forgotten one costs one live read.
const maxExpectations = 2048

// Expectations holds what this process knows of driver Pods and the caches may not show yet: which Pods it created, and
// which Pods are deleted or released.
type Expectations struct {
	clock     clock.PassiveClock
	deletions *lru.Cache
	releases  *lru.Cache
	creations *lru.Cache
}

// NewExpectations returns expectations about no Pod.
func NewExpectations(clock clock.PassiveClock) *Expectations {
	return &Expectations{
		clock: clock, deletions: lru.New(maxExpectations), releases: lru.New(maxExpectations), creations: lru.New(maxExpectations),
	}
}

// deletion is the last known state of a Pod that a watch reported as deleted.
type deletion struct {
	last *corev1.Pod
	// proven reports whether the Pod is gone. Otherwise its labels may have changed.
	proven bool
}

// PodDeleted records that a watch reported a Pod as deleted. tombstone means that the informer did not see the last state of
// the Pod: the Pod was missing in a new list.
//
// A watch that is filtered by labels also reports a deletion when a label is changed. The API server removes a Pod only
// after it has stored the grace period 0, and only if the Pod has no finalizer. So a Pod with such a last state is gone.
func (s *Expectations) PodDeleted(pod *corev1.Pod, tombstone bool) {
	grace := pod.DeletionGracePeriodSeconds
	proven := !tombstone && pod.DeletionTimestamp != nil && grace != nil && *grace == 0 && len(pod.Finalizers) == 0
	s.deletions.Add(pod.UID, deletion{last: pod, proven: proven})
}

// PodSeen forgets the deletion of a Pod that a watch reports to exist: its labels were restored, or the API server was
// restored from an older backup.
func (s *Expectations) PodSeen(uid types.UID) { s.deletions.Remove(uid) }

// ForgetDriver forgets all about the driver Pod of a record that is from an older backup: the Pod may have been restored,
// too.
func (s *Expectations) ForgetDriver(record *v1alpha1.Record) {
	if !HasDriver(record) {
		return
	}
	for _, memory := range []*lru.Cache{s.deletions, s.releases, s.creations} {
		memory.Remove(record.Launch.DriverUID)
	}
}

// Deleted returns the last known state of a Pod that a watch reported as deleted, and whether the Pod is proven to be gone.
// For any other Pod, it returns nil.
func (s *Expectations) Deleted(uid types.UID) (last *corev1.Pod, proven bool) {
	known, ok := s.deletions.Get(uid)
	if !ok {
		return nil, false
	}
	return known.(deletion).last, known.(deletion).proven
}

// DriverReleased records that a driver is released if another attempt followed its attempt. Such a driver is deleted, or it
// ended and terminates.
func (s *Expectations) DriverReleased(before, after *v1alpha1.Record) {
	if before == nil || before.Launch == nil || before.Launch.DriverUID == "" || before.Attempt.ID == after.Attempt.ID {
		return
	}
	s.releases.Add(before.Launch.DriverUID, nil)
}

// Released reports whether another attempt followed the attempt of a driver Pod.
func (s *Expectations) Released(uid types.UID) bool {
	_, known := s.releases.Get(uid)
	return known
}

// PodCreated records that this process created a Pod.
func (s *Expectations) PodCreated(uid types.UID) { s.creations.Add(uid, s.clock.Now()) }

// CreatedAt returns when this process created a Pod. It returns zero if that is not known.
func (s *Expectations) CreatedAt(uid types.UID) time.Time {
	at, known := s.creations.Get(uid)
	if !known {
		return time.Time{}
	}
	return at.(time.Time)
}

// JustCreated reports whether the event of a Pod's creation may be on its way. It returns false if the Pod's deletion was
// reported.
func (s *Expectations) JustCreated(uid types.UID) bool {
	_, reported := s.deletions.Get(uid)
	return !reported && s.clock.Since(s.CreatedAt(uid)) < base.EventDelay
}
