package base

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/writecache"
)

const (
	// EventDelay is how long the event of Firesteel's own write may take to arrive.
	EventDelay = 10 * time.Second
	// maxFinalizerRemovals bounds the removals that are remembered. If one is forgotten, an object that is gone is reconciled once more.
	maxFinalizerRemovals = 2048
)

// FinalizerRemovals remembers the objects whose finalizer was removed. A stale cache may still have them.
type FinalizerRemovals struct {
	finalizer string
	clock     clock.PassiveClock
	removals  *lru.Cache
}

// finalizerRemoval is when a finalizer was removed, and the resourceVersion that the object had before.
type finalizerRemoval struct {
	at      time.Time
	version string
}

// NewFinalizerRemovals returns the removals of a finalizer. There is none yet.
func NewFinalizerRemovals(finalizer string, clock clock.PassiveClock) *FinalizerRemovals {
	return &FinalizerRemovals{finalizer: finalizer, clock: clock, removals: lru.New(maxFinalizerRemovals)}
}

// Add remembers that the finalizer of an object is removed now.
func (f *FinalizerRemovals) Add(object metav1.Object) {
	f.removals.Add(object.GetUID(), finalizerRemoval{at: f.clock.Now(), version: object.GetResourceVersion()})
}

// JustRemoved reports whether the finalizer of an object was removed a moment ago. If the object is newer and still has the
// finalizer, another writer was faster, such as the garbage collector. Then the patch conflicted, and the finalizer was not removed.
func (f *FinalizerRemovals) JustRemoved(object metav1.Object) bool {
	known, ok := f.removals.Get(object.GetUID())
	if !ok {
		return false
	}
	removal := known.(finalizerRemoval)
	conflicted := writecache.Newer(object.GetResourceVersion(), removal.version) && slices.Contains(object.GetFinalizers(), f.finalizer)
	return f.clock.Since(removal.at) < EventDelay && !conflicted
}
