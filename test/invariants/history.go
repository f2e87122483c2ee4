package invariants

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

// History is what was seen of a run: every revision of every application and of every driver Pod, and every event that reached
// the sink. It may be used concurrently.
type History struct {
	mutex        sync.Mutex
	applications map[types.UID]*Application
	// order is that in which the applications were first seen.
	order []types.UID
	// permitted are the applications that the test itself deletes.
	permitted  map[types.UID]bool
	violations []error
	ended      int
	// deletionGrace is how long a deletion waits for a driver Pod that stays terminating.
	deletionGrace time.Duration
	// withEarlier leaves the additions to events out of all comparisons.
	withEarlier bool
}

// NewHistory returns an empty history of an installation with this deletion-grace.
func NewHistory(deletionGrace time.Duration) *History {
	return &History{applications: map[types.UID]*Application{}, permitted: map[types.UID]bool{}, deletionGrace: deletionGrace}
}

// LeaveOutAdditions must be called first if an earlier version takes turns with this one: it sends an event again without the fields that
// it does not know.
func (h *History) LeaveOutAdditions() { h.withEarlier = true }

// additions are the fields of events that the earlier version does not know.
var additions = regexp.MustCompile(`,"uiAddress":"[^"]*"|,"usage":\{(?:[^{}]|\{[^{}]*\})*\}`)

// SawApplication adds a revision of an application. Revisions are added in their order.
func (h *History) SawApplication(what watch.EventType, app dialect.Application) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	a := h.application(app.GetUID())
	before := a.Ended()
	a.saw(what, app, h.permitted[app.GetUID()])
	if !before && a.Ended() {
		h.ended++
	}
}

// SawPod adds a revision of a driver Pod. Revisions are added in their order.
func (h *History) SawPod(what watch.EventType, pod *corev1.Pod) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for _, owner := range pod.OwnerReferences {
		if owner.Kind == "SparkApplication" {
			h.application(owner.UID).sawPod(what, pod)
		}
	}
}

// SawEvent adds an event that reached the sink. Events are added in the order in which they did.
func (h *History) SawEvent(entry eventlog.Entry) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if err := Contract(entry); err != nil {
		h.violations = append(h.violations, err)
	}
	object, err := events.ParseSource(entry.Attributes["source"])
	if err != nil {
		h.violations = append(h.violations, fmt.Errorf("an event of no object: %w\n%s", err, entry.Bytes()))
		return
	}
	if h.withEarlier {
		entry.Body = additions.ReplaceAllString(entry.Body, "")
	}
	h.application(object.UID).received(entry)
}

// PermitDeletion must be called before the test itself deletes an application.
func (h *History) PermitDeletion(uid types.UID) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.permitted[uid] = true
}

// Violations are those of the invariants that hold at every instant.
func (h *History) Violations() []error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	violations := append([]error{}, h.violations...)
	for _, uid := range h.order {
		violations = append(violations, h.applications[uid].violations...)
	}
	return violations
}

// Undelivered are the transitions that the sink has not taken yet. There must be none at the end.
func (h *History) Undelivered() []error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	var violations []error
	for _, uid := range h.order {
		violations = append(violations, h.applications[uid].undelivered()...)
	}
	return violations
}

// Unpersisted are the events whose transitions were not seen yet. There must be none at the end.
func (h *History) Unpersisted() []error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	var violations []error
	for _, uid := range h.order {
		violations = append(violations, h.applications[uid].unpersisted()...)
	}
	return violations
}

// Applications are all applications, in the order in which they were first seen. Nothing may be added afterwards.
func (h *History) Applications() []*Application {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	var applications []*Application
	for _, uid := range h.order {
		applications = append(applications, h.applications[uid])
	}
	return applications
}

// Progress reports whether an application has ended, and whether its object is gone.
func (h *History) Progress(uid types.UID) (ended, gone bool) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	a := h.application(uid)
	return a.Ended(), a.Gone()
}

// HasRecorded reports whether a driver was ever in the record of an application. One that was not was created late, and only its labels show it.
func (h *History) HasRecorded(driver types.UID) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for _, a := range h.applications {
		if a.recorded[driver] {
			return true
		}
	}
	return false
}

// Ended counts the applications that have ended until now.
func (h *History) Ended() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.ended
}

func (h *History) application(uid types.UID) *Application {
	a, ok := h.applications[uid]
	if !ok {
		a = &Application{UID: uid, deletionGrace: h.deletionGrace, withEarlier: h.withEarlier, steps: map[int64]*step{}, undone: map[[sha256.Size]byte]bool{}, takenAgain: map[int64][sha256.Size]byte{}}
		h.applications[uid] = a
		h.order = append(h.order, uid)
	}
	return a
}
