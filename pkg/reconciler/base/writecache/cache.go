// Package writecache holds objects as Firesteel last wrote them until the informer's cache has them, so that no decision is based on a
// cache that is stale because of Firesteel's own write.
//
// client-go's MutationCache is alike, but knows neither deletions nor uids: a written object would hide a namesake.
package writecache

import (
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/kube"
)

// Object is one that the cache can hold.
type Object interface {
	metav1.Object
	runtime.Object
}

// Cache holds writes that the informer's cache does not have yet.
type Cache[O Object] struct {
	clock clock.PassiveClock
	// maxAge is how long a write is held, zero for as long as it is newer than the informer's object.
	maxAge time.Duration

	mutex  sync.Mutex
	writes map[types.NamespacedName]write[O]
	// echoed are the last writes that the informer reported. A reconcile may have read the informer's cache just before.
	echoed *lru.Cache
}

// maxEchoed is how many reported writes are held: more than there are reconciles at a time.
const maxEchoed = 64

// write is one of Firesteel's own: the object as it was written, or as it was when its deletion was accepted.
type write[O Object] struct {
	object  O
	deleted bool
	at      time.Time
}

// maxWrites is the number of writes from which on expired ones are dropped.
const maxWrites = 1024

// New returns a cache that holds each write until the informer has a newer object, or the write is forgotten.
func New[O Object]() *Cache[O] { return NewExpiring[O](clock.RealClock{}, 0) }

// NewExpiring returns a cache that holds each write for at most maxAge. It is for objects of which the informer may show no event,
// such as those that lose the label that the informer selects by.
func NewExpiring[O Object](clock clock.PassiveClock, maxAge time.Duration) *Cache[O] {
	return &Cache[O]{clock: clock, maxAge: maxAge, writes: map[types.NamespacedName]write[O]{}, echoed: lru.New(maxEchoed)}
}

// Remember holds an object as it was written. Its managed fields are dropped: nothing reads them, and the next write would send them.
func (c *Cache[O]) Remember(object O) {
	object.SetManagedFields(nil)
	c.add(write[O]{object: object})
}

// RememberDeletion holds that the deletion of an object was accepted.
func (c *Cache[O]) RememberDeletion(object O) { c.add(write[O]{object: object, deleted: true}) }

func (c *Cache[O]) add(w write[O]) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	w.at = c.clock.Now()
	if c.maxAge > 0 && len(c.writes) >= maxWrites {
		maps.DeleteFunc(c.writes, func(_ types.NamespacedName, w write[O]) bool { return c.expiredLocked(w) })
	}
	c.writes[kube.KeyOf(w.object)] = w
}

// Newest returns the newer of the informer's object and the last written one.
func (c *Cache[O]) Newest(cached O) O {
	newest, _ := c.Get(kube.KeyOf(cached), cached, true)
	if newest.GetUID() != cached.GetUID() {
		c.Forget(cached)
		return cached
	}
	if newest.GetResourceVersion() == cached.GetResourceVersion() {
		return cached
	}
	return newest.DeepCopyObject().(O)
}

// Get returns the newest object with a key, and whether there is one. cached is the informer's, if found. The returned object is not
// to be changed.
func (c *Cache[O]) Get(key types.NamespacedName, cached O, found bool) (O, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	w, known := c.writes[key]
	switch {
	case !known:
		if echoed, ok := c.echoed.Get(key); ok && found && newerOf(echoed.(O), cached) {
			return echoed.(O), true
		}
		return cached, found
	case c.expiredLocked(w):
	case w.deleted && (!found || cached.GetUID() == w.object.GetUID()):
		var none O
		return none, false
	case !w.deleted && (!found || Newer(w.object.GetResourceVersion(), cached.GetResourceVersion())):
		return w.object, true
	}
	delete(c.writes, key)
	return cached, found
}

// IsEcho reports whether the informer's object is the one that Firesteel wrote last. The write is held for a while longer, for a reconcile
// that read the informer's cache before.
func (c *Cache[O]) IsEcho(cached O) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	w, known := c.writes[kube.KeyOf(cached)]
	echo := known && !w.deleted && w.object.GetUID() == cached.GetUID() && w.object.GetResourceVersion() == cached.GetResourceVersion()
	if echo {
		delete(c.writes, kube.KeyOf(cached))
		c.echoed.Add(kube.KeyOf(cached), w.object)
	}
	return echo
}

// Written returns the written objects that are held.
func (c *Cache[O]) Written() (objects []O) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, w := range c.writes {
		if !w.deleted && !c.expiredLocked(w) {
			objects = append(objects, w.object)
		}
	}
	return objects
}

// ReportedDeleted forgets that an object was written which the informer reports as deleted. It returns whether Firesteel itself
// deleted the object.
func (c *Cache[O]) ReportedDeleted(object O) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	w, known := c.writes[kube.KeyOf(object)]
	if !known || w.object.GetUID() != object.GetUID() {
		return false
	}
	if !w.deleted {
		delete(c.writes, kube.KeyOf(object))
	}
	return w.deleted
}

// RolledBack reports whether an informer shows an object older than before: the API server was restored from an older backup.
// Then the last written one is forgotten: it no longer exists.
func (c *Cache[O]) RolledBack(before, after O) bool {
	if before.GetUID() != after.GetUID() || !Newer(before.GetResourceVersion(), after.GetResourceVersion()) {
		return false
	}
	c.Forget(after)
	return true
}

// Forget forgets an object.
func (c *Cache[O]) Forget(object O) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.writes, kube.KeyOf(object))
	c.echoed.Remove(kube.KeyOf(object))
}

func (c *Cache[O]) expiredLocked(w write[O]) bool {
	return c.maxAge > 0 && c.clock.Since(w.at) > c.maxAge
}

// newerOf reports whether one object is a newer state of another.
func newerOf(one, other metav1.Object) bool {
	return one.GetUID() == other.GetUID() && Newer(one.GetResourceVersion(), other.GetResourceVersion())
}

// Newer reports whether one resourceVersion of an object came after another. It is false if they cannot be compared.
func Newer(one, other string) bool {
	order, err := resourceversion.CompareResourceVersion(one, other)
	return err == nil && order > 0
}
