package application

import (
	"cmp"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// stateNew is the state of an application that was not reconciled yet.
const stateNew = "New"

// stateCounter counts the applications that this installation serves, by state.
type stateCounter struct {
	applications lister
	serves       func(dialect.Application) bool
	// state returns the state that an application shows; empty if it shows none.
	state func(dialect.Application) string

	mutex  sync.Mutex
	states map[types.NamespacedName]string
	counts map[string]int64
}

func newStateCounter(applications lister, serves func(dialect.Application) bool, state func(dialect.Application) string) *stateCounter {
	return &stateCounter{
		applications: applications, serves: serves, state: state,
		states: map[types.NamespacedName]string{}, counts: map[string]int64{},
	}
}

// observe returns an application from the cache, nil if there is none, and whether it is served. It updates the count.
func (c *stateCounter) observe(name types.NamespacedName) (app dialect.Application, served bool) {
	c.mutex.Lock() // before the cache is read, so that whoever comes later has seen no less
	defer c.mutex.Unlock()
	app, known := c.applications.get(name)
	served = known && c.serves(app)
	state := ""
	if served {
		state = cmp.Or(c.state(app), stateNew)
	}
	c.setState(name, state)
	return app, served
}

// setState sets the state of an application; empty if it is not counted.
func (c *stateCounter) setState(name types.NamespacedName, state string) {
	before := c.states[name]
	if before == state {
		return
	}
	if before != "" {
		c.counts[before]-- // stays, at zero: a series that ends keeps its last value for a while
	}
	if state == "" {
		delete(c.states, name)
		return
	}
	c.counts[state]++
	c.states[name] = state
}

// count returns the number of applications in each state that there ever was.
func (c *stateCounter) count() map[string]int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return maps.Clone(c.counts)
}
