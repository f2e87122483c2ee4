package application

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
	// collectInterval is how long news of executors is gathered: a status tells of them once in that time.
	collectInterval = time.Second
	// rememberGoneFor is how long an executor is remembered whose Pod is gone. A status tells of it well before.
	rememberGoneFor = time.Minute
)

// executorDetails knows each executor, for an API whose status tells of them. Like executors, it is told of each Pod's news, and
// nobody lists them.
type executorDetails struct {
	clock clock.PassiveClock

	mutex     sync.Mutex
	executors map[applicationID]map[string]executor
	// removals are the members that are gone, in order.
	removals []executorRemoval
	// collections is what was last told of each application's executors.
	collections map[types.UID]collection
	// changed is when the last news of each attempt's executors came.
	changed map[applicationID]time.Time
}

type executor struct {
	dialect.Executor
	uid, owner types.UID
	// ofPod says that its owner is a driver, and not what a driver has it from.
	ofPod bool
	since time.Time
}

type executorRemoval struct {
	id   applicationID
	name string
	uid  types.UID
	at   time.Time
}

type collection struct {
	driver    types.UID
	executors map[string]dialect.Executor
	at        time.Time
}

// executorDetailsOf returns the details for an API whose status shows each executor, else nil.
func executorDetailsOf(api *dialect.API, clock clock.PassiveClock) *executorDetails {
	if !api.ShowsExecutors {
		return nil
	}
	return newExecutorDetails(clock)
}

func newExecutorDetails(clock clock.PassiveClock) *executorDetails {
	return &executorDetails{clock: clock, executors: map[applicationID]map[string]executor{}, collections: map[types.UID]collection{},
		changed: map[applicationID]time.Time{}}
}

// update takes news of a Pod: what it was, and what it is; either may be nil. It says whether there is anything to tell.
func (r *executorDetails) update(before, after *executorPod) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.forgetGone()
	pod := cmp.Or(after, before)
	id, current := pod.application(), executorFrom(pod)
	previous, known := r.executors[id][pod.Name]
	if after == nil {
		if !known || previous.uid != pod.UID {
			return false // a namesake has come since
		}
		current.Gone = true
		r.removals = append(r.removals, executorRemoval{id, pod.Name, pod.UID, r.clock.Now()})
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

func (r *executorDetails) forgetGone() {
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

// collect returns the executors of an application's launch, by the names of their Pods. With now=true the result is fresh.
// Otherwise it may be up to collectInterval old: again is how long it is until news that it lacks is told, zero if it lacks none.
// since is when the attempt began: what an allocator made of an earlier one with the same id is older.
func (r *executorDetails) collect(
	app dialect.Application, launch *v1alpha1.Launch, since time.Time, now bool,
) (executors map[string]dialect.Executor, again time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	last := r.collections[app.GetUID()]
	if age := r.clock.Since(last.at); last.driver == launch.DriverUID && !now && age < collectInterval {
		if news := r.changed[applicationID{app.GetNamespace(), launch.ApplicationID}]; !news.Before(last.at) {
			again = collectInterval - age
		}
		return last.executors, again
	}
	executors = r.executorsOf(app, launch, since)
	r.collections[app.GetUID()] = collection{launch.DriverUID, executors, r.clock.Now()}
	return executors, 0
}

// has says that an application's launch has executors, at this moment.
func (r *executorDetails) has(app dialect.Application, launch *v1alpha1.Launch, since time.Time) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.executorsOf(app, launch, since)) > 0
}

func (r *executorDetails) executorsOf(app dialect.Application, launch *v1alpha1.Launch, since time.Time) map[string]dialect.Executor {
	executors := map[string]dialect.Executor{}
	for name, m := range r.executors[applicationID{app.GetNamespace(), launch.ApplicationID}] {
		if m.owner == launch.DriverUID || !m.ofPod && !m.since.Before(since.Truncate(time.Second)) {
			executors[name] = m.Executor
		}
	}
	return executors
}

// forget forgets what was told of an application's executors.
func (r *executorDetails) forget(app types.UID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.collections, app)
}

func executorFrom(pod *executorPod) executor {
	return executor{Executor: pod.details, uid: pod.UID, owner: pod.owner, ofPod: pod.ofPod, since: pod.CreationTimestamp.Time}
}

func sameExecutor(a, b dialect.Executor) bool {
	codes := a.ExitCode == b.ExitCode || a.ExitCode != nil && b.ExitCode != nil && *a.ExitCode == *b.ExitCode
	a.ExitCode, b.ExitCode = nil, nil
	return codes && a == b
}
