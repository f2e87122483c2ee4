package sparkapplication

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
)

// written remembers the applications as Firesteel last wrote them, until the cache has them too, so that no
// decision is made on what Firesteel itself has made old.
type written struct {
	mutex    sync.Mutex
	newer    map[types.NamespacedName]*sparkv1.SparkApplication
	reported map[types.UID]int64
	pruned   map[types.UID]time.Time
	lost     map[types.UID]loss
}

// loss is the last that was seen of an application's record, and when somebody last wrote a status without it.
type loss struct {
	last *sparkv1.SparkApplication
	at   time.Time
	// pruned says that it was Firesteel's own write that lost it.
	pruned bool
}

func newWritten() *written {
	return &written{
		newer:    map[types.NamespacedName]*sparkv1.SparkApplication{},
		reported: map[types.UID]int64{},
		pruned:   map[types.UID]time.Time{},
		lost:     map[types.UID]loss{},
	}
}

// remember knows an application as it was written. What it was set aside for is over.
func (w *written) remember(app *sparkv1.SparkApplication) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.newer[keyOf(app)] = app
	w.settle(app.UID)
}

func (w *written) settle(uid types.UID) {
	delete(w.reported, uid)
	delete(w.pruned, uid)
	delete(w.lost, uid)
}

// compare sees that a record is dropped: another operator that writes the whole status does so, and so does who sets
// it to null.
func (w *written) compare(before, after *sparkv1.SparkApplication, now time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	_, lost := w.lost[after.UID]
	switch {
	case after.Status.Firesteel != nil:
		delete(w.lost, after.UID)
	case after.Undecodable != "", before.UID != after.UID:
	case before.Status.Firesteel != nil:
		w.lost[after.UID] = loss{last: before, at: now}
	case lost && !apache.SameShown(before.Status, after.Status):
		w.lost[after.UID] = loss{last: w.lost[after.UID].last, at: now}
	}
}

// lossOf is what is known of a record that was dropped; its last is nil where there was none.
func (w *written) lossOf(app *sparkv1.SparkApplication) loss {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	known := w.lost[app.UID]
	_, known.pruned = w.pruned[app.UID]
	return known
}

// newest is the newer of the cache's object and the last written one.
func (w *written) newest(cached *sparkv1.SparkApplication) *sparkv1.SparkApplication {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	own, known := w.newer[keyOf(cached)]
	if !known {
		return cached
	}
	if order, err := resourceversion.CompareResourceVersion(own.ResourceVersion, cached.ResourceVersion); err != nil ||
		order <= 0 || own.UID != cached.UID {
		delete(w.newer, keyOf(cached))
		return cached
	}
	return own.DeepCopy()
}

func (w *written) forget(app *sparkv1.SparkApplication) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.newer, keyOf(app))
	w.settle(app.UID)
}

func (w *written) sawPruned(app *sparkv1.SparkApplication, now time.Time) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.pruned[app.UID] = now
}

// prunedFor is how long to leave an application alone whose record was dropped. Each try changes the object.
func (w *written) prunedFor(app *sparkv1.SparkApplication, now time.Time) time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	at, pruned := w.pruned[app.UID]
	if !pruned {
		return 0
	}
	return at.Add(prunedRetry).Sub(now)
}

func (w *written) firstReport(app *sparkv1.SparkApplication) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if generation, reported := w.reported[app.UID]; reported && generation == app.Generation {
		return false
	}
	w.reported[app.UID] = app.Generation
	return true
}

func (w *written) unreport(app *sparkv1.SparkApplication) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.reported, app.UID)
}

func keyOf(app *sparkv1.SparkApplication) types.NamespacedName {
	return types.NamespacedName{Namespace: app.Namespace, Name: app.Name}
}
