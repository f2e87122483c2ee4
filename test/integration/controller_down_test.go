package integration

import (
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

// What happens while no controller runs is taken up by the next.
func TestControllerContinuesAfterItWasDown(t *testing.T) {
	alone(t)
	const podCreate = 2 // its place among the writes of a life
	for name, c := range map[string]struct {
		// dies is where the controller dies; where it is nowhere, when the driver runs.
		dies trap
		// meanwhile is what happens then, and after what has to come of it.
		meanwhile, after func(*crashEnv)
		drivers          int
		states           []string
	}{
		"a driver succeeds": {
			meanwhile: func(m *crashEnv) { m.driver(m.name, 0).succeed() },
			after:     func(m *crashEnv) { m.untilCondition(m.name, "Succeeded", metav1.ConditionTrue, "Succeeded") },
			drivers:   1, states: plainRun,
		},
		"a driver vanishes": {
			meanwhile: func(m *crashEnv) { m.deletePodNow(m.name + "-0-driver") },
			after: func(m *crashEnv) {
				c := m.untilCondition(m.name, "Succeeded", metav1.ConditionFalse, "DriverLost")
				if !contains(c.Message, "Driver removed") {
					m.Errorf("the condition says %q", c.Message)
				}
			},
			drivers: 1, states: words("Submitted DriverRequested DriverStarted DriverReady RunningHealthy Failed ResourceReleased"),
		},
		"an application is deleted whose driver runs": {
			meanwhile: func(m *crashEnv) { m.delete(m.name) },
			after:     gone, drivers: 1, states: cutShort.states,
		},
		"an application is deleted whose driver is not recorded": {
			dies: trap{at: podCreate, answered: true}, meanwhile: func(m *crashEnv) { m.delete(m.name) },
			after: gone, drivers: 1, states: words("Submitted ResourceReleased"),
		},
		"an application is deleted whose driver was about to be made": {
			dies: trap{at: podCreate}, meanwhile: func(m *crashEnv) { m.delete(m.name) },
			after: gone, drivers: 0, states: words("Submitted ResourceReleased"),
		},
		"an application is edited whose driver is not recorded": {
			dies: trap{at: podCreate, answered: true}, meanwhile: edited,
			after: endsEdited, drivers: 2, states: plainRun,
		},
		"an application is edited whose driver was about to be made": {
			dies: trap{at: podCreate}, meanwhile: edited,
			after: endsEdited, drivers: 1, states: plainRun,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newCrashEnv(t)
			c.dies.spring = func() { m.killController() }
			m.apiServer.setTrap(m.name, c.dies)
			app := m.create(App(m.name))
			if c.dies.at == 0 {
				m.run(m.name, 0)
				m.killController()
			}
			<-m.dead
			c.meanwhile(m)
			m.startAgain()
			c.after(m)
			m.untilPublished(app, c.states...)
			if drivers := m.untilHad(m.name, c.drivers); len(drivers) != c.drivers {
				m.Errorf("it had %d drivers, want %d", len(drivers), c.drivers)
			}
		})
	}
}

// While the watch of Pods is interrupted, a driver may be created and deleted: no event reports it.
func TestDriverThatDisappearsUnseenHasFailed(t *testing.T) {
	alone(t)
	m := newCrashEnv(t)
	m.create(App(m.name)) // the controller watches
	m.run(m.name, 0).succeed()
	m.untilState(m.name, "ResourceReleased")
	m.apiServer.refuse("/api/v1/pods")
	m.apiServer.cutConnections()
	const unseen = "unseen"
	app := m.create(App(unseen))
	m.untilState(unseen, "DriverRequested")
	m.deletePodNow(unseen + "-0-driver")
	m.untilDelivered("the request", func(heard []eventlog.Entry) bool { return len(firstAccepted(heard, app)) == 2 })
	// The cursor is written with this, so that it is no cause to look again.
	m.edit(unseen, func(app *sparkv1.SparkApplication) { app.Spec.Suspend = true })
	c := m.untilCondition(unseen, "Succeeded", metav1.ConditionFalse, "DriverLost")
	if !contains(c.Message, "Driver removed") {
		m.Errorf("the condition says %q", c.Message)
	}
	m.untilPublished(app, words("Submitted DriverRequested Failed ResourceReleased")...)
}

func gone(m *crashEnv) {
	m.Helper()
	untilGone(m.env, m.apps(), m.name)
	m.untilNothingIsLeft()
}

func edited(m *crashEnv) {
	m.edit(m.name, func(app *sparkv1.SparkApplication) { app.Spec.DriverArgs = []string{"edited"} })
}

func endsEdited(m *crashEnv) {
	m.Helper()
	d := m.run(m.name, 0)
	if arguments := d.Spec.Containers[0].Args; arguments[len(arguments)-1] != "edited" {
		m.Errorf("the driver has arguments %v", arguments)
	}
	d.succeed()
	m.untilState(m.name, "ResourceReleased")
}

// deletePodNow deletes a Pod without a grace period.
func (s *env) deletePodNow(pod string) {
	s.Helper()
	now := int64(0)
	s.must(s.Kube.CoreV1().Pods(s.ns).Delete(s.Context(), pod, metav1.DeleteOptions{GracePeriodSeconds: &now}))
}

func TestControllerStopsOnASignal(t *testing.T) {
	alone(t)
	m := newCrashEnv(t)
	hangs, answer := m.untilCalled()
	m.sink.SetAnswer(m.ns, func(*http.Request, eventlog.Entry) int {
		<-hangs
		return http.StatusAccepted
	})
	app := m.create(App(m.name))
	m.untilState(m.name, "DriverRequested")
	const patience = 45 * time.Second // a send may take a minute
	m.must(m.controller.Stop())
	select {
	case <-m.controller.Done():
	case <-time.After(patience):
		t.Errorf("it still runs after %s", patience)
	}
	answer()
	m.startAgain()
	m.run(m.name, 0).succeed()
	m.untilState(m.name, "ResourceReleased")
	m.untilPublished(app, plainRun...)
}
