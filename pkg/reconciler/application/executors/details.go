package executors

import (
	"cmp"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

const (
	// CollectInterval is the shortest time between two status writes that show changes of executors.
	CollectInterval = time.Second
	// rememberGoneFor is how long an executor is remembered after its Pod is deleted. A status shows the deletion well
	// before.
	rememberGoneFor = time.Minute
)

// Details holds each executor, for an API whose status shows them. The informer's events update it.
type Details struct {
	clock clock.PassiveClock

	mutex     sync.Mutex
	executors map[ApplicationID]map[string]executor
	// removals are the executors whose Pods are deleted, in order of deletion.
	removals []removal
	// collections is what was last collected for each application.
	collections map[types.UID]collection
	// changed is when the executors of each attempt changed last.
	changed map[ApplicationID]time.Time
}

type executor struct {
	dialect.Executor
	uid, owner types.UID
	// ofPod reports whether the owner is a driver Pod, not an allocator.
	ofPod bool
	since time.Time
}

type removal struct {
	id   ApplicationID
	name string
	uid  types.UID
	at   time.Time
}

type collection struct {
	driver    types.UID
	executors map[string]dialect.Executor
	at        time.Time
}

// NewDetails returns details without executors.
func NewDetails(clock clock.PassiveClock) *Details {
	return &Details{clock: clock, executors: map[ApplicationID]map[string]executor{}, collections: map[types.UID]collection{},
		changed: map[ApplicationID]time.Time{}}
}

// Update applies an event of the informer. before and after are the Pod before and after the event; either may be nil. It
// reports whether the details changed.
func (r *Details) Update(before, after *Pod) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.forgetGone()
	pod := cmp.Or(after, before)
	id, current := pod.Application(), executorFrom(pod)
	previous, known := r.executors[id][pod.Name]
	if after == nil {
		if !known || previous.uid != pod.UID {
			return false // a later Pod has the same name
		}
		current.Gone = true
		r.removals = append(r.removals, removal{id, pod.Name, pod.UID, r.clock.Now()})
	}
	if known && previous.uid == current.uid && sameExecutor(previous.Executor, current.Executor) {
		return false
	}
	if r.executors[id] == nil {
		r.executors[id] = map[string]executor{}
	}
	r.executors[id][pod.Name], r.changed[id] = current, r.clock.Now()
	return true
}

func (r *Details) forgetGone() {
	for len(r.removals) > 0 && r.clock.Since(r.removals[0].at) >= rememberGoneFor {
		gone := r.removals[0]
		r.removals = r.removals[1:]
		executors := r.executors[gone.id]
		if executors[gone.name].uid == gone.uid {
			delete(executors, gone.name)
		}
		if len(executors) == 0 {
			delete(r.executors, gone.id)
			delete(r.changed, gone.id)
		}
	}
}

// Collect returns the executors of an application's launch, by the names of their Pods. With now=true the result is fresh.
// Otherwise it may be up to CollectInterval old. again is when to collect once more, zero if nothing changed since. since is
// when the attempt began: older executors of an allocator belong to an earlier attempt with the same ID.
func (r *Details) Collect(
	app dialect.Application, launch *v1alpha1.Launch, since time.Time, now bool,
) (executors map[string]dialect.Executor, again time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	last := r.collections[app.GetUID()]
	if age := r.clock.Since(last.at); last.driver == launch.DriverUID && !now && age < CollectInterval {
		if news := r.changed[ApplicationID{app.GetNamespace(), launch.ApplicationID}]; !news.Before(last.at) {
			again = CollectInterval - age
		}
		return last.executors, again
	}
	executors = r.executorsOf(app, launch, since)
	r.collections[app.GetUID()] = collection{launch.DriverUID, executors, r.clock.Now()}
	return executors, 0
}

// Has reports whether an application's launch has executors now.
func (r *Details) Has(app dialect.Application, launch *v1alpha1.Launch, since time.Time) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.executorsOf(app, launch, since)) > 0
}

func (r *Details) executorsOf(app dialect.Application, launch *v1alpha1.Launch, since time.Time) map[string]dialect.Executor {
	executors := map[string]dialect.Executor{}
	for name, m := range r.executors[ApplicationID{app.GetNamespace(), launch.ApplicationID}] {
		if m.owner == launch.DriverUID || !m.ofPod && !m.since.Before(since.Truncate(time.Second)) {
			executors[name] = m.Executor
		}
	}
	return executors
}

// Forget forgets what was collected for an application.
func (r *Details) Forget(app types.UID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.collections, app)
}

func executorFrom(pod *Pod) executor {
	return executor{Executor: pod.details, uid: pod.UID, owner: pod.owner, ofPod: pod.ofPod, since: pod.CreationTimestamp.Time}
}

func sameExecutor(a, b dialect.Executor) bool {
	codes := a.ExitCode == b.ExitCode || a.ExitCode != nil && b.ExitCode != nil && *a.ExitCode == *b.ExitCode
	a.ExitCode, b.ExitCode = nil, nil
	return codes && a == b
}
