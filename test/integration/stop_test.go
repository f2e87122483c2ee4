package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/cli"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis/why"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
	"github.com/firesteel-dev/firesteel/test/harness/sink"
)

// setStop sets the annotation, or removes it with the value null.
func (s *env) setStop(resource, name, value string) {
	s.Helper()
	s.patched(resource, name, fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, dialect.AnnotationStop, value))
}

// wantStopped checks that the last attempt was stopped, and how many drivers the application had.
func (s *env) wantStopped(name string, record *v1alpha1.Record, attempt int64, drivers int) {
	s.Helper()
	end := outbox.LastEnd(record)
	if end == nil || end.State != "Failed" || end.End.Class != "stopped" || end.End.Reason != "Stopped" || end.End.RestartAllowed ||
		end.Attempt != attempt || record.Attempt.ID != attempt {
		s.Errorf("the end of %s is %+v in attempt %d", name, end, record.Attempt.ID)
	}
	if had := s.untilHad(name, drivers); len(had) != drivers {
		s.Errorf("%s had %d drivers, want %d", name, len(had), drivers)
	}
}

func TestStopOfEachStateOfAnApacheApplication(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	forEver := func(name string) *application {
		return App(name).Restart(sparkv1.RestartAlways, 5, time.Hour).Retain(sparkv1.RetainAlways)
	}
	stopped := func(name string, attempt int64, drivers int) {
		t.Helper()
		s.wantStopped(name, s.untilState(name, "ResourceReleased").Status.Firesteel, attempt, drivers)
		s.untilCondition(name, dialect.ConditionSucceeded, metav1.ConditionFalse, "Stopped")
	}

	s.create(forEver("running"))
	d := s.run("running", 0)
	s.sparkFails("stop running --reason="+strings.Repeat("x", 200), 2, "--reason has 200 bytes: write at most 160")
	s.sparkSays("stop running --dry-run=server", "running stopped (server dry run)")
	s.sparkSays("stop running --reason=late", "sparkapplications.spark.apache.org/running stopped")
	stopped("running", 0, 1)
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
	s.untilEndPublished("Failed", "stopped")
	if message := s.condition("running", dialect.ConditionSucceeded).Message; !strings.HasPrefix(message, "The application was stopped: late (by ") {
		t.Errorf("the condition says %q", message)
	}
	s.sparkSays("stop running", "has ended (ResourceReleased): there is nothing to stop")
	s.causeOf("running", why.Stopped)
	s.sparkSays("why running", "kubectl spark rerun running")

	s.create(forEver("held").Suspended())
	s.untilCondition("held", dialect.ConditionSucceeded, metav1.ConditionUnknown, "Suspended")
	s.sparkSays("stop held", "held stopped")
	stopped("held", 0, 0)

	s.create(forEver("born").Annotation(dialect.AnnotationStop, ""))
	stopped("born", 0, 0)

	s.create(forEver("waiting"))
	s.run("waiting", 0).exit(1)
	s.untilState("waiting", "ScheduledToRestart")
	s.sparkSays("stop waiting", "waiting stopped")
	stopped("waiting", 1, 1)

	s.create(App("over"))
	s.run("over", 0).succeed()
	over := s.untilState("over", "ResourceReleased").Status.Firesteel.Sequence
	s.setStop(apacheApplications, "over", `"late"`)
	s.setStop(apacheApplications, "running", "null")
	s.create(App("after")) // shows that the controller has seen the changes
	s.run("after", 0).succeed()
	s.untilState("after", "ResourceReleased")
	s.untilCondition("over", dialect.ConditionSucceeded, metav1.ConditionTrue, "Succeeded")
	if now := s.get("over").Status.Firesteel.Sequence; now != over {
		t.Errorf("the stop of an application that is over made %d transitions", now-over)
	}
	stopped("running", 0, 1)
}

// An application that ends before its launch was not fenced, which gives others their finalizer.
func TestStopBeforeTheLaunchIsDeliveredBeforeADeletion(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.sink.SetAnswer(s.ns, always(http.StatusServiceUnavailable))
	app := s.create(App("pi").Annotation(dialect.AnnotationStop, "late"))
	s.untilState("pi", "ResourceReleased")
	s.delete("pi")
	if s.get("pi").DeletionTimestamp == nil {
		t.Error("it is not deleted")
	}
	s.sink.SetAnswer(s.ns, sink.Accept)
	s.untilPublished(app, words("Submitted Failed ResourceReleased")...)
	untilGone(s, s.apps(), "pi")
}

// Anybody who may edit an application may write anything into the annotation.
func TestStopWithAHostileReasonEndsTheApplicationWithAShortOne(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi").Restart(sparkv1.RestartAlways, 5, 0))
	s.run("pi", 0)
	s.edit("pi", func(app *sparkv1.SparkApplication) {
		app.Annotations = map[string]string{dialect.AnnotationStop: strings.Repeat("\x1b[31m\r\n\u202e ", 17_000)}
	})
	end := outbox.LastEnd(s.untilState("pi", "ResourceReleased").Status.Firesteel)
	if end.End.Class != "stopped" || len(end.End.Message) > 400 || strings.ContainsAny(end.End.Message, "\x1b\r\n\u202e") {
		t.Errorf("the end is %+v", end.End)
	}
	s.untilEndPublished("Failed", "stopped")
}

func TestStopOfEachStateOfAKubeflowApplication(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	always := withSpec(s, sparkPi("4.1.1"), "restartPolicy: {type: Always}")
	stopped := func(name string, attempt int64, drivers int) {
		t.Helper()
		s.wantStopped(name, s.untilShown(name, v1beta2.FailedState).Status.Firesteel, attempt, drivers)
		s.untilKubeflowCondition(name, dialect.ConditionSucceeded, metav1.ConditionFalse, "Stopped")
	}
	app := s.kubeflowApplication(always)
	d := s.runPi()
	s.sparkSays("stop spark-pi --reason=late", "sparkapplications.sparkoperator.k8s.io/spark-pi stopped")
	states := s.statesSince(app, v1beta2.FailedState)
	if got := fmt.Sprint(states[len(states)-3:]); got != "[RUNNING FAILING FAILED]" {
		t.Errorf("it shows %v", states)
	}
	stopped("spark-pi", 0, 1)
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
	if shown := s.untilShown("spark-pi", v1beta2.FailedState).Status.AppState.ErrorMessage; !strings.Contains(shown, "The application was stopped: late") {
		t.Errorf("the error message is %q", shown)
	}

	s.submitted(named("held", withSpec(s, always, "suspend: true")))
	s.untilShown("held", v1beta2.SuspendedState)
	s.sparkSays("stop held", "held stopped")
	stopped("held", 1, 0)

	// While it is stopped an edit runs nothing, and without the annotation it does.
	s.patched(kubeflowApplications, "spark-pi", `{"spec":{"arguments":["7"]}}`)
	s.submitted(named("after", withSpec(s, sparkPi("4.1.1"), "")))
	s.kubeflowDriver("after").start().succeed()
	s.untilShown("after", v1beta2.CompletedState)
	stopped("spark-pi", 0, 1)
	s.setStop(kubeflowApplications, "spark-pi", "null")
	again := until(s, s.Kube.CoreV1().Pods(s.ns), d.Name, "run the edited spec", func(pod *corev1.Pod) bool { return pod.UID != d.UID })
	if !slices.Contains(again.Spec.Containers[0].Args, "7") {
		t.Errorf("the driver has the arguments %q", again.Spec.Containers[0].Args)
	}
}

// stopEarly stops an application of the early API.
func stopEarly(s *env) {
	s.applyEarly(earlyPi("ends"))
	d := s.runEarly("ends")
	s.sparkSays("stop ends --reason=late", "sparkapplications.spark-operator.k8s.io/ends stopped")
	s.wantStopped("ends", s.untilEarly("ends", earlyv1alpha1.FailedState).Status.Firesteel, 0, 1)
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
}

// stopFollowed leaves the driver that a user started to the user.
func stopFollowed(s *env) {
	s.applyEarly(byUser("unstopped", "submissionByUser: true"))
	d := s.startAsUser(s.awaitingUser("unstopped"), "unstopped-driver")
	d.start()
	s.untilEarly("unstopped", earlyv1alpha1.RunningState)
	s.sparkFails("stop unstopped", 1, "Firesteel does not stop it: kubectl delete pod unstopped-driver -n "+s.ns)
	s.setStop("sparkapplications.spark-operator.k8s.io", "unstopped", `"late"`)
	until(s, s.earlyApps(), "unstopped", "have a warning", func(app *earlyv1alpha1.SparkApplication) bool {
		return slices.ContainsFunc(app.Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == "Warning" && strings.Contains(c.Message, "metadata.annotations[firesteel.dev/stop] has no effect, the user started the driver")
		})
	})
	d.succeed()
	s.untilEarly("unstopped", earlyv1alpha1.CompletedState)
}

// stoppedLife is stopped while its driver runs, and then deleted.
var stoppedLife = lifeCase{
	live: func(s *env, name string) *sparkv1.SparkApplication {
		s.Helper()
		app := s.create(App(name).Restart(sparkv1.RestartAlways, 5, 0).Retain(sparkv1.RetainAlways))
		s.run(name, 0)
		s.setStop(apacheApplications, name, `"late"`)
		s.wantStopped(name, s.untilState(name, "ResourceReleased").Status.Firesteel, 0, 1)
		until(s, s.apps(), name, "hold no finalizer", func(app *sparkv1.SparkApplication) bool { return len(app.Finalizers) == 0 })
		s.delete(name)
		untilGone(s, s.apps(), name)
		return app
	},
	states:  words("Submitted DriverRequested DriverStarted DriverReady RunningHealthy Failed ResourceReleased"),
	drivers: 1,
}

func TestWriteBudgetOfAStop(t *testing.T) {
	t.Parallel()
	newEnv(t).sharesController().storesRecords()
	s := newEnv(t).sharesController()
	app := s.create(App("pi").Restart(sparkv1.RestartAlways, 5, 0).Retain(sparkv1.RetainAlways))
	d := s.run("pi", 0)
	s.setStop(apacheApplications, "pi", `"late"`)
	s.untilState("pi", "ResourceReleased")
	s.untilPublished(app, stoppedLife.states...)
	until(s, s.apps(), "pi", "hold no finalizer", func(app *sparkv1.SparkApplication) bool { return len(app.Finalizers) == 0 })
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), d.Name)
	allowed := plainBudget("pods", "services", "configmaps")
	allowed["update sparkapplications/status"]++ // the condition says that the deleted driver is not gone yet
	allowed["update sparkapplications/status"] += int(time.Since(app.CreationTimestamp.Time) / (30 * time.Second))
	s.untilKubeEvent("pi", corev1.EventTypeWarning, "Failed")
	s.wantWithinBudget(allowed, s.requestsAtRest())
}

// A driver that Firesteel runs is not deleted alone: its restart policy would start it again.
func TestKillStopsTheApplicationAndDeletesOtherDrivers(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.create(App("pi").Restart(sparkv1.RestartAlways, 5, 0))
	d := s.run("pi", 0)
	plain, err := s.Kube.CoreV1().Pods(s.ns).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "plain-driver", Labels: map[string]string{"spark-role": "driver"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-driver", Image: "spark"}}},
	}, metav1.CreateOptions{})
	s.must(err)
	kill := func(id string, more ...string) commandLine {
		return s.cli(t.Context(), cli.Plugin, append([]string{"submit", "--kill", id}, more...)...)
	}
	const stopping = "Stopping application: sparkapplications.spark.apache.org/pi."
	if got := kill(s.ns+":"+d.Name, "--dry-run=server"); got.code != 0 || got.out != stopping+" (server dry run)\n" {
		t.Errorf("kill in a dry run: %+v", got)
	}
	got := kill("p*", "--conf", "spark.kubernetes.appKillPodDeletionGracePeriod=1")
	if got.code != 0 || !strings.Contains(got.out, stopping+"\n") || !strings.Contains(got.out, "Deleting driver pod: plain-driver.\n") ||
		!strings.Contains(got.errOut, "its driver ends within the grace period of its Pod") {
		t.Errorf("kill: %+v", got)
	}
	s.wantStopped("pi", s.untilState("pi", "ResourceReleased").Status.Firesteel, 0, 1)
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), plain.Name)
	if message := s.condition("pi", dialect.ConditionSucceeded).Message; !strings.Contains(message, "spark-submit --kill (by ") {
		t.Errorf("the condition says %q", message)
	}
	s.create(App("held").Suspended())
	if got := kill("held"); got.code != 0 || !strings.Contains(got.out, "held.") {
		t.Errorf("kill without a driver: %+v", got)
	}
	s.wantStopped("held", s.untilState("held", "ResourceReleased").Status.Firesteel, 0, 0)
	if got := kill("held"); got.code != 1 || !strings.Contains(got.errOut, "held has no driver Pod: kubectl spark delete held") {
		t.Errorf("kill after the end: %+v", got)
	}
}
