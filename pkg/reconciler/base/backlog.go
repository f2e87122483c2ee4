package base

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// longBacklog is the number of due runs that make a rush.
const longBacklog = 32

// StartBacklog knows the schedules whose runs are due and are not there yet. While there are many of them, what is there already can
// wait: to create a run takes little, and to launch it, much.
type StartBacklog struct {
	mutex sync.Mutex
	due   map[types.UID]bool
}

// Set says whether the run of a schedule is due.
func (r *StartBacklog) Set(schedule types.UID, due bool) {
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

// IsLong says that many runs are due.
func (r *StartBacklog) IsLong() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.due) >= longBacklog
}
