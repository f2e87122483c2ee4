package applications

import (
	"cmp"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// stateNew is the state in metrics of an application that was not reconciled yet.
const stateNew = "New"

// StateCounter counts the applications that this installation serves, by state. Observe is called for each that may have changed.
type StateCounter struct {
	lookup func(types.NamespacedName) (app dialect.Application, found bool)
	serves func(dialect.Application) bool
	// state returns the state that an application shows, empty if it shows none.
	state func(dialect.Application) string
	clock clock.PassiveClock

	mutex  sync.Mutex
	states map[types.NamespacedName]string
	counts map[string]int64
	waits  map[types.NamespacedName]wait
}

// wait is the state in which an application waits until it runs, and since when.
type wait struct {
	state string
	since time.Time
}

// NewStateCounter returns a counter of the applications that lookup finds in the cache.
func NewStateCounter(
	lookup func(types.NamespacedName) (app dialect.Application, found bool), serves func(dialect.Application) bool,
	state func(dialect.Application) string, clock clock.PassiveClock,
) *StateCounter {
	return &StateCounter{
		lookup: lookup, serves: serves, state: state, clock: clock, states: map[types.NamespacedName]string{}, counts: map[string]int64{},
		waits: map[types.NamespacedName]wait{},
	}
}

// Observe returns an application as the cache has it, nil if the cache has none, and whether it is served.
func (c *StateCounter) Observe(name types.NamespacedName) (app dialect.Application, served bool) {
	c.mutex.Lock() // before the cache is read: a later call must not count an older state
	defer c.mutex.Unlock()
	app, found := c.lookup(name)
	served = found && c.serves(app)
	state := ""
	delete(c.waits, name)
	if served {
		state = cmp.Or(c.state(app), stateNew)
		if waits, ok := waitOf(app, state); ok {
			c.waits[name] = waits
		}
	}
	c.setState(name, state)
	return app, served
}

// waitOf returns how an application waits; not ok if it does not wait. What the user has suspended does not wait.
func waitOf(app dialect.Application, state string) (w wait, ok bool) {
	record := app.GetRecord()
	if record == nil || len(record.Transitions) == 0 {
		return wait{stateNew, app.GetCreationTimestamp().Time}, state == stateNew
	}
	last := record.Transitions[len(record.Transitions)-1]
	if !waiting(lifecycle.State(last.State)) {
		return wait{}, false
	}
	held := meta.FindStatusCondition(app.GetConditions(), dialect.ConditionSucceeded)
	return wait{last.State, last.Time.Time}, held == nil || held.Reason != string(lifecycle.HeldSuspended)
}

// waiting reports whether an application waits in a state until it runs.
func waiting(state lifecycle.State) bool { return state.Initializing() || state.Starting() }

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

// Count returns the number of applications in each state that any application has had.
func (c *StateCounter) Count() map[string]int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return maps.Clone(c.counts)
}
