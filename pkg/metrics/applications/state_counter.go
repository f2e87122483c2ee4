package applications

import (
	"cmp"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// stateNew is the state in metrics of an application that was not reconciled yet.
const stateNew = "New"

// StateCounter counts the applications that this installation serves, by state. Set is called for each that may have changed.
type StateCounter struct {
	clock clock.PassiveClock

	mutex      sync.Mutex
	observed   map[types.NamespacedName]observation
	counts     map[string]int64
	namespaces map[namespacePhase]int64
	waits      map[types.NamespacedName]wait
}

// observation is what an application was last counted as. It is the zero value if the application does not count.
type observation struct {
	state string
	phase phase
}

// namespacePhase is the phase of applications of a namespace.
type namespacePhase struct {
	namespace string
	phase     phase
}

// wait is the state in which an application waits until it runs, and since when.
type wait struct {
	state string
	since time.Time
}

// NewStateCounter returns a counter that has counted nothing yet.
func NewStateCounter(clock clock.PassiveClock) *StateCounter {
	return &StateCounter{
		clock: clock, observed: map[types.NamespacedName]observation{},
		counts: map[string]int64{}, namespaces: map[namespacePhase]int64{}, waits: map[types.NamespacedName]wait{},
	}
}

// Lock begins the count of one application. It is called before the cache is read: a later call must not count an older state.
func (c *StateCounter) Lock() { c.mutex.Lock() }

// Unlock ends the count of one application.
func (c *StateCounter) Unlock() { c.mutex.Unlock() }

// Set counts an application in the state that it shows, empty if it shows none. A nil application does not count: it is gone, or it is
// not served. The caller holds the lock.
func (c *StateCounter) Set(name types.NamespacedName, app dialect.Application, state string) {
	delete(c.waits, name)
	var o observation
	if app != nil {
		o.state = cmp.Or(state, stateNew)
		var waits wait
		if o.phase, waits = phaseOf(app, o.state); o.phase == phaseWaiting {
			c.waits[name] = waits
		}
	}
	c.count(name, o)
}

// count counts an application as it is observed, in place of how it was observed before.
func (c *StateCounter) count(name types.NamespacedName, o observation) {
	before := c.observed[name]
	if before == o {
		return
	}
	if before.state != "" {
		c.counts[before.state]-- // the entry stays, at zero: a series that ends keeps its last value for a while
		c.namespaces[namespacePhase{name.Namespace, before.phase}]--
	}
	if o.state == "" {
		delete(c.observed, name)
		return
	}
	c.counts[o.state]++
	c.namespaces[namespacePhase{name.Namespace, o.phase}]++
	c.observed[name] = o
}

// LongestWaits returns the time of the longest wait in each state in which applications wait; zero if none does.
func (c *StateCounter) LongestWaits() map[string]time.Duration {
	longest := map[string]time.Duration{stateNew: 0}
	for _, state := range lifecycle.States {
		if waiting(state) {
			longest[string(state)] = 0
		}
	}
	now := c.clock.Now()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, w := range c.waits {
		longest[w.state] = max(longest[w.state], now.Sub(w.since))
	}
	return longest
}

// CountNamespaces calls count for each phase that any application of a namespace has had.
func (c *StateCounter) CountNamespaces(count func(namespace, phase string, applications int64)) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for of, applications := range c.namespaces {
		count(of.namespace, string(of.phase), applications)
	}
}

// Count returns the number of applications in each state that any application has had.
func (c *StateCounter) Count() map[string]int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return maps.Clone(c.counts)
}
