package integration

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/firesteel"
	"github.com/firesteel-dev/firesteel/test/harness/process"
)

// untilLogged waits until a process has logged something.
func (s *env) untilLogged(process *process.Process, text string) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		log, err := os.ReadFile(process.Log)
		return strings.Contains(string(log), text), err
	})
	if err != nil {
		s.Fatalf("waited for %q in %s: %v\n%s", text, process.Log, err, process.Tail(20))
	}
}

// untilSettingsAreRead waits until a controller has read all settings as they are. It reads them from one watch, and in its order: once it
// follows the log level that is set here, it follows all that was set before. Not for settings with which it starts again.
func (s *env) untilSettingsAreRead(process *process.Process) {
	s.Helper()
	for _, change := range []struct{ level, says string }{{"debug", "from info to debug"}, {"", "from debug to info"}} {
		s.untilLoggedAgain(process, "Updating logging level for controller "+change.says, func() {
			s.must(s.Configure(s.Context(), "config-logging", map[string]string{"loglevel.controller": change.level}))
		})
	}
}

// untilLoggedAgain waits until a process logs a text after a change, once more than before.
func (s *env) untilLoggedAgain(process *process.Process, text string, change func()) {
	s.Helper()
	times := func() int {
		log, err := os.ReadFile(process.Log)
		s.must(err)
		return strings.Count(string(log), text)
	}
	before := times()
	change()
	if wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) { return times() > before, nil }) != nil {
		s.Fatalf("waited for another %q in %s", text, process.Log)
	}
}

// wantUnchanged checks that an application was not written since it was read.
func (s *env) wantUnchanged(app *sparkv1.SparkApplication) {
	s.Helper()
	if now := s.get(app.Name); now.ResourceVersion != app.ResourceVersion {
		s.Errorf("%s was touched:\n%s", app.Name, described(now))
	}
}

func TestSettingOfWatchedNamespacesIsFollowed(t *testing.T) {
	alone(t)
	a, b := newEnv(t), newEnv(t)
	a.configured("config-scope", "watched-namespaces", a.ns)
	process := a.ownController(controller{sink: a.sink.URL()})
	app, other := a.create(App("pi")), b.create(App("pi"))
	d := a.run("pi", 0)
	b.wantUnchanged(other)
	if len(other.Finalizers) != 0 || other.Status.CurrentState != nil {
		t.Errorf("what is not served is\n%s", described(other))
	}

	a.configured("config-scope", "watched-namespaces", b.ns+", "+a.ns)
	a.untilLogged(process, "Updating operator namespaces to ["+a.ns+", "+b.ns+"]")
	running := b.run("pi", 0)

	a.configured("config-scope", "watched-namespaces", b.ns)
	a.untilLogged(process, "Updating operator namespaces to ["+b.ns+"]")
	left := a.get("pi")
	d.succeed()
	running.succeed() // and is heard of later than the other
	b.untilState("pi", "ResourceReleased")
	a.wantUnchanged(left)

	a.configured("config-scope", "watched-namespaces", "*")
	a.untilState("pi", "ResourceReleased")
	a.untilPublished(app, plainRun...)
	b.untilPublished(other, plainRun...)
}

func TestSettingOfTheLabelSelectorIsFollowed(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-scope", "label-selector", "stage=production")
	s.ownController(controller{sink: s.sink.URL()})
	bystander := s.create(App("bystander"))
	s.create(App("passer-by"))
	app := s.create(App("pi").Label("stage", "production"))
	leaving := s.create(App("leaving").Label("stage", "production"))
	d, left := s.run("pi", 0), s.run("leaving", 0)
	s.wantUnchanged(bystander)
	s.delete("passer-by")
	untilGone(s, s.apps(), "passer-by")

	s.edit("leaving", func(app *sparkv1.SparkApplication) { app.Labels = nil })
	outside := s.get("leaving")
	left.succeed()
	d.succeed() // and is heard of later than the other
	s.untilState("pi", "ResourceReleased")
	s.wantUnchanged(outside)

	s.configured("config-scope", "label-selector", "")
	s.untilState("leaving", "ResourceReleased")
	s.run("bystander", 0).succeed()
	s.untilState("bystander", "ResourceReleased")
	for _, each := range []*sparkv1.SparkApplication{app, leaving, bystander} {
		s.untilPublished(each, plainRun...)
	}
}

func TestSettingOfDefaultsIsFollowed(t *testing.T) {
	alone(t)
	s := newEnv(t)
	process := s.ownController(controller{sink: s.sink.URL()})
	const tolerations = "applicationTolerations"
	s.create(App("slow"))
	s.untilState("slow", "DriverRequested")
	s.create(App("over").Tolerations(sparkv1.ApplicationTolerations{})) // the API server writes -1 into it
	s.run("over", 0).succeed()
	s.untilState("over", "ResourceReleased")
	s.create(App("pi").Conf(namedAccount, "default"))
	d := s.run("pi", 0)
	before := s.confMap("pi-0-spark-drv-conf-map")

	s.configured("config-defaults", "spark-defaults.conf", "spark.eventLog.enabled true\n")
	s.configured("config-defaults", tolerations, `
restartConfig: {restartPolicy: OnFailure, maxRestartAttempts: 1, restartBackoffMillis: 0}
applicationTimeoutConfig: {driverStartTimeoutMillis: 1}
ttlAfterStopMillis: 0
`)
	s.untilDelivered("the time-out of slow", func(heard []eventlog.Entry) bool { // its state may be another already
		return slices.ContainsFunc(heard, func(e eventlog.Entry) bool { return e.Name() == "slow" && e.State() == "DriverStartTimedOut" })
	})
	untilGone(s, s.apps(), "over")
	s.configured("config-defaults", tolerations, "restartConfig: {restartPolicy: OnFailure, restartBackoffMillis: 0}")
	s.untilSettingsAreRead(process)

	running := s.untilState("pi", "RunningHealthy")
	if c := s.condition("pi", "Warning"); c != nil {
		t.Errorf("a change of defaults is taken for an edit: %+v", c)
	}
	now := s.confMap("pi-0-spark-drv-conf-map")
	if now.ResourceVersion != before.ResourceVersion || running.Status.Firesteel.Launch.DriverUID != d.UID {
		t.Errorf("a running driver was touched:\n%s\n%s", described(running), described(now))
	}
	d.exit(1)
	s.run("pi", 1)
	if text := s.confMap("pi-1-spark-drv-conf-map").Data["spark.properties"]; !strings.Contains(text, "spark.eventLog.enabled=true") {
		t.Errorf("the next attempt does not have the new default:\n%s", text)
	}
}

func (s *env) confMap(name string) *corev1.ConfigMap {
	s.Helper()
	configMap, err := s.Kube.CoreV1().ConfigMaps(s.ns).Get(s.Context(), name, metav1.GetOptions{})
	s.must(err)
	return configMap
}

// The controller is killed after the launch and before the status write. It starts again with other defaults.
func TestLaunchIsResumedWithOtherDefaults(t *testing.T) {
	alone(t)
	// Its writes are: the fence with the finalizer, the Pod, the Service and the config map, the status.
	for name, c := range map[string]struct {
		dies    int // before that write
		drivers int
		renewed bool
	}{
		"where nothing was created, it has the new ones": {2, 1, true},
		"where a part was, it is replaced":               {3, 2, true},
		"where all was, it stays as it is":               {5, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newCrashEnv(t)
			t.Cleanup(func() {
				m.must(m.Configure(context.Background(), "config-defaults", map[string]string{"spark-defaults.conf": ""}))
			})
			m.apiServer.setTrap(m.name, trap{at: c.dies, spring: func() {
				m.killController()
				if err := m.Configure(t.Context(), "config-defaults", map[string]string{"spark-defaults.conf": "spark.eventLog.enabled true"}); err != nil {
					t.Error(err)
				}
				m.startAgain()
			}})
			app := m.create(App(m.name))
			d := m.run(m.name, 0)
			if drivers := m.untilHad(m.name, c.drivers); len(drivers) != c.drivers {
				t.Errorf("it had %d drivers, want %d", len(drivers), c.drivers)
			}
			properties := m.confMap(m.name + "-0-spark-drv-conf-map")
			if renewed := strings.Contains(properties.Data["spark.properties"], "spark.eventLog.enabled"); renewed != c.renewed {
				t.Errorf("it has the new defaults: %t, want %t", renewed, c.renewed)
			}
			if !metav1.IsControlledBy(properties, d.Pod) || !m.isDead() {
				t.Errorf("died: %t; its config map belongs to %v", m.isDead(), properties.OwnerReferences)
			}
			d.succeed()
			m.untilState(m.name, "ResourceReleased")
			m.untilPublished(app, plainRun...)
		})
	}
}

func TestSettingThatIsInvalidIsRefused(t *testing.T) {
	alone(t)
	s := newEnv(t)
	const refusal = `config-defaults: applicationTolerations: restartConfig.restartPolicy is "Sometimes": ` +
		`write one of [Always Never OnFailure OnInfrastructureFailure]`
	s.configured("config-defaults", "image", "example.org/ours")
	process := s.ownController(controller{sink: s.sink.URL()})
	s.create(App("before"))
	s.driver("before", 0)
	s.configured("config-defaults", "applicationTolerations", "restartConfig: {restartPolicy: Sometimes}")
	system := &env{TB: t, suite: s.suite, ns: firesteel.SystemNamespace}
	event := system.untilKubeEvent("config-defaults", corev1.EventTypeWarning, "SettingRefused")
	if !strings.Contains(event.Message, refusal) {
		t.Errorf("the Event says %q", event.Message)
	}
	s.untilLogged(process, "restartConfig.restartPolicy is")
	s.create(App("after"))
	if image := s.driver("after", 0).Spec.Containers[0].Image; image != "example.org/ours" {
		t.Errorf("what was before does not stay: the image is %s", image)
	}

	process.Kill()
	another := s.ownController(controller{sink: s.sink.URL()})
	select {
	case <-another.Done():
	case <-time.After(timeout):
		t.Fatal("a controller starts with a setting that cannot be used")
	}
	s.untilLogged(another, "invalid configuration: correct the ConfigMap and start again")
	s.untilLogged(another, "firesteel-system/config-defaults")
	s.untilLogged(another, `restartConfig.restartPolicy is \"Sometimes\": write one of [Always Never`)
}

func TestSettingOfTheLogLevelIsFollowed(t *testing.T) {
	alone(t)
	s := newEnv(t)
	process := s.ownController(controller{})
	s.create(App("pi"))
	s.driver("pi", 0)
	if log, err := os.ReadFile(process.Log); err != nil || strings.Contains(string(log), `"severity":"debug"`) {
		t.Errorf("it logs at the level debug from the beginning (%v)", err)
	}
	s.configured("config-logging", "loglevel.controller", "debug")
	s.untilLogged(process, "Updating logging level for controller from info to debug")
	s.create(App("another"))
	s.untilLogged(process, `"severity":"debug"`)
}
