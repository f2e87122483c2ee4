package sparkapplication

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	sparklisters "github.com/firesteel-dev/firesteel/pkg/client/listers/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/config"
)

// unseen stands for the state of an application that nobody has looked at.
const unseen = "New"

// census knows how many applications this installation serves, by state. It is told which of them may have changed.
type census struct {
	applications sparklisters.SparkApplicationLister
	scope        func() *config.Scope

	mutex  sync.Mutex
	states map[types.NamespacedName]string
	counts map[string]int64
}

func newCensus(applications sparklisters.SparkApplicationLister, scope func() *config.Scope) *census {
	return &census{
		applications: applications, scope: scope,
		states: map[types.NamespacedName]string{}, counts: map[string]int64{},
	}
}

// look returns an application as the cache has it, nil where it has none, and whether it is served.
func (c *census) look(name types.NamespacedName) (app *sparkv1.SparkApplication, served bool) {
	c.mutex.Lock() // before the cache is read, so that whoever comes later has seen no less
	defer c.mutex.Unlock()
	app, err := c.applications.SparkApplications(name.Namespace).Get(name.Name)
	served = err == nil && c.scope().Serves(app)
	state := ""
	if served {
		state = stateOf(app)
	}
	c.move(name, state)
	if err != nil {
		return nil, false
	}
	return app, served
}

// move notes the present state of an application; an empty one says that it does not count.
func (c *census) move(name types.NamespacedName, state string) {
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
func (c *census) count() map[string]int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return maps.Clone(c.counts)
}

func stateOf(app *sparkv1.SparkApplication) string {
	if state := app.Status.CurrentState; state != nil && state.CurrentStateSummary != "" {
		return state.CurrentStateSummary
	}
	return unseen
}
