package applications

import (
	"cmp"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// stateNew is the state in metrics of an application that was not reconciled yet.
const stateNew = "New"

// StateCounter counts the applications that this installation serves, by state. Observe is called for each that may have changed.
type StateCounter struct {
	lookup func(types.NamespacedName) (app dialect.Application, found bool)
	serves func(dialect.Application) bool
	// state returns the state that an application shows, empty if it shows none.
	state func(dialect.Application) string

	mutex  sync.Mutex
	states map[types.NamespacedName]string
	counts map[string]int64
}

// NewStateCounter returns a counter of the applications that lookup finds in the cache.
func NewStateCounter(
	lookup func(types.NamespacedName) (app dialect.Application, found bool), serves func(dialect.Application) bool,
	state func(dialect.Application) string,
) *StateCounter {
	return &StateCounter{
		lookup: lookup, serves: serves, state: state, states: map[types.NamespacedName]string{}, counts: map[string]int64{},
	}
}

// Observe returns an application as the cache has it, nil if the cache has none, and whether it is served.
func (c *StateCounter) Observe(name types.NamespacedName) (app dialect.Application, served bool) {
	c.mutex.Lock() // before the cache is read: a later call must not count an older state
	defer c.mutex.Unlock()
	app, found := c.lookup(name)
	served = found && c.serves(app)
	state := ""
	if served {
		state = cmp.Or(c.state(app), stateNew)
	}
	c.setState(name, state)
	return app, served
}

// setState stores the state of an application. It is empty if the application does not count.
func (c *StateCounter) setState(name types.NamespacedName, state string) {
	before := c.states[name]
	if before == state {
		return
	}
	if before != "" {
		c.counts[before]-- // the entry stays, at zero: a series that ends keeps its last value for a while
	}
	if state == "" {
		delete(c.states, name)
		return
	}
	c.counts[state]++
	c.states[name] = state
}

// Count returns the number of applications in each state that any application has had.
func (c *StateCounter) Count() map[string]int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return maps.Clone(c.counts)
}
