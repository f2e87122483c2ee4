package scheduledsparkapplication

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/schedule/kind"
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

// reported knows the schedules that cannot be decoded, by the version that was reported.
type reported struct {
	mutex    sync.Mutex
	versions map[types.UID]int64
}

func newReported() *reported { return &reported{versions: map[types.UID]int64{}} }

// first says that a generation of a schedule was not reported yet.
func (r *reported) first(s kind.Schedule) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if generation, known := r.versions[s.GetUID()]; known && generation == s.GetGeneration() {
		return false
	}
	r.versions[s.GetUID()] = s.GetGeneration()
	return true
}

func (r *reported) forget(uid types.UID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.versions, uid)
}
