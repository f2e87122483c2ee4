package integration

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
)

func TestRestartsAsOftenAsTheSpecAllows(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi").Restart(sparkv1.RestartOnFailure, 2, 0))
	for attempt := range 3 {
		s.run("pi", attempt).exit(int32(attempt + 1))
	}
	released := s.untilState("pi", "ResourceReleased")

	condition := s.untilCondition("pi", "Succeeded", metav1.ConditionFalse, "Failed")
	if !contains(condition.Message, "exited with code 3") {
		t.Errorf("the condition says %q, want the last attempt's exit code", condition.Message)
	}
	if got := released.Status.CurrentState.Message; got != "The maximum number of restart attempts (2) has been exceeded." {
		t.Errorf("the state's message is %q", got)
	}
	attempt := "ScheduledToRestart DriverRequested DriverStarted DriverReady RunningHealthy Failed"
	if diff := cmp.Diff(words(attempt+" ResourceReleased"), history(released)); diff != "" {
		t.Errorf("history of the last attempt (-want +got):\n%s", diff)
	}
	want := &sparkv1.AttemptInfo{ID: 2, RestartCounter: 2, FailureRestartCounter: 2}
	if diff := cmp.Diff(want, released.Status.CurrentAttemptSummary.AttemptInfo); diff != "" {
		t.Errorf("attempt (-want +got):\n%s", diff)
	}
	if previous := released.Status.PreviousAttemptSummary; previous == nil || previous.AttemptInfo.ID != 1 {
		t.Errorf("previous attempt: %+v", previous)
	}
	s.untilPublished(app, words("Submitted DriverRequested DriverStarted DriverReady RunningHealthy Failed "+attempt+" "+attempt+" ResourceReleased")...)
	if drivers := s.untilHad("pi", 3); len(drivers) != 3 {
		t.Errorf("three attempts had %d drivers", len(drivers))
	}
}

// An object that must exist before the driver is created again only if it was edited.
func TestRestartKeepsConfigMaps(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi").ConfigMap("kept", "key", "value").ConfigMap("edited", "key", "before").Restart(sparkv1.RestartOnFailure, 1, 0))
	first := map[string]types.UID{}
	d := s.run("pi", 0)
	for _, name := range []string{"kept", "edited"} {
		configMap, err := s.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), name, metav1.GetOptions{})
		s.must(err)
		first[name] = configMap.UID
	}
	s.edit("pi", func(app *sparkv1.SparkApplication) { app.Spec.ConfigMapSpecs[1].Data["key"] = "after" })
	d.exit(1)
	s.run("pi", 1)
	for name, want := range map[string]struct {
		value string
		same  bool
	}{"kept": {"value", true}, "edited": {"after", false}} {
		configMap, err := s.Kube.CoreV1().ConfigMaps(s.ns).Get(t.Context(), name, metav1.GetOptions{})
		s.must(err)
		if same := configMap.UID == first[name]; same != want.same || configMap.Data["key"] != want.value {
			t.Errorf("%s: the same %t, data %v; want the same %t, value %s", name, same, configMap.Data, want.same, want.value)
		}
	}
}

func TestRestartWaitsForItsBackOffAndNotLonger(t *testing.T) {
	t.Parallel()
	const backoff, late = 2 * time.Second, time.Minute
	s := newEnv(t).sharesController()
	s.create(App("pi").Restart(sparkv1.RestartOnFailure, 1, backoff))
	s.run("pi", 0).exit(1)
	s.driver("pi", 1)
	record := s.untilState("pi", "DriverRequested").Status.Firesteel
	times := map[string]time.Time{}
	for _, transition := range record.Transitions {
		times[transition.State] = transition.Time.Time
	}
	if waited := times["DriverRequested"].Sub(times["Failed"]); waited < backoff || waited > backoff+late {
		t.Errorf("the next driver was requested %s after the failure, want %s", waited, backoff)
	}
}

func TestRestartPoliciesDistinguishEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy  sparkv1.RestartPolicy
		end     func(*env)
		restart bool
		// late is whether the driver is to start in time.
		late bool
	}{
		"Never does not restart a failure":                       {sparkv1.RestartNever, failing, false, false},
		"OnFailure does not restart a success":                   {sparkv1.RestartOnFailure, succeeding, false, false},
		"OnFailure restarts an eviction":                         {sparkv1.RestartOnFailure, evicting, true, false},
		"Always restarts a success":                              {sparkv1.RestartAlways, succeeding, true, false},
		"OnInfrastructureFailure does not restart a failure":     {sparkv1.RestartOnInfrastructureFailure, failing, false, false},
		"OnInfrastructureFailure restarts a driver's late start": {sparkv1.RestartOnInfrastructureFailure, waiting, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			app := App("pi").Restart(c.policy, 1, 0)
			if c.late {
				app.DriverStartsWithin(time.Second)
			}
			s.create(app)
			c.end(s)
			if c.restart {
				s.untilDelivered("the request of the next driver", func(heard []eventlog.Entry) bool { // which may be late, too
					return slices.ContainsFunc(heard, func(e eventlog.Entry) bool {
						return e.State() == "DriverRequested" && e.Attributes["sparkattempt"] == "1"
					})
				})
				return
			}
			s.untilState("pi", "ResourceReleased")
			if drivers := s.untilHad("pi", 1); len(drivers) != 1 {
				t.Errorf("it had %d drivers", len(drivers))
			}
		})
	}
}

func failing(s *env)    { s.run("pi", 0).exit(1) }
func succeeding(s *env) { s.run("pi", 0).succeed() }
func evicting(s *env)   { s.run("pi", 0).evict() }
func waiting(s *env)    { s.untilHeard("pi", "DriverStartTimedOut") }

// untilHeard waits until the sink has heard of a state of an application, which may be in another already.
func (s *env) untilHeard(name, state string) {
	s.Helper()
	s.untilDelivered(state+" of "+name, func(heard []eventlog.Entry) bool {
		return slices.ContainsFunc(heard, func(e eventlog.Entry) bool { return e.Name() == name && e.State() == state })
	})
}

// No attempt starts while the driver before it may live: here its node is lost.
func TestRestartWaitsForADriverOnALostNode(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi").Restart(sparkv1.RestartAlways, 1, 0).DriverStartsWithin(time.Hour).ForceGoneWithin(0))
	lost := s.driver("pi", 0)
	s.kubelet.Pause(s.ns)
	s.edit("pi", func(app *sparkv1.SparkApplication) {
		app.Spec.ApplicationTolerations.ApplicationTimeoutConfig.DriverStartTimeoutMillis = inMillis(time.Second)
	})
	s.untilState("pi", "DriverStartTimedOut")
	s.untilTerminating(lost.Name)
	s.edit("pi", func(app *sparkv1.SparkApplication) {
		app.Spec.ApplicationTolerations.ApplicationTimeoutConfig.ForceTerminationGracePeriodMillis = inMillis(time.Second)
	})
	// In the end it is deleted by force, and only then the next attempt starts: driverHistory checks that.
	s.untilHeard("pi", "ScheduledToRestart")
	if _, err := s.Kube.CoreV1().Pods(s.ns).Get(t.Context(), lost.Name, metav1.GetOptions{}); err == nil {
		t.Error("the next attempt is scheduled, and the lost driver is still there")
	}
}

func TestTimeToLiveDeletesAnApplication(t *testing.T) {
	t.Parallel()
	const ttl, late = 2 * time.Second, time.Minute
	s := newEnv(t).sharesController()
	app := s.create(App("pi").TTL(ttl))
	s.run("pi", 0).succeed()
	record := s.untilState("pi", "ResourceReleased").Status.Firesteel
	ended := record.Transitions[len(record.Transitions)-2].Time.Time
	untilGone(s, s.apps(), "pi")
	if lived := time.Since(ended); lived < ttl || lived > ttl+late {
		t.Errorf("it was deleted %s after its end, want %s", lived, ttl)
	}
	s.untilNothingIsLeft()
	s.untilPublished(app, plainRun...)
	s.untilDelivered("the clock event", func(heard []eventlog.Entry) bool {
		return slices.ContainsFunc(heard, func(e eventlog.Entry) bool { return e.Type() == "dev.firesteel.application.expired.v1" })
	})
}
