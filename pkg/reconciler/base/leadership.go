package base

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// Leader reports which objects this replica leads. Knative's leader election gives a replica its buckets. When it gets one, it enqueues
// the objects that PromoteFilterFunc in the controller of their kind selects. When it loses one, it calls DemoteFunc there.
type Leader interface {
	IsLeaderFor(key types.NamespacedName) bool
}

// Owned reports whether this replica leads an object that its cache still has. A reconcile may be in flight when the leader changes
// or the object is deleted, so it asks before it starts anything that outlives the reconcile.
type Owned func(key types.NamespacedName, uid types.UID) bool

// NewOwned returns the Owned of a controller's leader election and cache.
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
