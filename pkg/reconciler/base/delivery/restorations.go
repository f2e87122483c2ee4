package delivery

import (
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The time between two writes that restore the same status doubles from the first to the last of these.
const (
	restoreFirst = 2 * time.Second
	restoreLast  = 10 * time.Minute
)

// Restorations limits how often a status is restored that another writer has changed. The first time it is restored at once.
// Another version of Firesteel that runs beside this one may word a condition otherwise, and restore its own words each time: then
// the time between two writes doubles. A status with news is never delayed. The zero value is ready for use.
type Restorations struct {
	mutex sync.Mutex
	of    map[types.UID]restoration
}

// restoration is what is known of the status of an object.
type restoration struct {
	// version is the resourceVersion of the last own write.
	version string
	// shown is a hash of the status that was last restored, and at is when.
	shown [sha256.Size]byte
	at    time.Time
	// after is how long after that the same may be restored again.
	after time.Duration
}

// Wrote stores an object as this process wrote it.
func (r *Restorations) Wrote(stored metav1.Object) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	known := r.of[stored.GetUID()]
	known.version = stored.GetResourceVersion()
	r.setLocked(stored.GetUID(), known)
}

// Wait returns how long to wait before a write that changes nothing in the record, zero if it may be made now. read is the object
// as it was read, desired as it would be written.
func (r *Restorations) Wait(read, desired metav1.Object, now time.Time) time.Duration {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	known := r.of[read.GetUID()]
	if known.version == read.GetResourceVersion() {
		return 0 // no other writer: what differs is news
	}
	shown := shownBy(desired)
	switch due := known.at.Add(known.after); {
	case shown != known.shown, now.Sub(known.at) > 2*restoreLast:
		known.after = restoreFirst
	case now.Before(due):
		return due.Sub(now)
	default:
		known.after = min(2*known.after, restoreLast)
	}
	known.shown, known.at = shown, now
	r.setLocked(read.GetUID(), known)
	return 0
}

// Forget forgets an object.
func (r *Restorations) Forget(uid types.UID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.of, uid)
}

func (r *Restorations) setLocked(uid types.UID, known restoration) {
	if r.of == nil {
		r.of = map[types.UID]restoration{}
	}
	r.of[uid] = known
}

// shownBy returns a hash of the status without the record and without the times of conditions.
func shownBy(object any) [sha256.Size]byte {
	var decoded struct {
		Status map[string]any `json:"status"`
	}
	text, _ := json.Marshal(object)     // what was decoded can be encoded
	_ = json.Unmarshal(text, &decoded)  // and is an object
	delete(decoded.Status, "firesteel") // the record
	conditions, _ := decoded.Status["conditions"].([]any)
	for _, condition := range conditions {
		if fields, ok := condition.(map[string]any); ok {
			delete(fields, "lastTransitionTime")
		}
	}
	text, _ = json.Marshal(decoded.Status)
	return sha256.Sum256(text)
}
