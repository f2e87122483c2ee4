package application

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// executors counts the ready executors of each driver, as the watch tells of their Pods, so that nobody has to list
// them: what one Pod's news costs does not depend on how many there are.
type executors struct {
	mutex sync.Mutex
	crews map[applicationID]map[types.UID]*crew
}

// applicationID is what the executors of an attempt have in common. A user may give the same to several attempts.
type applicationID struct{ namespace, id string }

func (a applicationID) String() string { return a.namespace + "/" + a.id }

// crew are the ready executors of one owner: a driver Pod or, where the driver leaves their making to an allocator, the
// StatefulSet or ReplicaSet that it has them from.
type crew struct {
	ofPod bool
	// since is when the first of them was created.
	since time.Time
	ready map[types.UID]struct{}
}

func newExecutors() *executors {
	return &executors{crews: map[applicationID]map[types.UID]*crew{}}
}

// note takes news of a Pod: what it was, and what it is; either may be nil. It says whether an executor became ready,
// or ceased to be.
func (e *executors) note(before, after *executorPod) bool {
	was, is := before != nil && before.ready, after != nil && after.ready
	if was && is && before.UID == after.UID || !was && !is {
		return false
	}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if was {
		e.remove(before)
	}
	if is {
		e.add(after)
	}
	return true
}

func (e *executors) add(pod *executorPod) {
	id := pod.application()
	if e.crews[id] == nil {
		e.crews[id] = map[types.UID]*crew{}
	}
	its := e.crews[id][pod.owner]
	if its == nil {
		its = &crew{ofPod: pod.ofPod, since: pod.CreationTimestamp.Time, ready: map[types.UID]struct{}{}}
		e.crews[id][pod.owner] = its
	}
	if pod.CreationTimestamp.Time.Before(its.since) {
		its.since = pod.CreationTimestamp.Time
	}
	its.ready[pod.UID] = struct{}{}
}

func (e *executors) remove(pod *executorPod) {
	id := pod.application()
	its := e.crews[id][pod.owner]
	if its == nil {
		return
	}
	if delete(its.ready, pod.UID); len(its.ready) == 0 {
		delete(e.crews[id], pod.owner)
	}
	if len(e.crews[id]) == 0 {
		delete(e.crews, id)
	}
}

// count is the number of a launch's ready executors. Those that an allocator made are its own where they are not older
// than the driver.
func (e *executors) count(namespace string, launch *v1alpha1.Launch, driver *corev1.Pod) int {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	count := 0
	for owner, its := range e.crews[applicationID{namespace, launch.ApplicationID}] {
		allocated := !its.ofPod && (driver == nil || !its.since.Before(driver.CreationTimestamp.Time))
		if allocated || owner == launch.DriverUID {
			count += len(its.ready)
		}
	}
	return count
}

func applicationIDOf(driver *corev1.Pod) applicationID {
	return applicationID{driver.Namespace, driver.Labels[submission.LabelApplicationID]}
}
