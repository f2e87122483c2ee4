package schedule

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// asked knows the schedules of which the relay was told.
type asked struct {
	mutex sync.Mutex
	uids  map[types.UID]bool
}

func newAsked() *asked { return &asked{uids: map[types.UID]bool{}} }

func (a *asked) note(uid types.UID) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.uids[uid] = true
}

func (a *asked) any(uid types.UID) bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.uids[uid]
}

func (a *asked) forget(uid types.UID) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	delete(a.uids, uid)
}
