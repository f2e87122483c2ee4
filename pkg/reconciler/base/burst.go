package base

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// burstSize is the number of objects that are a burst.
const burstSize = 32

// Burst knows whether many objects wait for a piece of work, or have just begun to. While it is on, other work yields to that work: the
// API server is busy. The zero value is ready for use.
type Burst struct {
	// Window is the time within which many objects begin to wait in a burst, even if each waits for a moment only. If it is
	// zero, a burst is on only while many wait.
	Window time.Duration

	mutex   sync.Mutex
	waiting map[types.UID]bool
	// arrivals are the times at which the last objects began to wait. The oldest one is next.
	arrivals [burstSize]time.Time
	next     int
	ended    bool
	// yielding are the functions that wake those which yield, and timer looks whether the burst is over.
	yielding map[types.UID]func()
	timer    *time.Timer
}

// Set records whether an object waits. If the burst is over with that, those that yield are woken.
func (b *Burst) Set(object types.UID, waits bool) {
	b.mutex.Lock()
	switch {
	case !waits:
		delete(b.waiting, object)
	case !b.waiting[object]:
		if b.waiting == nil {
			b.waiting = map[types.UID]bool{}
		}
		b.waiting[object] = true
		b.arrivals[b.next], b.next = time.Now(), (b.next+1)%burstSize
	}
	woken := b.woken()
	b.mutex.Unlock()
	wake(woken)
}

// Yield reports whether work has to wait, since a burst is on. Then wake is called once, when the burst is over. of identifies the
// work: a second call replaces the first one.
func (b *Burst) Yield(of types.UID, wake func()) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if !b.isOn() {
		return false
	}
	if b.yielding == nil {
		b.yielding = map[types.UID]func(){}
	}
	b.yielding[of] = wake
	b.look()
	return true
}

// End lets no work wait from now on.
func (b *Burst) End() {
	b.mutex.Lock()
	b.ended = true
	woken := b.woken()
	b.mutex.Unlock()
	wake(woken)
}

// IsOn reports whether a burst is on.
func (b *Burst) IsOn() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.isOn()
}

func (b *Burst) isOn() bool {
	return !b.ended && (len(b.waiting) >= burstSize || time.Since(b.arrivals[b.next]) < b.Window)
}

// look starts the timer that wakes those that yield when the last arrivals are old. While many wait, Set does that.
func (b *Burst) look() {
	if len(b.yielding) == 0 || b.timer != nil || len(b.waiting) >= burstSize {
		return
	}
	b.timer = time.AfterFunc(time.Until(b.arrivals[b.next].Add(b.Window)), func() {
		b.mutex.Lock()
		b.timer = nil
		woken := b.woken()
		b.mutex.Unlock()
		wake(woken)
	})
}

// woken returns the functions that wake those that yielded, if the burst is over.
func (b *Burst) woken() map[types.UID]func() {
	if b.isOn() {
		b.look()
		return nil
	}
	woken := b.yielding
	b.yielding = nil
	return woken
}

func wake(all map[types.UID]func()) {
	for _, wake := range all {
		wake()
	}
}
