package sparkcluster

import (
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/writecache"
)

// ownedObjects are the objects of all clusters: as the caches have them, and Firesteel's own writes that the caches do not have
// yet.
type ownedObjects struct {
	clock clock.PassiveClock
	// informers are the informers of the owned objects, by kind.
	informers map[string]cache.SharedIndexInformer
	pods      cache.SharedIndexInformer

	mutex   sync.Mutex
	pending map[objectKey]pendingWrite
	// uncertain are, by the uid of the cluster, the objects that may exist although no cache has them.
	uncertain *lru.Cache
}

// object is one that a cluster owns.
type object = resources.Object

// objectKey identifies an object.
type objectKey struct{ kind, namespace, name string }

// pendingWrite is a write of Firesteel: the written object or, if that is nil, the uid of the deleted one.
type pendingWrite struct {
	written object
	deleted types.UID
	at      time.Time
}

// cacheDelay is how long the event of Firesteel's own write may take to arrive.
const cacheDelay = 10 * time.Second

// maxPending is the number of pending writes from which on old ones are dropped.
const maxPending = 1024

func objectKeyOf(o object) objectKey {
	return objectKey{kind: kindOf(o), namespace: o.GetNamespace(), name: o.GetName()}
}

// written stores an object as Firesteel wrote it.
func (e *ownedObjects) written(o object) {
	at := objectKeyOf(o)
	if stripped, err := strip(o); err == nil {
		o = stripped.(object)
	}
	e.addPending(at, pendingWrite{written: o})
}

// deleted stores that the deletion of an object was accepted.
func (e *ownedObjects) deleted(o object) {
	e.addPending(objectKeyOf(o), pendingWrite{deleted: o.GetUID()})
}

func (e *ownedObjects) addPending(at objectKey, done pendingWrite) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	done.at = e.clock.Now()
	if len(e.pending) >= maxPending {
		maps.DeleteFunc(e.pending, func(_ objectKey, done pendingWrite) bool { return e.clock.Since(done.at) > cacheDelay })
	}
	e.pending[at] = done
}

// cached returns an object as a cache has it, nil if none has.
func (e *ownedObjects) cached(at objectKey) object {
	found, known, err := e.informers[at.kind].GetStore().GetByKey(at.namespace + "/" + at.name)
	if err != nil || !known {
		return nil
	}
	return found.(object)
}

// get returns the object with a key as it is known, whether the cluster owns it or not. It is nil if there is none.
func (e *ownedObjects) get(cluster types.UID, at objectKey) object {
	known := e.cached(at)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if doubts, ok := e.uncertain.Get(cluster); ok && known == nil {
		known = doubts.(map[objectKey]object)[at]
	}
	done, did := e.pending[at]
	switch {
	case !did:
		return known
	case e.clock.Since(done.at) > cacheDelay:
		delete(e.pending, at)
		return known
	case done.written == nil && (known == nil || known.GetUID() == done.deleted):
		return nil
	case done.written == nil, known != nil && !writecache.Newer(done.written.GetResourceVersion(), known.GetResourceVersion()):
		delete(e.pending, at)
		return known
	default:
		return done.written
	}
}

// ownedBy returns the objects that a cluster owns.
func (e *ownedObjects) ownedBy(cluster types.UID) []object {
	places := map[objectKey]bool{}
	for kind, informer := range e.informers {
		found, err := informer.GetIndexer().ByIndex(byOwner, string(cluster))
		if err != nil {
			continue // there is such an index
		}
		for _, o := range found {
			places[objectKey{kind: kind, namespace: o.(object).GetNamespace(), name: o.(object).GetName()}] = true
		}
	}
	for _, at := range e.uncertainKeys(cluster) {
		places[at] = true
	}
	e.mutex.Lock()
	for at, done := range e.pending {
		if done.written != nil && owns(cluster, done.written) {
			places[at] = true
		}
	}
	e.mutex.Unlock()
	var owned []object
	for at := range places {
		if o := e.get(cluster, at); o != nil && owns(cluster, o) {
			owned = append(owned, o)
		}
	}
	return owned
}

// podsOf returns the Pods with the label of a cluster.
func (e *ownedObjects) podsOf(namespace, cluster string) []*corev1.Pod {
	found, err := e.pods.GetIndexer().ByIndex(byCluster, namespace+"/"+cluster)
	if err != nil {
		return nil
	}
	pods := make([]*corev1.Pod, 0, len(found))
	for _, pod := range found {
		pods = append(pods, pod.(*corev1.Pod))
	}
	return pods
}

func owns(uid types.UID, o metav1.Object) bool {
	for _, owner := range o.GetOwnerReferences() {
		if owner.UID == uid {
			return true
		}
	}
	return false
}
