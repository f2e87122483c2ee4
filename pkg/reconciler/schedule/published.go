package schedule

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// published holds the schedules of which the relay has a snapshot.
type published struct {
	mutex sync.Mutex
	uids  map[types.UID]bool
}

func newPublished() *published { return &published{uids: map[types.UID]bool{}} }

func (p *published) add(schedule types.UID) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.uids[schedule] = true
}

func (p *published) has(schedule types.UID) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.uids[schedule]
}

func (p *published) forget(schedule types.UID) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.uids, schedule)
}
