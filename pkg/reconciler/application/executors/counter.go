package executors

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

// Counter counts the executors of each driver that have not ended, and those that are ready. The informer's events update it, so the cost
// of one event does not depend on the number of executors.
type Counter struct {
	mutex sync.Mutex
	// counted are the executors that are counted.
	counted map[types.UID]counted
	groups  map[groupID]group
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

// groupOf returns the ID of the executors that the driver of a launch created.
func groupOf(namespace string, launch *v1alpha1.Launch) groupID {
	return groupID{ApplicationID{namespace, launch.ApplicationID}, launch.DriverUID}
}

// counted is an executor that is counted.
type counted struct {
	groupID
	ready bool
}

// group counts the executors of one owner.
type group struct {
	ofPod bool
	// since is when the oldest of them was created.
	since       time.Time
	live, ready int
}

// NewCounter returns a counter without executors.
func NewCounter() *Counter {
	return &Counter{
		counted: map[types.UID]counted{}, groups: map[groupID]group{}, allocators: map[ApplicationID][]types.UID{},
	}
}

// Update applies an event of the informer. before and after are the Pod before and after the event; either may be nil. It
// reports whether the number of ready executors changed, and whether the number of all did.
func (e *Counter) Update(before, after *Pod) (ready, live bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	var earlier, current counted
	if before != nil && (after == nil || after.ended() || after.UID != before.UID || after.group() != before.group()) {
		earlier = e.remove(before.UID)
		ready, live = earlier.ready, earlier != counted{}
	}
	if after != nil && !after.ended() {
		earlier = e.counted[after.UID]
		current = e.add(after)
		ready, live = ready || earlier.ready != current.ready, live || earlier == counted{}
	}
	return ready, live
}

// add counts a Pod, or whether it is ready if it is counted.
func (e *Counter) add(pod *Pod) counted {
	before, known := e.counted[pod.UID]
	current := counted{pod.group(), pod.ready}
	if known {
		current.groupID = before.groupID
	}
	e.counted[pod.UID] = current
	group, groupKnown := e.groups[current.groupID]
	if !groupKnown && !pod.ofPod {
		e.allocators[current.ApplicationID] = append(e.allocators[current.ApplicationID], current.owner)
	}
	if !groupKnown || pod.CreationTimestamp.Time.Before(group.since) {
		group.since = pod.CreationTimestamp.Time
	}
	group.ofPod = pod.ofPod
	if !known {
		group.live++
	}
	group.ready += number(current.ready) - number(before.ready)
	e.groups[current.groupID] = group
	return current
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func (e *Counter) remove(pod types.UID) counted {
	earlier, known := e.counted[pod]
	if !known {
		return counted{}
	}
	delete(e.counted, pod)
	group, id := e.groups[earlier.groupID], earlier.groupID
	group.ready -= number(earlier.ready)
	if group.live--; group.live > 0 {
		e.groups[id] = group
		return earlier
	}
	delete(e.groups, id)
	if group.ofPod {
		return earlier
	}
	others := slices.DeleteFunc(e.allocators[id.ApplicationID], func(owner types.UID) bool { return owner == id.owner })
	if e.allocators[id.ApplicationID] = others; len(others) == 0 {
		delete(e.allocators, id.ApplicationID)
	}
	return earlier
}

// Count returns the number of ready executors of a launch. Executors of an allocator belong to the launch if they are not
// older than the driver.
func (e *Counter) Count(namespace string, launch *v1alpha1.Launch, driver *corev1.Pod) int {
	return e.sum(namespace, launch, driver, func(g group) int { return g.ready })
}

// CountLive returns the number of executors of a launch that have not ended.
func (e *Counter) CountLive(namespace string, launch *v1alpha1.Launch, driver *corev1.Pod) int {
	return e.sum(namespace, launch, driver, func(g group) int { return g.live })
}

func (e *Counter) sum(namespace string, launch *v1alpha1.Launch, driver *corev1.Pod, number func(group) int) int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	id := ApplicationID{namespace, launch.ApplicationID}
	count := number(e.groups[groupID{id, launch.DriverUID}])
	for _, owner := range e.allocators[id] {
		if group := e.groups[groupID{id, owner}]; driver == nil || !group.since.Before(driver.CreationTimestamp.Time) {
			count += number(group)
		}
	}
	return count
}
