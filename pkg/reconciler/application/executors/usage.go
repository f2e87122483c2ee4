package executors

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

// maxGone bounds the executors of an attempt that are remembered after their Pods are deleted: a status write counts them. Beyond it, those
// that are forgotten are a gap.
const maxGone = 8192

// Usage holds the times and the requests of executors, until a record has counted them.
type Usage struct {
	clock clock.PassiveClock

	mutex    sync.Mutex
	attempts map[ApplicationID]*attemptUsage
	// since is when all executors that exist were first known to be seen; zero before.
	since time.Time
}

type attemptUsage struct {
	executors map[types.UID]executorUsage
	// gone is how many of the executors have no Pod any more.
	gone int
	// since is when executors were forgotten that no record had counted; zero if none were.
	since time.Time
}

type executorUsage struct {
	usage.Executor
	owner   types.UID
	ofPod   bool
	created time.Time
	gone    bool
}

// NewUsage returns the usage of no executor.
func NewUsage(clock clock.PassiveClock) *Usage {
	return &Usage{clock: clock, attempts: map[ApplicationID]*attemptUsage{}}
}

// Update records a change of an executor Pod: as it was and as it is, or nil. One that no application counts is forgotten with its Pod. So is one whose
// application is over and not written any more: if it is after all, that is a gap.
func (u *Usage) Update(before, after *Pod, apps Applications) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if before != nil && (after == nil || after.UID != before.UID || after.Application() != before.Application()) {
		u.remove(before, apps)
	}
	if after == nil {
		return
	}
	id := after.Application()
	attempt := u.attempts[id]
	if attempt == nil {
		attempt = &attemptUsage{executors: map[types.UID]executorUsage{}}
		u.attempts[id] = attempt
	}
	if attempt.executors[after.UID].gone {
		attempt.gone-- // its labels were changed and restored
	}
	attempt.executors[after.UID] = usageOf(after)
}

// complete records that all executors that exist were seen.
func (u *Usage) complete() {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.since.IsZero() {
		u.since = u.clock.Now()
	}
}

func usageOf(pod *Pod) executorUsage {
	return executorUsage{
		Executor: usage.Executor{Pod: pod.usage, ID: usage.ID(pod.details.ID, pod.UID, pod.ofPod)},
		owner:    pod.owner, ofPod: pod.ofPod, created: pod.CreationTimestamp.Time,
	}
}

func (u *Usage) remove(pod *Pod, apps Applications) {
	id, now := pod.Application(), u.clock.Now()
	attempt := u.attempts[id]
	if attempt == nil {
		return
	}
	executor, found := attempt.executors[pod.UID]
	if !found || executor.gone {
		return
	}
	counted := apps.CountsUsage(pod)
	if counted && attempt.gone < maxGone && apps.WritesUsage(pod) {
		executor = usageOf(pod)
		executor.Ended, executor.Gap = executor.End(now.Unix())
		if executor.Scheduled == 0 {
			executor.Ended = now.Unix() // its ID counts
		}
		executor.gone = true
		attempt.executors[pod.UID], attempt.gone = executor, attempt.gone+1
		return
	}
	delete(attempt.executors, pod.UID)
	if counted {
		attempt.since = now
	}
	if len(attempt.executors) == 0 && attempt.since.IsZero() {
		delete(u.attempts, id)
	}
}

// Of returns the executors of an attempt, and since when none of them can have come and gone unseen. What an allocator made for an earlier
// attempt has another ID.
func (u *Usage) Of(namespace string, counted v1alpha1.AttemptUsage) (executors []usage.Executor, since time.Time) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	attempt := u.attempts[ApplicationID{namespace, counted.ApplicationID}]
	if attempt == nil {
		return nil, u.since
	}
	for _, executor := range attempt.executors {
		if executor.owner == counted.DriverUID || !executor.ofPod {
			executors = append(executors, executor.Executor)
		}
	}
	if attempt.since.After(u.since) {
		return executors, attempt.since
	}
	return executors, u.since
}

// ForgetCounted forgets the executors without a Pod that a stored record has counted.
func (u *Usage) ForgetCounted(namespace string, stored *v1alpha1.ApplicationUsage) {
	u.eachWithGone(namespace, stored, func(attempt *attemptUsage, counted v1alpha1.AttemptUsage) {
		has := usage.Counted(counted)
		for uid, executor := range attempt.executors {
			if executor.gone && has(executor.Executor) {
				delete(attempt.executors, uid)
				attempt.gone--
			}
		}
	})
}

// ForgetOfEnded forgets the executors without a Pod of an application whose record is not written any more. If it is after all, they are a gap.
func (u *Usage) ForgetOfEnded(namespace string, stored *v1alpha1.ApplicationUsage) {
	u.eachWithGone(namespace, stored, func(attempt *attemptUsage, _ v1alpha1.AttemptUsage) { attempt.forgetGone(u.clock.Now()) })
}

// eachWithGone calls a function with each attempt of a record that has executors without a Pod.
func (u *Usage) eachWithGone(namespace string, stored *v1alpha1.ApplicationUsage, do func(*attemptUsage, v1alpha1.AttemptUsage)) {
	if stored == nil {
		return
	}
	u.mutex.Lock()
	defer u.mutex.Unlock()
	for _, counted := range stored.Attempts {
		if attempt := u.attempts[ApplicationID{namespace, counted.ApplicationID}]; attempt != nil && attempt.gone > 0 {
			do(attempt, counted)
		}
	}
}

// Forget forgets the executors without a Pod of attempts that no application counts any more.
func (u *Usage) Forget(namespace string, stored *v1alpha1.ApplicationUsage) {
	if stored == nil {
		return
	}
	u.mutex.Lock()
	defer u.mutex.Unlock()
	for _, counted := range stored.Attempts {
		id := ApplicationID{namespace, counted.ApplicationID}
		attempt := u.attempts[id]
		if attempt == nil {
			continue
		}
		attempt.forgetGone(time.Time{})
		if len(attempt.executors) == 0 {
			delete(u.attempts, id)
		}
	}
}

// forgetGone forgets the executors without a Pod. since is when this makes a gap; zero if it makes none.
func (a *attemptUsage) forgetGone(since time.Time) {
	maps.DeleteFunc(a.executors, func(_ types.UID, executor executorUsage) bool { return executor.gone })
	a.gone, a.since = 0, since
}
