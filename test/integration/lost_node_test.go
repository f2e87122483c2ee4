package integration

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
)

// A node is lost: its Pod is deleted, as by the taint manager, and stays. An application without a limit waits and reports it.
// The limit takes effect as soon as it is set.
func TestForcedDeletionOfADriverOnALostNode(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi").Restart(sparkv1.RestartOnFailure, 1, 0).ForceGoneWithin(0))
	d := s.run("pi", 0)
	s.kubelet.Pause(s.ns)
	d.set(func(status *corev1.PodStatus) {
		status.Conditions = []corev1.PodCondition{{
			Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByTaintManager",
			Message: "Taint manager: deleting due to NoExecute taint",
		}}
	})
	grace := int64(1)
	s.must(s.Kube.CoreV1().Pods(s.ns).Delete(t.Context(), d.Name, metav1.DeleteOptions{GracePeriodSeconds: &grace}))
	until(s, s.apps(), "pi", "say that its driver is not forced to go", func(app *sparkv1.SparkApplication) bool {
		return contains(app.Status.Conditions[0].Message, "forceTerminationGracePeriodMillis does not allow Firesteel to do")
	})
	if state := stateOf(s.get("pi")); state != "RunningHealthy" {
		t.Errorf("without a bound it is %s", state)
	}

	s.edit("pi", func(app *sparkv1.SparkApplication) {
		app.Spec.ApplicationTolerations.ApplicationTimeoutConfig.ForceTerminationGracePeriodMillis = inMillis(time.Second)
	})
	s.untilState("pi", "DriverRequested")
	s.kubelet.Resume(t.Context(), s.ns)
	s.run("pi", 1).succeed()
	s.untilState("pi", "ResourceReleased")
	s.untilPublished(app, words(`Submitted DriverRequested DriverStarted DriverReady RunningHealthy Failed
		ScheduledToRestart DriverRequested DriverStarted DriverReady RunningHealthy Succeeded ResourceReleased`)...)
	heard, _ := s.sink.Events(s.ns)
	for _, part := range []string{`"class":"infrastructure"`, `"reason":"NodeLost"`, "Taint manager", `"pod":"pi-0-driver"`, `"attempt":0`} {
		if body := firstAccepted(heard, app)[5].Body; !strings.Contains(body, part) {
			t.Errorf("the end of the first attempt does not say %s: %s", part, body)
		}
	}
}

func TestDriverThatEndsAtOnceSkipsStates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code int32
		want string
	}{
		"a success": {0, "Submitted DriverRequested Succeeded ResourceReleased"},
		"a failure": {1, "Submitted DriverRequested Failed ResourceReleased"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			app := s.create(App("pi"))
			s.driver("pi", 0).exit(c.code)
			s.untilPublished(app, words(c.want)...)
		})
	}
}

func TestTimeLimitThatIsLoweredTakesEffectAtOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi").DriverStartsWithin(time.Hour))
	s.untilState("pi", "DriverRequested")
	s.edit("pi", func(app *sparkv1.SparkApplication) {
		app.Spec.ApplicationTolerations.ApplicationTimeoutConfig.DriverStartTimeoutMillis = inMillis(time.Millisecond)
	})
	s.untilCondition("pi", "Succeeded", metav1.ConditionFalse, "DriverStartTimedOut")
}

func TestRetentionEndsWithAnEdit(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi").Retain(sparkv1.RetainAlways))
	d := s.run("pi", 0).succeed()
	s.untilCondition("pi", "ResourcesReleased", metav1.ConditionFalse, "Retained")
	s.edit("pi", func(app *sparkv1.SparkApplication) {
		app.Spec.ApplicationTolerations.ResourceRetainPolicy = sparkv1.RetainNever
	})
	s.untilCondition("pi", "ResourcesReleased", metav1.ConditionTrue, "Released")
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
}
