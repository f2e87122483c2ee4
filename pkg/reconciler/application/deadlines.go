package application

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// deadlines enqueues each application when its next deadline is due. A new deadline replaces the previous one. The work
// queue cannot do that: its delays can only become shorter. Each driver that starts in time would be reconciled once more at
// its start timeout.
type deadlines struct {
	enqueue func(types.NamespacedName)

	mutex sync.Mutex
	next  map[types.NamespacedName]*deadline
}

// deadline is stored before its timer is set: the timer may fire at once.
type deadline struct{ timer *time.Timer }

func newDeadlines(enqueue func(types.NamespacedName)) *deadlines {
	return &deadlines{enqueue: enqueue, next: map[types.NamespacedName]*deadline{}}
}

// set sets the next deadline of an application.
func (d *deadlines) set(app types.NamespacedName, after time.Duration) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.stop(app)
	next := &deadline{}
	d.next[app] = next
	next.timer = time.AfterFunc(after, func() {
		if d.take(app, next) {
			d.enqueue(app)
		}
	})
}

// clear removes the deadline of an application.
func (d *deadlines) clear(app types.NamespacedName) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.stop(app)
}

func (d *deadlines) stop(app types.NamespacedName) {
	if current, set := d.next[app]; set {
		current.timer.Stop()
		delete(d.next, app)
	}
}

// take removes a deadline. It reports whether this was still the application's current deadline.
func (d *deadlines) take(app types.NamespacedName, expired *deadline) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	current := d.next[app] == expired
	if current {
		delete(d.next, app)
	}
	return current
}
