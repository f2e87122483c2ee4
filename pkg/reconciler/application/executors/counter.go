package executors

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Counter counts the ready executors of each driver. The informer's events update it, so the cost of one event does not depend on
// the number of executors.
type Counter struct {
	mutex sync.Mutex
	// ready holds the group of each executor that is counted.
	ready  map[types.UID]groupID
	groups map[groupID]group
	// allocators holds the owners of an attempt's executors that are not Pods.
	allocators map[ApplicationID][]types.UID
}

// ApplicationID is the spark.app.id of an attempt, with its namespace. A user may give the same ID to several attempts.
type ApplicationID struct{ Namespace, ID string }

// String returns the ID as a key of an index.
func (a ApplicationID) String() string { return a.Namespace + "/" + a.ID }

// groupID identifies the executors of one owner. The owner is the driver Pod. If the driver uses an allocator, it is a StatefulSet
// or ReplicaSet.
type groupID struct {
	ApplicationID
	owner types.UID
}

// group counts the ready executors of one owner.
type group struct {
	ofPod bool
	// since is when the oldest of them was created.
	since time.Time
	ready int
}

// NewCounter returns a counter without executors.
func NewCounter() *Counter {
	return &Counter{
		ready: map[types.UID]groupID{}, groups: map[groupID]group{}, allocators: map[ApplicationID][]types.UID{},
	}
}

// Update applies an event of the informer. before and after are the Pod before and after the event; either may be nil. It
// reports whether the number of ready executors changed.
func (e *Counter) Update(before, after *Pod) (changed bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if before != nil && (after == nil || !after.ready || after.UID != before.UID || after.group() != before.group()) {
		changed = e.remove(before.UID)
	}
	if after != nil && after.ready {
		changed = e.add(after) || changed
	}
	return changed
}

func (e *Counter) add(pod *Pod) bool {
	if _, known := e.ready[pod.UID]; known {
		return false
	}
	id := pod.group()
	e.ready[pod.UID] = id
	group, known := e.groups[id]
	if !known && !pod.ofPod {
		e.allocators[id.ApplicationID] = append(e.allocators[id.ApplicationID], id.owner)
	}
	if !known || pod.CreationTimestamp.Time.Before(group.since) {
		group.since = pod.CreationTimestamp.Time
	}
	group.ofPod = pod.ofPod
	group.ready++
	e.groups[id] = group
	return true
}

func (e *Counter) remove(pod types.UID) bool {
	id, known := e.ready[pod]
	if !known {
		return false
	}
	delete(e.ready, pod)
	group := e.groups[id]
	if group.ready--; group.ready > 0 {
		e.groups[id] = group
		return true
	}
	delete(e.groups, id)
	if group.ofPod {
		return true
	}
	others := slices.DeleteFunc(e.allocators[id.ApplicationID], func(owner types.UID) bool { return owner == id.owner })
	if e.allocators[id.ApplicationID] = others; len(others) == 0 {
		delete(e.allocators, id.ApplicationID)
	}
	return true
}

// Count returns the number of ready executors of a launch. Executors of an allocator belong to the launch if they are not
// older than the driver.
func (e *Counter) Count(namespace string, launch *v1alpha1.Launch, driver *corev1.Pod) int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	id := ApplicationID{namespace, launch.ApplicationID}
	count := e.groups[groupID{id, launch.DriverUID}].ready
	for _, owner := range e.allocators[id] {
		if group := e.groups[groupID{id, owner}]; driver == nil || !group.since.Before(driver.CreationTimestamp.Time) {
			count += group.ready
		}
	}
	return count
}
