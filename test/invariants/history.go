// Package invariants judges a chaos run by what was seen of it: every revision of every application and of every driver
// Pod, and every event that reached the sink. It knows no server.
package invariants

import (
	"crypto/sha256"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

// Court hears all witnesses of a run. What is wrong whatever comes later is a charge at once.
type Court struct {
	mutex sync.Mutex
	cases map[types.UID]*Case
	// order is that in which the applications were first seen.
	order []types.UID
	// permitted are the applications that the run itself deletes.
	permitted map[types.UID]bool
	charges   []string
	ended     int
}

// New opens a court.
func New() *Court {
	return &Court{cases: map[types.UID]*Case{}, permitted: map[types.UID]bool{}}
}

// SawApplication hears of a revision of an application, in their order.
func (c *Court) SawApplication(what watch.EventType, app dialect.Application) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	its := c.caseOf(app.GetUID())
	before := its.Ended()
	its.see(what, app, c.permitted[app.GetUID()])
	if !before && its.Ended() {
		c.ended++
	}
}

// SawPod hears of a revision of a driver Pod, in their order.
func (c *Court) SawPod(what watch.EventType, pod *corev1.Pod) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, owner := range pod.OwnerReferences {
		if owner.Kind == "SparkApplication" {
			c.caseOf(owner.UID).seePod(what, pod)
		}
	}
}

// Heard hears of an event that reached the sink, in their order.
func (c *Court) Heard(entry eventlog.Entry) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	object, err := events.ParseSource(entry.Attributes["source"])
	if err != nil {
		c.charges = append(c.charges, fmt.Sprintf("an event of nobody's: %v\n%s", err, entry.Bytes()))
		return
	}
	c.caseOf(object.UID).hear(entry)
}

// Permit says that the run itself is about to delete an application.
func (c *Court) Permit(uid types.UID) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.permitted[uid] = true
}

// Charges are those that came up until now.
func (c *Court) Charges() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	charges := append([]string{}, c.charges...)
	for _, uid := range c.order {
		charges = append(charges, c.cases[uid].charges...)
	}
	return charges
}

// Undelivered are the transitions that the sink has not taken, of all applications.
func (c *Court) Undelivered() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var missing []string
	for _, uid := range c.order {
		missing = append(missing, c.cases[uid].undelivered()...)
	}
	return missing
}

// Cases are all applications, in the order in which they were first seen. Nobody may be heard any more.
func (c *Court) Cases() []*Case {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var cases []*Case
	for _, uid := range c.order {
		cases = append(cases, c.cases[uid])
	}
	return cases
}

// Of says how far an application has come: to its end, and out of existence.
func (c *Court) Of(uid types.UID) (ended, gone bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	its := c.caseOf(uid)
	return its.Ended(), its.Gone()
}

// Ended counts the applications that came to their end until now.
func (c *Court) Ended() int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.ended
}

func (c *Court) caseOf(uid types.UID) *Case {
	its, known := c.cases[uid]
	if !known {
		its = &Case{UID: uid, steps: map[int64]*step{}, drivers: map[types.UID]*driver{}, undone: map[[sha256.Size]byte]bool{}}
		c.cases[uid] = its
		c.order = append(c.order, uid)
	}
	return its
}
