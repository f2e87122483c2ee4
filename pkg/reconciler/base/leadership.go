package base

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Leader knows which objects this replica leads.
type Leader interface {
	IsLeaderFor(key types.NamespacedName) bool
}

// Owned reports whether this replica leads an object, and whether its cache still has it. A reconcile that is in flight when the
// leader changes, or when the object is deleted, asks before it starts anything that outlives it.
type Owned func(key types.NamespacedName, uid types.UID) bool

// NewOwned makes it of the leader and the cache of a controller's objects.
func NewOwned(leader Leader, objects cache.KeyGetter) Owned {
	return func(key types.NamespacedName, uid types.UID) bool {
		if !leader.IsLeaderFor(key) {
			return false
		}
		cached, exists, err := objects.GetByKey(key.String())
		object, ok := cached.(metav1.Object)
		return err == nil && exists && ok && object.GetUID() == uid
	}
}
