package application

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// executors counts the ready executors of each driver, as the watch tells of their Pods, so that nobody has to list
// them: what one Pod's news costs does not depend on how many there are.
type executors struct {
	mutex sync.Mutex
	// ready are those that are counted, and where.
	ready map[types.UID]crewID
	crews map[crewID]crew
	// allocators are the owners that are no Pods, of each attempt that has any.
	allocators map[applicationID][]types.UID
}

// applicationID is what the executors of an attempt have in common. A user may give the same to several attempts.
type applicationID struct{ namespace, id string }

func (a applicationID) String() string { return a.namespace + "/" + a.id }

// crewID names the executors of one owner: a driver Pod or, where the driver leaves their making to an allocator, the
// StatefulSet or ReplicaSet that it has them from.
type crewID struct {
	applicationID
	owner types.UID
}

// crew are the ready executors of one owner.
type crew struct {
	ofPod bool
	// since is when the first of them was created.
	since time.Time
	ready int
}

func newExecutors() *executors {
	return &executors{
		ready: map[types.UID]crewID{}, crews: map[crewID]crew{}, allocators: map[applicationID][]types.UID{},
	}
}

// note takes news of a Pod: what it was, and what it is; either may be nil. It says whether an executor became ready,
// or ceased to be.
func (e *executors) note(before, after *executorPod) (changed bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if before != nil && (after == nil || !after.ready || after.UID != before.UID || after.crew() != before.crew()) {
		changed = e.remove(before.UID)
	}
	if after != nil && after.ready {
		changed = e.add(after) || changed
	}
	return changed
}

func (e *executors) add(pod *executorPod) bool {
	if _, known := e.ready[pod.UID]; known {
		return false
	}
	id := pod.crew()
	e.ready[pod.UID] = id
	its, known := e.crews[id]
	if !known && !pod.ofPod {
		e.allocators[id.applicationID] = append(e.allocators[id.applicationID], id.owner)
	}
	if !known || pod.CreationTimestamp.Time.Before(its.since) {
		its.since = pod.CreationTimestamp.Time
	}
	its.ofPod = pod.ofPod
	its.ready++
	e.crews[id] = its
	return true
}

func (e *executors) remove(pod types.UID) bool {
	id, known := e.ready[pod]
	if !known {
		return false
	}
	delete(e.ready, pod)
	its := e.crews[id]
	if its.ready--; its.ready > 0 {
		e.crews[id] = its
		return true
	}
	delete(e.crews, id)
	if its.ofPod {
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
func (e *executors) count(namespace string, launch *v1alpha1.Launch, driver *corev1.Pod) int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	id := applicationID{namespace, launch.ApplicationID}
	count := e.crews[crewID{id, launch.DriverUID}].ready
	for _, owner := range e.allocators[id] {
		if its := e.crews[crewID{id, owner}]; driver == nil || !its.since.Before(driver.CreationTimestamp.Time) {
			count += its.ready
		}
	}
	return count
}
