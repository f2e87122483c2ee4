package base

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Reports knows of which objects it was said why nothing is done for them: once a generation.
type Reports struct {
	mutex       sync.Mutex
	generations map[types.UID]int64
}

// NewReports knows of none yet.
func NewReports() *Reports { return &Reports{generations: map[types.UID]int64{}} }

// First says that this generation of an object was not reported yet.
func (r *Reports) First(object metav1.Object) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if generation, known := r.generations[object.GetUID()]; known && generation == object.GetGeneration() {
		return false
	}
	r.generations[object.GetUID()] = object.GetGeneration()
	return true
}

// Forget has the next report of an object be the first: it is gone, was taken up, or the report did not arrive.
func (r *Reports) Forget(uid types.UID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.generations, uid)
}
