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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/process"
	"github.com/firesteel-dev/firesteel/test/harness/sink"
)

// life is what an application goes through, at the controller's pace.
type life struct {
	// live creates an application, and returns it when it is gone.
	live func(s *env, name string) *sparkv1.SparkApplication
	// states are the story, in order, and drivers how many there are in it.
	states  []string
	drivers int
}

// restarted fails at its first attempt, succeeds at its second, and is deleted by its time to live.
var restarted = life{
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
var cutShort = life{
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

// live goes through a life, and checks that no step of it was lost, or taken twice.
func (s *env) live(life life, name string) {
	s.Helper()
	app := life.live(s, name)
	s.told(app, life.states...)
	if drivers := s.driverHistory.driversOf(s.ns, name); len(drivers) != life.drivers {
		s.Errorf("%s had %d drivers, want %d", name, len(drivers), life.drivers)
	}
}

// crashesAtOnce is the number of controllers that run beside each other, each in a namespace of its own.
const crashesAtOnce = 6

// The controller is killed at each of its steps in turn, and another takes over. Whatever the step was, no two drivers
// live at once, each attempt has one, and the whole story is told in order.
func TestCrashOfTheControllerAtEachStep(t *testing.T) {
	alone(t)
	mortals := make(chan *mortal, crashesAtOnce)
	for range crashesAtOnce {
		mortals <- newMortal(t)
	}
	for name, life := range map[string]life{"of a restart": restarted, "of a deletion": cutShort} {
		t.Run(name, func(t *testing.T) {
			walk := func(where string, arm func(*mortal)) {
				t.Run(where, func(t *testing.T) {
					t.Parallel()
					m := <-mortals
					defer func() { mortals <- m }()
					m.enter(t)
					arm(m)
					m.live(life, m.name)
					m.empty()
					if !m.dies() {
						t.Error("the controller was not killed: the life had fewer steps")
					}
				})
			}
			for i, write := range writesOf(t, life) {
				walk(fmt.Sprintf("before write %d %s", i+1, write), func(m *mortal) {
					m.proxy.set(m.name, trap{at: i + 1, spring: m.reincarnate})
				})
				walk(fmt.Sprintf("before the answer to write %d %s", i+1, write), func(m *mortal) {
					m.proxy.set(m.name, trap{at: i + 1, answered: true, spring: m.reincarnate})
				})
			}
			for i, state := range life.states {
				walk(fmt.Sprintf("before the answer to event %d %s", i+1, state), func(m *mortal) {
					m.sink.SetAnswer(m.ns, m.dyingAt(int64(i+1)))
				})
			}
		})
	}
}

// writesOf are the writes of a life in which nothing happens to the controller.
func writesOf(t *testing.T, life life) []string {
	t.Helper()
	calm := newMortal(t)
	calm.live(life, calm.name)
	calm.empty()
	writes := calm.proxy.written(calm.name)
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

// mortal is an env with a controller of its own, which dies. Several tests may enter it, one after another.
type mortal struct {
	*env
	proxy *proxy
	// environment are variables of the controller.
	environment []string
	// name is that of the application that the test is about.
	name    string
	entered int

	mutex      sync.Mutex
	controller *process.Process
	// dead is closed when the controller has died.
	dead chan struct{}
}

func newMortal(t *testing.T, environment ...string) *mortal {
	t.Helper()
	m := &mortal{env: newEnv(t), environment: environment}
	config, err := m.ConfigOf(t.Context(), firesteel.SystemNamespace, "controller")
	m.must(err)
	m.proxy, err = newProxy(config, m.ns)
	m.must(err)
	t.Cleanup(m.proxy.close)
	m.enter(t)
	m.revive()
	t.Cleanup(func() { m.controller.Kill() })
	m.storesRecords()
	return m
}

// enter has the env be a test's, with another application.
func (m *mortal) enter(t *testing.T) {
	m.entered++
	m.env = &env{TB: t, suite: m.suite, ns: m.ns}
	m.name = fmt.Sprintf("pi-%d", m.entered)
	m.dead = make(chan struct{})
	m.sink.SetAnswer(m.ns, sink.Accept)
	if m.controller != nil {
		m.tellOnFailure(m.controller)
	}
}

// die kills the controller, once in a test.
func (m *mortal) die() bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.died() {
		return false
	}
	m.proxy.set(m.name, trap{})
	m.controller.Kill()
	close(m.dead)
	return true
}

func (m *mortal) died() bool {
	select {
	case <-m.dead:
		return true
	default:
		return false
	}
}

// dies waits for the death. What a life's last write did is seen before the controller is gone that made it.
func (m *mortal) dies() bool {
	select {
	case <-m.dead:
		return true
	case <-time.After(patience):
		return false
	}
}

// revive starts a controller in the place of the one that died.
func (m *mortal) revive() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	started, _, err := m.startController(context.Background(),
		controller{config: m.proxy.config(), sink: m.sink.URL(), environment: m.environment})
	if err != nil {
		m.Error(err)
		return
	}
	m.controller = started
	m.tellOnFailure(started)
}

// reincarnate has a controller that dies replaced at once.
func (m *mortal) reincarnate() {
	if m.die() {
		m.revive()
	}
}

// dyingAt takes each event, and kills the controller before it learns that a certain one was taken.
func (m *mortal) dyingAt(sequence int64) sink.Answer {
	return func(_ *http.Request, d eventlog.Entry) int {
		if d.Name() == m.name && d.Sequence() == sequence {
			m.reincarnate()
		}
		return http.StatusAccepted
	}
}

// A request may fail without the controller dying of it, whether the API server carried it out or not.
func TestFailureOfEachWriteIsRetried(t *testing.T) {
	alone(t)
	writes := writesOf(t, restarted)
	m := newMortal(t)
	t.Run("in turn", func(t *testing.T) {
		for i, write := range writes {
			for how, answered := range map[string]bool{"unanswered": true, "undone": false} {
				t.Run(fmt.Sprintf("write %d %s %s", i+1, write, how), func(t *testing.T) {
					t.Parallel()
					s := &env{TB: t, suite: m.suite, ns: m.ns}
					name := fmt.Sprintf("%s-%d", how, i+1)
					var failed atomic.Bool
					m.proxy.set(name, trap{at: i + 1, answered: answered, spring: func() { failed.Store(true) }})
					s.live(restarted, name)
					if !failed.Load() {
						t.Error("no write failed: the life had fewer")
					}
				})
			}
		}
	})
	m.empty()
}

// A quota that has room for one driver refuses it the second time, when the answer to the first was lost. The application
// has its driver all the same.
func TestLostResponseIsNoRefusal(t *testing.T) {
	alone(t)
	driver := slices.Index(writesOf(t, cutShort), "POST pods") + 1
	m := newMortal(t)
	_, err := m.Kube.CoreV1().ResourceQuotas(m.ns).Create(t.Context(), quota(corev1.ResourcePods, "1"), metav1.CreateOptions{})
	m.must(err)
	until(m.env, m.Kube.CoreV1().ResourceQuotas(m.ns), "quota", "count", func(q *corev1.ResourceQuota) bool { return len(q.Status.Used) > 0 })
	var lost atomic.Bool
	m.proxy.set(m.name, trap{at: driver, answered: true, spring: func() { lost.Store(true) }})
	m.live(cutShort, m.name)
	if !lost.Load() {
		t.Error("no answer was lost")
	}
}

// Replicas overlap on every roll-out. What both of them do is done once.
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
				s.live(restarted, fmt.Sprintf("pi-%d", i))
			})
		}
	})
	s.empty()
}
