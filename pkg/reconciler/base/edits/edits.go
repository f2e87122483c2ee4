// Package edits remembers edits of specs that changed nothing that an attempt runs with, such as an edit of the time to live.
package edits

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/spec"
)

// Tracker remembers the generations of each object over which the fields that matter stayed the same. A hash alone cannot know
// that: another version of a library, or a new default of a CustomResourceDefinition, may have changed the hash.
type Tracker struct {
	mutex sync.Mutex
	spans map[types.UID]span
}

// span is a range of generations with the same fields, both ends included.
type span struct{ from, to int64 }

// NewTracker returns a tracker that knows no edits.
func NewTracker() *Tracker { return &Tracker{spans: map[types.UID]span{}} }

// Observe stores a change of an object that an informer saw.
func (h *Tracker) Observe(uid types.UID, before, after spec.Spec) {
	if before.Generation == after.Generation {
		return
	}
	same := before.Same(after)
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if !same {
		delete(h.spans, uid)
		return
	}
	known := h.spans[uid]
	if known.to != before.Generation {
		known.from = before.Generation
	}
	known.to = after.Generation
	h.spans[uid] = known
}

// SameSince returns the earliest generation of an object that is known to have the same fields as a later one; 0 if none is.
func (h *Tracker) SameSince(uid types.UID, generation int64) int64 {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if known := h.spans[uid]; known.to == generation {
		return known.from
	}
	return 0
}

// Forget forgets an object.
func (h *Tracker) Forget(uid types.UID) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	delete(h.spans, uid)
}
