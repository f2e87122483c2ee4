package base

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// longBacklog is the number of due runs from which on the backlog is long.
const longBacklog = 32

// StartBacklog knows the schedules whose run is due and not created yet. While the backlog is long, runs that exist wait for their
// launch: to create a run costs little, to launch one costs much. The zero value is ready for use.
type StartBacklog struct {
	mutex sync.Mutex
	due   map[types.UID]bool
}

// Set knows whether the run of a schedule is due.
func (b *StartBacklog) Set(schedule types.UID, due bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	switch {
	case !due:
		delete(b.due, schedule)
	case b.due == nil:
		b.due = map[types.UID]bool{schedule: true}
	default:
		b.due[schedule] = true
	}
}

// IsLong reports whether many runs are due.
func (b *StartBacklog) IsLong() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return len(b.due) >= longBacklog
}
