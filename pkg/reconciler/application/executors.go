package application

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
func (e *executors) note(before, after *corev1.Pod) bool {
	was, is := readyPod(before), readyPod(after)
	if was && is && before.GetUID() == after.GetUID() || !was && !is {
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

func (e *executors) add(pod *corev1.Pod) {
	id, owner := applicationIDOf(pod), ownerOfExecutor(pod)
	if e.crews[id] == nil {
		e.crews[id] = map[types.UID]*crew{}
	}
	its := e.crews[id][owner.UID]
	if its == nil {
		its = &crew{ofPod: owner.Kind == "Pod", since: pod.CreationTimestamp.Time, ready: map[types.UID]struct{}{}}
		e.crews[id][owner.UID] = its
	}
	if pod.CreationTimestamp.Time.Before(its.since) {
		its.since = pod.CreationTimestamp.Time
	}
	its.ready[pod.UID] = struct{}{}
}

func (e *executors) remove(pod *corev1.Pod) {
	id, owner := applicationIDOf(pod), ownerOfExecutor(pod)
	its := e.crews[id][owner.UID]
	if its == nil {
		return
	}
	if delete(its.ready, pod.UID); len(its.ready) == 0 {
		delete(e.crews[id], owner.UID)
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

func applicationIDOf(pod *corev1.Pod) applicationID {
	return applicationID{pod.Namespace, pod.Labels[submission.LabelApplicationID]}
}

func ownerOfExecutor(pod *corev1.Pod) metav1.OwnerReference {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return *owner
	}
	return metav1.OwnerReference{}
}

// readyPod is what the Apache operator counts: a Pod that runs and is ready.
func readyPod(pod *corev1.Pod) bool {
	if pod == nil || pod.Status.Phase != corev1.PodRunning {
		return false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
