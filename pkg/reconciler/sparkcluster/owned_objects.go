package sparkcluster

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/lru"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/kube/objectclient"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/writecache"
)

// ownedObjects are the objects of all clusters: those in the caches, and Firesteel's own writes that the caches do
// not have yet.
type ownedObjects struct {
	// informers are the informers of the owned objects, by kind.
	informers map[string]cache.SharedIndexInformer
	pods      cache.SharedIndexInformer

	// pending are the writes that the caches do not have yet, by kind.
	pending map[string]*writecache.Cache[object]

	mutex sync.Mutex
	// uncertain holds, by the uid of the cluster, the objects that may exist although no cache has them.
	uncertain *lru.Cache
}

// object is an object that a cluster owns.
type object = resources.Object

// objectKey identifies an object.
type objectKey struct{ kind, namespace, name string }

func objectKeyOf(o object) objectKey {
	return objectKey{kind: objectclient.KindOf(o), namespace: o.GetNamespace(), name: o.GetName()}
}

// written stores an object as Firesteel wrote it.
func (e *ownedObjects) written(o object) {
	if stripped, err := strip(o); err == nil {
		o = stripped.(object)
	}
	e.pending[objectclient.KindOf(o)].Remember(o)
}

// deleted stores that the deletion of an object was accepted.
func (e *ownedObjects) deleted(o object) { e.pending[objectclient.KindOf(o)].RememberDeletion(o) }

// cached returns the cached object with a key; nil if there is none.
func (e *ownedObjects) cached(at objectKey) object {
	found, known, err := e.informers[at.kind].GetStore().GetByKey(at.namespace + "/" + at.name)
	if err != nil || !known {
		return nil
	}
	return found.(object)
}

// get returns the newest known object with a key, whether the cluster owns it or not. It is nil if there is none.
func (e *ownedObjects) get(cluster types.UID, at objectKey) object {
	known := e.cached(at)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if doubts, ok := e.uncertain.Get(cluster); ok && known == nil {
		known = doubts.(map[objectKey]object)[at]
	}
	newest, _ := e.pending[at.kind].Get(types.NamespacedName{Namespace: at.namespace, Name: at.name}, known, known != nil)
	return newest
}

// ownedBy returns the objects that a cluster owns.
func (e *ownedObjects) ownedBy(cluster types.UID) []object {
	keys := map[objectKey]bool{}
	for kind, informer := range e.informers {
		found, err := informer.GetIndexer().ByIndex(byOwner, string(cluster))
		if err != nil {
			continue // impossible: the index exists
		}
		for _, o := range found {
			keys[objectKey{kind: kind, namespace: o.(object).GetNamespace(), name: o.(object).GetName()}] = true
		}
	}
	for _, at := range e.uncertainKeys(cluster) {
		keys[at] = true
	}
	for _, pending := range e.pending {
		for _, written := range pending.Written() {
			if owns(cluster, written) {
				keys[objectKeyOf(written)] = true
			}
		}
	}
	var owned []object
	for at := range keys {
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
