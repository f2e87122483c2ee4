package executors

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
)

const (
	// MaxFinished is how many executor Pods that have ended stay for the archive while their driver runs.
	MaxFinished = 100
	// finishedAge is how long each of them stays at least: all executors of an application that ends do so a moment before its driver.
	finishedAge = time.Minute
)

// Finished holds the executor Pods that have ended and still exist.
type Finished struct {
	mutex  sync.Mutex
	groups map[groupID]map[types.UID]FinishedPod
}

// FinishedPod is an executor Pod that has ended.
type FinishedPod struct {
	Name string
	UID  types.UID
	// ended is when it ended, in seconds since 1970.
	ended int64
}

// NewFinished returns a set without Pods.
func NewFinished() *Finished { return &Finished{groups: map[groupID]map[types.UID]FinishedPod{}} }

// Update applies an event of the informer. It reports whether another executor ended, and more of them than stay.
func (f *Finished) Update(before, after *Pod) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if before != nil && (after == nil || after.UID != before.UID || after.group() != before.group()) {
		f.remove(before)
	}
	if after == nil || !after.ended() {
		return false
	}
	group := f.groups[after.group()]
	if group == nil {
		group = map[types.UID]FinishedPod{}
		f.groups[after.group()] = group
	}
	_, known := group[after.UID]
	group[after.UID] = FinishedPod{after.Name, after.UID, cmp.Or(after.usage.Ended, after.CreationTimestamp.Unix())}
	return !known && len(group) > MaxFinished
}

func (f *Finished) remove(pod *Pod) {
	group := f.groups[pod.group()]
	if delete(group, pod.UID); len(group) == 0 {
		delete(f.groups, pod.group())
	}
}

// MoreThanStay reports whether more executors of a launch have ended than stay.
func (f *Finished) MoreThanStay(namespace string, launch *v1alpha1.Launch) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return len(f.groups[groupOf(namespace, launch)]) > MaxFinished
}

// Surplus returns the executor Pods of a launch that do not stay: the oldest ones, at most a number.
func (f *Finished) Surplus(namespace string, launch *v1alpha1.Launch, now time.Time, most int) []FinishedPod {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	group := f.groups[groupOf(namespace, launch)]
	surplus := len(group) - MaxFinished
	if surplus <= 0 {
		return nil
	}
	pods := make([]FinishedPod, 0, len(group))
	for _, pod := range group {
		pods = append(pods, pod)
	}
	slices.SortFunc(pods, func(a, b FinishedPod) int { return cmp.Or(cmp.Compare(a.ended, b.ended), cmp.Compare(a.Name, b.Name)) })
	pods = pods[:min(surplus, most)]
	oldest := now.Add(-finishedAge).Unix()
	return slices.DeleteFunc(pods, func(pod FinishedPod) bool { return pod.ended > oldest })
}
