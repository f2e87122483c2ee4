package application

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// deadlines has each application looked at when its next deadline is due. The next takes the place of the one before, and
// may be none: a work queue's own delays can only be brought forward, so that each driver that came in time would be looked
// at once more when it would have been late.
type deadlines struct {
	enqueue func(types.NamespacedName)

	mutex sync.Mutex
	next  map[types.NamespacedName]*deadline
}

// deadline is known before its timer, which may be over before anybody has it.
type deadline struct{ timer *time.Timer }

func newDeadlines(enqueue func(types.NamespacedName)) *deadlines {
	return &deadlines{enqueue: enqueue, next: map[types.NamespacedName]*deadline{}}
}

// set knows how long it is until the next deadline of an application.
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

// clear knows that an application has no deadline.
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

// take says that a deadline is still the application's, and forgets it.
func (d *deadlines) take(app types.NamespacedName, expired *deadline) bool {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	current := d.next[app] == expired
	if current {
		delete(d.next, app)
	}
	return current
}
