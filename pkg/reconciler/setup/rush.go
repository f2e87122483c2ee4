package setup

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// crowd is the number of due runs that make a rush.
const crowd = 32

// Rush knows the schedules whose runs are due and are not there yet. While there are many of them, what is there already can
// wait: to create a run takes little, and to launch it, much.
type Rush struct {
	mutex sync.Mutex
	due   map[types.UID]bool
}

// Note says whether the run of a schedule is due.
func (r *Rush) Note(schedule types.UID, due bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case !due:
		delete(r.due, schedule)
	case r.due == nil:
		r.due = map[types.UID]bool{schedule: true}
	default:
		r.due[schedule] = true
	}
}

// On says that many runs are due.
func (r *Rush) On() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.due) >= crowd
}
