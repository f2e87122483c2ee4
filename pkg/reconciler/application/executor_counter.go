package application

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// executorCounter counts the ready executors of each driver, as the watch tells of their Pods, so that nobody has to list
// them: what one Pod's news costs does not depend on how many there are.
type executorCounter struct {
	mutex sync.Mutex
	// ready are those that are counted, and where.
	ready  map[types.UID]groupID
	groups map[groupID]executorGroup
	// allocators are the owners that are no Pods, of each attempt that has any.
	allocators map[applicationID][]types.UID
}

// applicationID is what the executors of an attempt have in common. A user may give the same to several attempts.
type applicationID struct{ namespace, id string }

func (a applicationID) String() string { return a.namespace + "/" + a.id }

// groupID names the executors of one owner: a driver Pod or, where the driver leaves their making to an allocator, the
// StatefulSet or ReplicaSet that it has them from.
type groupID struct {
	applicationID
	owner types.UID
}

// executorGroup are the ready executors of one owner.
type executorGroup struct {
	ofPod bool
	// since is when the first of them was created.
	since time.Time
	ready int
}

func newExecutorCounter() *executorCounter {
	return &executorCounter{
		ready: map[types.UID]groupID{}, groups: map[groupID]executorGroup{}, allocators: map[applicationID][]types.UID{},
	}
}

// update takes news of a Pod: what it was, and what it is; either may be nil. It says whether an executor became ready,
// or ceased to be.
func (e *executorCounter) update(before, after *executorPod) (changed bool) {
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

func (e *executorCounter) add(pod *executorPod) bool {
	if _, known := e.ready[pod.UID]; known {
		return false
	}
	id := pod.group()
	e.ready[pod.UID] = id
	group, known := e.groups[id]
	if !known && !pod.ofPod {
		e.allocators[id.applicationID] = append(e.allocators[id.applicationID], id.owner)
	}
	if !known || pod.CreationTimestamp.Time.Before(group.since) {
		group.since = pod.CreationTimestamp.Time
	}
	group.ofPod = pod.ofPod
	group.ready++
	e.groups[id] = group
	return true
}

func (e *executorCounter) remove(pod types.UID) bool {
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
	others := slices.DeleteFunc(e.allocators[id.applicationID], func(owner types.UID) bool { return owner == id.owner })
	if e.allocators[id.applicationID] = others; len(others) == 0 {
		delete(e.allocators, id.applicationID)
	}
	return true
}

// count is the number of a launch's ready executors. Those that an allocator made are its own where they are not older
// than the driver.
func (e *executorCounter) count(namespace string, launch *v1alpha1.Launch, driver *corev1.Pod) int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	id := applicationID{namespace, launch.ApplicationID}
	count := e.groups[groupID{id, launch.DriverUID}].ready
	for _, owner := range e.allocators[id] {
		if group := e.groups[groupID{id, owner}]; driver == nil || !group.since.Before(driver.CreationTimestamp.Time) {
			count += group.ready
		}
	}
	return count
}
