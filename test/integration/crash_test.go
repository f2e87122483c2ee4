package integration

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/process"
	"github.com/firesteel-dev/firesteel/test/harness/sink"
)

// lifeCase is what happens to an application, at the controller's pace.
type lifeCase struct {
	// live creates an application, and returns it when it is gone.
	live func(s *env, name string) *sparkv1.SparkApplication
	// states are the expected states, in order, and drivers the number of drivers.
	states  []string
	drivers int
}

// restarted fails at its first attempt, succeeds at its second, and is deleted by its time to live.
var restarted = lifeCase{
	live: func(s *env, name string) *sparkv1.SparkApplication {
		s.Helper()
		app := s.create(App(name).ConfigMap(name+"-settings", "key", "value").Restart(sparkv1.RestartOnFailure, 1, 0).TTL(0))
		s.run(name, 0).exit(1)
		s.run(name, 1).succeed()
		untilGone(s, s.apps(), name)
		return app
	},
	states: words(`Submitted DriverRequested DriverStarted DriverReady RunningHealthy Failed
		ScheduledToRestart DriverRequested DriverStarted DriverReady RunningHealthy Succeeded ResourceReleased`),
	drivers: 2,
}

// cutShort is deleted while its driver runs.
var cutShort = lifeCase{
	live: func(s *env, name string) *sparkv1.SparkApplication {
		s.Helper()
		app := s.create(App(name))
		s.run(name, 0)
		s.delete(name)
		untilGone(s, s.apps(), name)
		return app
	},
	states:  words("Submitted DriverRequested DriverStarted DriverReady RunningHealthy ResourceReleased"),
	drivers: 1,
}

// runThrough runs an application to its end, and checks that no step was lost or repeated.
func (s *env) runThrough(life lifeCase, name string) {
	s.Helper()
	app := life.live(s, name)
	s.untilPublished(app, life.states...)
	if drivers := s.untilHad(name, life.drivers); len(drivers) != life.drivers {
		s.Errorf("%s had %d drivers, want %d", name, len(drivers), life.drivers)
	}
}

// crashEnvs are envs for subtests that run in parallel. Each env serves one of them at a time.
type crashEnvs chan *crashEnv

// newCrashEnvs makes more envs than there are processors, since a subtest mostly waits: for the fence of the killed controller above
// all.
func newCrashEnvs(t *testing.T) crashEnvs {
	t.Helper()
	envs := make(crashEnvs, 12)
	for range cap(envs) {
		envs <- newCrashEnv(t)
	}
	return envs
}

// run runs a subtest as soon as an env is free, beside the other subtests.
func (e crashEnvs) run(t *testing.T, name string, test func(t *testing.T, m *crashEnv)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		m := <-e
		defer func() { e <- m }()
		m.use(t)
		test(t, m)
	})
}

// The controller is killed at each of its steps in turn, and another takes over. Whatever the step was, no two drivers
// run at once, each attempt has one, and all events are published in order.
func TestCrashOfTheControllerAtEachStep(t *testing.T) {
	alone(t)
	envs := newCrashEnvs(t)
	for name, life := range map[string]lifeCase{"of a restart": restarted, "of a deletion": cutShort, "of a stop": stoppedLife} {
		t.Run(name, func(t *testing.T) {
			walk := func(where string, arm func(*crashEnv)) {
				envs.run(t, where, func(t *testing.T, m *crashEnv) {
					arm(m)
					m.runThrough(life, m.name)
					m.untilNothingIsLeft()
					if !m.untilDead() {
						t.Error("the controller was not killed: the life had fewer steps")
					}
				})
			}
			// The controller that takes over finds the same before a write as before the answer to the one that precedes it: what
			// the killed one knew has died with it.
			for i, write := range writesOf(t, life) {
				walk(fmt.Sprintf("before the answer to write %d %s", i+1, write), func(m *crashEnv) {
					m.apiServer.setTrap(m.name, trap{at: i + 1, answered: true, spring: m.restartController})
				})
			}
			for i, state := range life.states {
				walk(fmt.Sprintf("before the answer to event %d %s", i+1, state), func(m *crashEnv) {
					m.sink.SetAnswer(m.ns, m.restartAt(int64(i+1)))
				})
			}
		})
	}
}

// writesOf are the writes of a life in which nothing happens to the controller.
func writesOf(t *testing.T, life lifeCase) []string {
	t.Helper()
	calm := newCrashEnv(t)
	var writes []string
	for range 2 { // on a slow machine a life may need more: one is for a cursor, or repeats another after a conflict
		calm.runThrough(life, calm.name)
		calm.untilNothingIsLeft()
		if these := calm.apiServer.written(calm.name); writes == nil || len(these) < len(writes) {
			writes = these
		}
		calm.use(t)
	}
	t.Logf("a life takes %d writes:\n%s", len(writes), numbered(writes))
	pods := slices.DeleteFunc(slices.Clone(writes), func(write string) bool { return write != "POST pods" })
	if len(pods) != life.drivers {
		t.Fatalf("the proxy saw %d pods made, want %d: does it see all writes?", len(pods), life.drivers)
	}
	return writes
}

func numbered(lines []string) string {
	text := ""
	for i, line := range lines {
		text += fmt.Sprintf("  %2d %s\n", i+1, line)
	}
	return text
}

// crashEnv is an env with a controller of its own, which tests kill. Several tests may use it, one after another.
type crashEnv struct {
	*env
	apiServer *faultyServer
	// environment are variables of the controller.
	environment []string
	// name is that of the application that the test is about.
	name string
	uses int

	mutex      sync.Mutex
	controller *process.Process
	// dead is closed when the controller has died.
	dead chan struct{}
}

func newCrashEnv(t *testing.T, environment ...string) *crashEnv {
	t.Helper()
	m := &crashEnv{env: newEnv(t), environment: environment}
	config, err := m.ConfigOf(t.Context(), firesteel.SystemNamespace, "controller")
	m.must(err)
	m.apiServer, err = newFaultyServer(config, m.ns)
	m.must(err)
	t.Cleanup(m.apiServer.close)
	m.use(t)
	m.startAgain()
	t.Cleanup(func() { m.controller.Kill() })
	m.storesRecords()
	return m
}

// use gives the env to a test, with another application.
func (m *crashEnv) use(t *testing.T) {
	m.uses++
	m.env = &env{TB: t, suite: m.suite, ns: m.ns}
	m.name = fmt.Sprintf("pi-%d", m.uses)
	m.dead = make(chan struct{})
	m.sink.SetAnswer(m.ns, sink.Accept)
	if m.controller != nil {
		m.logOnFailure(m.controller)
	}
}

// killController kills the controller, once in a test.
func (m *crashEnv) killController() bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.isDead() {
		return false
	}
	m.apiServer.setTrap(m.name, trap{})
	m.controller.Kill()
	close(m.dead)
	return true
}

func (m *crashEnv) isDead() bool {
	select {
	case <-m.dead:
		return true
	default:
		return false
	}
}

// untilDead waits until the controller was killed. The effect of its last write is visible earlier.
func (m *crashEnv) untilDead() bool {
	select {
	case <-m.dead:
		return true
	case <-time.After(timeout):
		return false
	}
}

// startAgain starts a controller after the last one was killed.
func (m *crashEnv) startAgain() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	started, _, err := m.startController(context.Background(),
		controller{config: m.apiServer.config(), sink: m.sink.URL(), environment: m.environment})
	if err != nil {
		m.Error(err)
		return
	}
	m.controller = started
	m.logOnFailure(started)
}

// restartController kills the controller and starts another at once.
func (m *crashEnv) restartController() {
	if m.killController() {
		m.startAgain()
	}
}

// restartAt accepts each event, and restarts the controller before it gets the response to the event with a sequence.
func (m *crashEnv) restartAt(sequence int64) sink.Answer {
	return func(_ *http.Request, d eventlog.Entry) int {
		if d.Name() == m.name && d.Sequence() == sequence {
			m.restartController()
		}
		return http.StatusAccepted
	}
}

// The controller survives a failed request, whether the API server executed it or not.
func TestFailureOfEachWriteIsRetried(t *testing.T) {
	alone(t)
	writes := writesOf(t, restarted)
	m := newCrashEnv(t)
	t.Run("in turn", func(t *testing.T) {
		for i, write := range writes {
			for how, answered := range map[string]bool{"unanswered": true, "undone": false} {
				t.Run(fmt.Sprintf("write %d %s %s", i+1, write, how), func(t *testing.T) {
					t.Parallel()
					s := &env{TB: t, suite: m.suite, ns: m.ns}
					name := fmt.Sprintf("%s-%d", how, i+1)
					failed := make(chan struct{})
					m.apiServer.setTrap(name, trap{at: i + 1, answered: answered, spring: sync.OnceFunc(func() { close(failed) })})
					s.runThrough(restarted, name)
					select {
					case <-failed: // what a life's last write did is seen before its answer is lost
					case <-time.After(timeout):
						t.Error("no write failed: the life had fewer")
					}
				})
			}
		}
	})
	m.untilNothingIsLeft()
}

// A quota that has room for one driver refuses it the second time, when the answer to the first was lost. The application
// has its driver all the same.
func TestLostResponseIsNoRefusal(t *testing.T) {
	alone(t)
	driver := slices.Index(writesOf(t, cutShort), "POST pods") + 1
	m := newCrashEnv(t)
	m.limitedTo(corev1.ResourceList{"pods": resource.MustParse("1")})
	var lost atomic.Bool
	m.apiServer.setTrap(m.name, trap{at: driver, answered: true, spring: func() { lost.Store(true) }})
	m.runThrough(cutShort, m.name)
	if !lost.Load() {
		t.Error("no answer was lost")
	}
}

// Replicas overlap on every roll-out. What both do has one effect.
func TestTwoLeadersAtOnceActOnce(t *testing.T) {
	alone(t)
	s := newEnv(t)
	for range 2 {
		s.ownController(controller{sink: s.sink.URL()})
	}
	t.Run("to any of", func(t *testing.T) {
		for i := range 8 {
			t.Run(fmt.Sprintf("application %d", i), func(t *testing.T) {
				t.Parallel()
				s := &env{TB: t, suite: s.suite, ns: s.ns}
				s.runThrough(restarted, fmt.Sprintf("pi-%d", i))
			})
		}
	})
	s.untilNothingIsLeft()
}
