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
	// gatherFor is how long news of executors is gathered: a status tells of them once in that time.
	gatherFor = time.Second
	// goneFor is how long an executor is remembered whose Pod is gone. A status tells of it well before.
	goneFor = time.Minute
)

// roster knows each executor, for an API whose status tells of them. Like executors, it is told of each Pod's news, and
// nobody lists them.
type roster struct {
	clock clock.PassiveClock

	mutex   sync.Mutex
	members map[applicationID]map[string]member
	// departures are the members that are gone, in order.
	departures []departure
	// gathered is what was last told of each application's executors.
	gathered map[types.UID]gathering
	// changed is when the last news of each attempt's executors came.
	changed map[applicationID]time.Time
}

type member struct {
	dialect.Executor
	uid, owner types.UID
	// ofPod says that its owner is a driver, and not what a driver has it from.
	ofPod bool
	since time.Time
}

type departure struct {
	id   applicationID
	name string
	uid  types.UID
	at   time.Time
}

type gathering struct {
	driver    types.UID
	executors map[string]dialect.Executor
	at        time.Time
}

func newRoster(clock clock.PassiveClock) *roster {
	return &roster{clock: clock, members: map[applicationID]map[string]member{}, gathered: map[types.UID]gathering{},
		changed: map[applicationID]time.Time{}}
}

// note takes news of a Pod: what it was, and what it is; either may be nil. It says whether there is anything to tell.
func (r *roster) note(before, after *executorPod) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.forgetGone()
	pod := cmp.Or(after, before)
	id, is := pod.application(), memberOf(pod)
	was, known := r.members[id][pod.Name]
	if after == nil {
		if !known || was.uid != pod.UID {
			return false // a namesake has come since
		}
		is.Gone = true
		r.departures = append(r.departures, departure{id, pod.Name, pod.UID, r.clock.Now()})
	}
	if known && was.uid == is.uid && same(was.Executor, is.Executor) {
		return false
	}
	if r.members[id] == nil {
		r.members[id] = map[string]member{}
	}
	r.members[id][pod.Name], r.changed[id] = is, r.clock.Now()
	return true
}

func (r *roster) forgetGone() {
	for len(r.departures) > 0 && r.clock.Since(r.departures[0].at) >= goneFor {
		gone := r.departures[0]
		r.departures = r.departures[1:]
		its := r.members[gone.id]
		if its[gone.name].uid == gone.uid {
			delete(its, gone.name)
		}
		if len(its) == 0 {
			delete(r.members, gone.id)
			delete(r.changed, gone.id)
		}
	}
}

// gather returns the executors of an application's launch, by the names of their Pods. With now=true the result is fresh.
// Otherwise it may be up to gatherFor old: again is how long it is until news that it lacks is told, zero if it lacks none.
// since is when the attempt began: what an allocator made of an earlier one with the same id is older.
func (r *roster) gather(
	app dialect.Application, launch *v1alpha1.Launch, since time.Time, now bool,
) (executors map[string]dialect.Executor, again time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	last := r.gathered[app.GetUID()]
	if age := r.clock.Since(last.at); last.driver == launch.DriverUID && !now && age < gatherFor {
		if news := r.changed[applicationID{app.GetNamespace(), launch.ApplicationID}]; !news.Before(last.at) {
			again = gatherFor - age
		}
		return last.executors, again
	}
	executors = r.crewOf(app, launch, since)
	r.gathered[app.GetUID()] = gathering{launch.DriverUID, executors, r.clock.Now()}
	return executors, 0
}

// has says that an application's launch has executors, at this moment.
func (r *roster) has(app dialect.Application, launch *v1alpha1.Launch, since time.Time) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.crewOf(app, launch, since)) > 0
}

func (r *roster) crewOf(app dialect.Application, launch *v1alpha1.Launch, since time.Time) map[string]dialect.Executor {
	executors := map[string]dialect.Executor{}
	for name, m := range r.members[applicationID{app.GetNamespace(), launch.ApplicationID}] {
		if m.owner == launch.DriverUID || !m.ofPod && !m.since.Before(since.Truncate(time.Second)) {
			executors[name] = m.Executor
		}
	}
	return executors
}

// forget forgets what was told of an application's executors.
func (r *roster) forget(app types.UID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.gathered, app)
}

func memberOf(pod *executorPod) member {
	return member{Executor: pod.shown, uid: pod.UID, owner: pod.owner, ofPod: pod.ofPod, since: pod.CreationTimestamp.Time}
}

func same(a, b dialect.Executor) bool {
	codes := a.ExitCode == b.ExitCode || a.ExitCode != nil && b.ExitCode != nil && *a.ExitCode == *b.ExitCode
	a.ExitCode, b.ExitCode = nil, nil
	return codes && a == b
}
