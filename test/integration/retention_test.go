package integration

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

func TestSuspendHoldsTheLaunchAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi").Suspended())
	s.untilCondition("pi", "Succeeded", metav1.ConditionUnknown, "Suspended")
	s.untilPublished(app, "Submitted")
	if drivers := s.driverHistory.driversOf(s.ns, "pi"); len(drivers) != 0 {
		t.Errorf("suspended it had %d drivers", len(drivers))
	}
	s.edit("pi", func(app *sparkv1.SparkApplication) { app.Spec.Suspend = false })
	d := s.run("pi", 0)
	s.edit("pi", func(app *sparkv1.SparkApplication) { app.Spec.Suspend = true })
	d.succeed()
	s.untilState("pi", "ResourceReleased")
	s.untilPublished(app, plainRun...)
}

func TestRetentionKeepsResourcesForItsDuration(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy   sparkv1.RetainPolicy
		end      func(*driver) *driver
		retained bool
	}{
		"Never releases after a failure":    {sparkv1.RetainNever, failingDriver, false},
		"OnFailure releases after success":  {sparkv1.RetainOnFailure, (*driver).succeed, false},
		"OnFailure retains after a failure": {sparkv1.RetainOnFailure, failingDriver, true},
		"Always retains after success":      {sparkv1.RetainAlways, (*driver).succeed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			app := s.create(App("pi").Retain(c.policy).RetainFor(time.Hour))
			d := s.run("pi", 0)
			c.end(d)
			want := []string{"ResourceReleased"}
			if c.retained {
				want = []string{"TerminatedWithoutReleaseResources", "ResourceReleased"}
				s.untilState("pi", want[0])
				_, err := s.Kube.CoreV1().Pods(s.ns).Get(t.Context(), d.Name, metav1.GetOptions{})
				s.must(err)
				s.edit("pi", func(live *sparkv1.SparkApplication) { // which ended later than it was created
					live.Spec.ApplicationTolerations.ResourceRetainDurationMillis = inMillis(time.Since(app.CreationTimestamp.Time) + 2*time.Second)
				})
			}
			states := history(s.untilState("pi", "ResourceReleased"))
			if diff := cmp.Diff(want, states[6:]); diff != "" {
				t.Errorf("states after the end (-want +got):\n%s", diff)
			}
			untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
			s.untilPublished(app, states...)
		})
	}
}

func failingDriver(d *driver) *driver { return d.exit(1) }

func TestDeletionOfARetainedApplicationLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi").Retain(sparkv1.RetainAlways))
	s.run("pi", 0).succeed()
	s.untilState("pi", "TerminatedWithoutReleaseResources")
	s.delete("pi")
	untilGone(s, s.apps(), "pi")
	s.untilNothingIsLeft()
	s.untilPublished(app, append(append([]string{}, plainRun[:6]...), "TerminatedWithoutReleaseResources", "ResourceReleased")...)
}

func TestEditAfterTheLaunchIsForTheNextAttempt(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi").Conf(namedAccount, "default").Restart(sparkv1.RestartOnFailure, 1, 0))
	d := s.run("pi", 0)
	s.edit("pi", func(app *sparkv1.SparkApplication) { app.Spec.DriverArgs = []string{"100"} })
	s.untilCondition("pi", "Warning", metav1.ConditionTrue, "SpecNotHonored")
	d.exit(1)
	next := s.run("pi", 1)
	if arguments := next.Spec.Containers[0].Args; arguments[len(arguments)-1] != "100" {
		t.Errorf("the next attempt has arguments %v", arguments)
	}
	if c := s.condition("pi", "Warning"); c != nil {
		t.Errorf("it still has the condition %+v", c)
	}
}
