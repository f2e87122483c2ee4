package base

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// longBacklog is the number of objects from which on a backlog is long.
const longBacklog = 32

// Backlog knows the objects that wait for a piece of work. While it is long, other work yields to that work. The zero value is ready for
// use.
type Backlog struct {
	mutex   sync.Mutex
	waiting map[types.UID]bool
}

// Set knows whether an object waits.
func (b *Backlog) Set(object types.UID, waits bool) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	switch {
	case !waits:
		delete(b.waiting, object)
	case b.waiting == nil:
		b.waiting = map[types.UID]bool{object: true}
	default:
		b.waiting[object] = true
	}
}

// IsLong reports whether many objects wait.
func (b *Backlog) IsLong() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return len(b.waiting) >= longBacklog
}
