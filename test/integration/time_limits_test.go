package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

// annotated is a manifest with annotations.
func annotated(s *env, manifest string, annotations map[string]any) string {
	s.Helper()
	var app map[string]any
	s.must(yaml.Unmarshal([]byte(manifest), &app))
	app["metadata"].(map[string]any)["annotations"] = annotations
	text, err := yaml.Marshal(app)
	s.must(err)
	return string(text)
}

// bounded sets an annotation with a time limit when all is as the limit is to find it.
func (s *env) bounded(resource, name, annotation string, limit time.Duration) {
	s.Helper()
	s.patched(resource, name, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, annotation, limit))
}

// startReady has a driver start and be ready at once: a limit may be over before another write.
func (d *driver) startReady() *driver {
	d.env.Helper()
	return d.set(func(status *corev1.PodStatus) {
		kubelet.Started(status)
		kubelet.Ready(status)
	})
}

// noDrivers waits until no driver Pod is left.
func (s *env) noDrivers() {
	s.Helper()
	pods, err := s.Kube.CoreV1().Pods(s.ns).List(s.Context(), metav1.ListOptions{LabelSelector: kubelet.DriverSelector})
	s.must(err)
	for _, pod := range pods.Items {
		untilGone(s, s.Kube.CoreV1().Pods(s.ns), pod.Name)
	}
}

// endedOnTime checks the last end of a record: its state, class, reason and message.
func (s *env) endedOnTime(record *v1alpha1.Record, state, reason string, says ...string) {
	s.Helper()
	for _, t := range slices.Backward(record.Transitions) {
		if t.End == nil {
			continue
		}
		if t.State != state || t.End.Class != "timeout" || t.End.Reason != reason || t.End.Outcome != "Failed" {
			s.Errorf("the attempt ended as %s, %+v", t.State, *t.End)
		}
		for _, part := range says {
			if !strings.Contains(t.End.Message, part) {
				s.Errorf("the end says %q, and not %q", t.End.Message, part)
			}
		}
		return
	}
	s.Error("no attempt has ended")
}

// untilEndPublished waits until the sink has the end of an attempt with a class of failure.
func (s *env) untilEndPublished(state, class string) {
	s.Helper()
	s.untilDelivered(state+" of class "+class, func(heard []eventlog.Entry) bool {
		return slices.ContainsFunc(heard, func(d eventlog.Entry) bool {
			return d.Taken && d.State() == state && strings.Contains(d.Body, fmt.Sprintf(`"class":%q`, class))
		})
	})
}

// A driver that the scheduler cannot place fails its run when its time is over, is tried again as the policy says, and leaves no Pod
// that might start later.
func TestTimeLimitOfAKubeflowDriverThatDoesNotStart(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	s.kubelet.Pause(s.ns) // it stays unbound
	app := s.kubeflowApplication(annotated(s, withSpec(s, sparkPi("4.1.1"),
		"restartPolicy: {type: OnFailure, onFailureRetries: 1, onFailureRetryInterval: 1}"),
		map[string]any{dialect.AnnotationDriverStart: "1h"}))
	pods := s.Kube.CoreV1().Pods(s.ns)
	pod := until(s, pods, "spark-pi-driver", "exist", func(*corev1.Pod) bool { return true })
	s.must(kubelet.SetStatus(t.Context(), s.Kube, pod, func(status *corev1.PodStatus) {
		status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable",
			Message: "0/3 nodes are available: 3 Insufficient memory."}}
	}))
	s.untilWaiting("spark-pi", "", "Insufficient memory")
	s.bounded(kubeflowApplications, "spark-pi", dialect.AnnotationDriverStart, 5*time.Second)
	var shown []string
	for _, state := range s.statesSince(app, v1beta2.FailedState) {
		shown = append(shown, string(state))
	}
	if want := words("SUBMITTED FAILING PENDING_RERUN SUBMITTED FAILING FAILED"); !slices.Equal(shown[1:], want) {
		t.Errorf("it shows %v, want %v", shown, want)
	}
	end := s.untilShown("spark-pi", v1beta2.FailedState)
	s.untilAttempted(end, 2, 1)
	s.endedOnTime(end.Status.Firesteel, "DriverStartTimedOut", "DriverStartTimedOut", "The limit is 5s, from the annotation firesteel.dev/driver-start-timeout.")
	if message := end.Status.AppState.ErrorMessage; !strings.Contains(message, "allotted start-up time") {
		t.Errorf("the error message is %q", message)
	}
	s.untilKubeflowCondition("spark-pi", dialect.ConditionSucceeded, metav1.ConditionFalse, "DriverStartTimedOut")
	s.untilKubeEvent("spark-pi", corev1.EventTypeWarning, "SparkDriverFailed")
	s.untilEndPublished("DriverStartTimedOut", "timeout")
	s.noDrivers()
	first := end.Status.Firesteel.Transitions[slices.IndexFunc(end.Status.Firesteel.Transitions, func(t v1alpha1.Transition) bool { return t.End != nil })]
	if first.End.Reason != "Unschedulable" || !first.End.RestartAllowed || !strings.Contains(first.End.Message, "Insufficient memory") {
		t.Errorf("the first attempt ended with %+v", *first.End)
	}
	s.must(s.kubeflowApps().Delete(t.Context(), "spark-pi", metav1.DeleteOptions{}))
	untilGone(s, s.kubeflowApps(), "spark-pi")
	s.untilNothingIsLeft()
}

// A driver without its executors fails its run, and one that has them is left alone.
func TestTimeLimitOfAKubeflowDriverWithoutExecutors(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	bounded := annotated(s, withSpec(s, sparkPi("4.1.1"), "executor: {instances: 2}"), map[string]any{dialect.AnnotationExecutorsStart: "1h"})
	s.kubeflowApplication(bounded)
	s.submitted(named("complete", bounded))
	complete := s.kubeflowDriver("complete").start().ready()
	for number := range 2 {
		complete.kubeflowExecutor(number + 11).start().ready()
	}
	until(s, s.kubeflowApps(), "complete", "have its executors", func(app *v1beta2.SparkApplication) bool {
		c := meta.FindStatusCondition(app.Status.Conditions, dialect.ConditionExecutorsReady)
		return c != nil && c.Status == metav1.ConditionTrue
	})
	s.runPi().kubeflowExecutor(1).start().ready()
	later := complete.kubeflowExecutor(13).start()
	until(s, s.kubeflowApps(), "complete", "show an executor that is later than the other's", func(app *v1beta2.SparkApplication) bool {
		return app.Status.ExecutorState[later.Name] == v1beta2.ExecutorRunningState
	})
	for _, name := range []string{"complete", "spark-pi"} {
		s.bounded(kubeflowApplications, name, dialect.AnnotationExecutorsStart, 8*time.Second)
	}
	end := s.untilShown("spark-pi", v1beta2.FailedState)
	s.endedOnTime(end.Status.Firesteel, "ExecutorsStartTimedOut", "ExecutorsStartTimedOut", "1 of 2 were ready.",
		"The limit is 8s, from the annotation firesteel.dev/executors-start-timeout.")
	s.untilEndPublished("ExecutorsStartTimedOut", "timeout")
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), "spark-pi-driver")
	if app := s.untilShown("complete", v1beta2.RunningState); app.Status.Firesteel.Attempt.ID != 0 {
		t.Errorf("the other is\n%s", described(app))
	}
}

// A driver whose readiness probe never passes has had its executors: it goes on without them, whichever process looks after
// it, until it ends.
func TestTimeLimitOfExecutorsEndsWhenTheyStarted(t *testing.T) {
	alone(t)
	const limit = 8 * time.Second
	s := newEnv(t)
	process := s.ownController(controller{sink: s.sink.URL()})
	s.kubeflowApplication(annotated(s, withSpec(s, sparkPi("4.1.1"), "executor: {instances: 2}"),
		map[string]any{dialect.AnnotationExecutorsStart: "1h"}))
	driver := s.kubeflowDriver("spark-pi").start()
	for number := range 2 {
		driver.kubeflowExecutor(number + 1).start().ready()
	}
	until(s, s.kubeflowApps(), "spark-pi", "have had its executors", func(app *v1beta2.SparkApplication) bool {
		record := app.Status.Firesteel
		return record != nil && record.Launch != nil && record.Launch.ExecutorsReady && record.Transitions[len(record.Transitions)-1].State == "DriverStarted"
	})
	s.bounded(kubeflowApplications, "spark-pi", dialect.AnnotationExecutorsStart, limit)
	process.Kill()
	s.must(s.Kube.CoreV1().Pods(s.ns).Delete(t.Context(), kubeflowExecutorName(2), metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), kubeflowExecutorName(2))
	s.ownController(controller{sink: s.sink.URL()})

	// Another application shows when the time limit of executors is over.
	s.submitted(named("clock", annotated(s, sparkPi("4.1.1"), map[string]any{dialect.AnnotationExecutorsStart: limit.String()})))
	s.kubeflowDriver("clock").start()
	s.untilShown("clock", v1beta2.FailedState)
	s.must(s.Kube.CoreV1().Pods(s.ns).Delete(t.Context(), kubeflowExecutorName(1), metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
	untilGone(s, s.Kube.CoreV1().Pods(s.ns), kubeflowExecutorName(1))
	driver.succeed()
	s.untilAttempted(s.untilShown("spark-pi", v1beta2.CompletedState), 1, 1)
}

// The active deadline counts over all runs, without back-offs and suspensions, and a restart of the controller forgets
// nothing. It is final.
func TestTimeLimitActiveDeadlineCountsRunningTime(t *testing.T) {
	alone(t)
	const pause = 12 * time.Second
	s := newEnv(t)
	process := s.ownController(controller{sink: s.sink.URL()})
	s.kubeflowApplication(annotated(s, withSpec(s, sparkPi("4.1.1"),
		"restartPolicy: {type: OnFailure, onFailureRetries: 5, onFailureRetryInterval: 1}"),
		map[string]any{dialect.AnnotationActiveDeadline: "1h"}))
	s.runPi().exit(1)
	s.untilShown("spark-pi", v1beta2.FailingState)
	s.runPi()
	s.suspend("spark-pi", true)
	before := s.untilShown("spark-pi", v1beta2.SuspendedState).Status.Firesteel.Attempt
	if before.ActiveMillis == 0 || before.ActiveSince != nil {
		t.Errorf("while it is suspended, it counts %+v", before)
	}

	// Another application shows that it is suspended for a while.
	s.submitted(named("clock", annotated(s, sparkPi("4.1.1"), map[string]any{dialect.AnnotationDriverStart: pause.String()})))
	s.untilShown("clock", v1beta2.FailedState)
	goesOn := time.Now()
	s.suspend("spark-pi", false)
	resumed := s.runPi()
	process.Kill()
	now := s.untilShown("spark-pi", v1beta2.RunningState).Status.Firesteel.Attempt
	if now.ActiveMillis != before.ActiveMillis || now.ActiveSince == nil || now.ActiveSince.Time.Before(goesOn) {
		t.Errorf("after the suspension it counts %+v, and before %+v", now, before)
	}
	limit := (time.Duration(now.ActiveMillis)*time.Millisecond + time.Since(goesOn)).Truncate(time.Second) + 3*time.Second
	s.bounded(kubeflowApplications, "spark-pi", dialect.AnnotationActiveDeadline, limit)
	s.ownController(controller{sink: s.sink.URL()})

	end := s.untilShown("spark-pi", v1beta2.FailedState)
	s.endedOnTime(end.Status.Firesteel, "Failed", "ActiveDeadlineExceeded", fmt.Sprintf("The limit is %s, from the annotation firesteel.dev/active-deadline.", limit))
	s.untilKubeflowCondition("spark-pi", dialect.ConditionSucceeded, metav1.ConditionFalse, "ActiveDeadlineExceeded")
	s.untilEndPublished("Failed", "timeout")
	if spent := time.Duration(end.Status.Firesteel.Attempt.ActiveMillis) * time.Millisecond; spent < limit-time.Millisecond {
		t.Errorf("it was active for %s, less than its deadline", spent)
	}
	pod, err := s.Kube.CoreV1().Pods(s.ns).Get(t.Context(), resumed.Name, metav1.GetOptions{})
	if err == nil && pod.UID == resumed.UID && pod.DeletionTimestamp == nil {
		t.Error("its driver runs on")
	}
	if drivers := s.untilHad("spark-pi", 3); len(drivers) != 3 {
		t.Errorf("it had %d drivers, want three", len(drivers))
	}
	s.untilAllPublished(end)
}

// The application's annotation wins over the setting, and one that is none is named and leaves it to the setting.
func TestTimeLimitAnnotationWinsOverTheSetting(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-kubeflow", "driver-start-timeout", "2s")
	s.configured("config-defaults", "active-deadline", "2s")
	s.ownController(controller{sink: s.sink.URL()})
	s.kubelet.Pause(s.ns)
	for name, value := range map[string]string{"unbounded": "0s", "longer": "1h", "wrong": "soon"} {
		s.submitted(named(name, annotated(s, sparkPi("4.1.1"), map[string]any{dialect.AnnotationDriverStart: value})))
	}
	warning := s.untilKubeflowCondition("wrong", dialect.ConditionWarning, metav1.ConditionTrue, "SpecNotHonored")
	if !strings.Contains(warning.Message, `metadata.annotations[firesteel.dev/driver-start-timeout] "soon" has no effect`) || !strings.Contains(warning.Message, "write one such as 10m") {
		t.Errorf("the warning says %q", warning.Message)
	}
	end := s.untilShown("wrong", v1beta2.FailedState)
	s.endedOnTime(end.Status.Firesteel, "DriverStartTimedOut", "DriverStartTimedOut", "The limit is 2s, from driver-start-timeout of the ConfigMap config-kubeflow.")
	for _, name := range []string{"unbounded", "longer"} {
		s.untilShown(name, v1beta2.SubmittedState)
	}
	// An edit of the annotation applies to a waiting application, and starts no run.
	s.patched(kubeflowApplications, "unbounded", `{"metadata":{"annotations":{"firesteel.dev/driver-start-timeout":"1s"}}}`)
	if app := s.untilShown("unbounded", v1beta2.FailedState); app.Status.Firesteel.Attempt.ID != 0 {
		t.Errorf("it runs attempt %d", app.Status.Firesteel.Attempt.ID)
	}
	s.kubelet.Resume(t.Context(), s.ns)

	s.create(App("pi"))
	s.driver("pi", 0).startReady()
	s.endedOnTime(s.untilState("pi", "ResourceReleased").Status.Firesteel, "Failed", "ActiveDeadlineExceeded",
		"The limit is 2s, from active-deadline of the ConfigMap config-defaults.")
}

// Applications of the Apache kind have the same annotations; their own fields win.
func TestTimeLimitsOfTheApacheKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		app           *application
		goes          func(*env)
		state, reason string
		says          string
		attempts      int64
		warns         string
	}{
		"a driver that does not start": {
			app:   App("pi").Annotation(dialect.AnnotationDriverStart, "2s").Restart(sparkv1.RestartOnInfrastructureFailure, 1, 0),
			goes:  func(*env) {},
			state: "DriverStartTimedOut", reason: "DriverStartTimedOut", says: "The limit is 2s, from the annotation firesteel.dev/driver-start-timeout.", attempts: 2,
		},
		"a field that says otherwise": {
			app:   App("pi").Annotation(dialect.AnnotationDriverStart, "1h").DriverStartsWithin(2 * time.Second),
			goes:  func(*env) {},
			state: "DriverStartTimedOut", reason: "DriverStartTimedOut", says: "applicationTimeoutConfig", attempts: 1,
			warns: `firesteel.dev/driver-start-timeout] "1h" has no effect, spec.applicationTolerations.applicationTimeoutConfig.driverStartTimeoutMillis says 2000`,
		},
		"executors that do not come": {
			app:   App("pi").Annotation(dialect.AnnotationExecutorsStart, "2s").Conf("spark.executor.instances", "2"),
			goes:  func(s *env) { s.driver("pi", 0).startReady() },
			state: "ExecutorsStartTimedOut", reason: "ExecutorsStartTimedOut", says: "0 of 2 were ready.", attempts: 1,
		},
		"the active deadline over two attempts": {
			app: App("pi").Annotation(dialect.AnnotationActiveDeadline, "1h").Restart(sparkv1.RestartAlways, 9, 0).Retain(sparkv1.RetainNever),
			goes: func(s *env) {
				s.driver("pi", 0).start().exit(1)
				s.driver("pi", 1).startReady()
				s.bounded(apacheApplications, "pi", dialect.AnnotationActiveDeadline, 4*time.Second)
			},
			state: "Failed", reason: "ActiveDeadlineExceeded", says: "The limit is 4s, from the annotation firesteel.dev/active-deadline.", attempts: 2,
		},
		"the active deadline of a driver that is to be kept": {
			app:   App("pi").Annotation(dialect.AnnotationActiveDeadline, "2s").Retain(sparkv1.RetainAlways),
			goes:  func(s *env) { s.driver("pi", 0).startReady() },
			state: "Failed", reason: "ActiveDeadlineExceeded", attempts: 1,
		},
		"an annotation that is none": {
			app:   App("pi").Annotation(dialect.AnnotationActiveDeadline, "-1m").DriverStartsWithin(2 * time.Second),
			goes:  func(*env) {},
			state: "DriverStartTimedOut", reason: "DriverStartTimedOut", attempts: 1,
			warns: `metadata.annotations[firesteel.dev/active-deadline] "-1m" has no effect`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t).sharesController()
			s.create(c.app)
			if c.warns != "" {
				if warning := s.untilCondition("pi", dialect.ConditionWarning, metav1.ConditionTrue, "SpecNotHonored"); !contains(warning.Message, c.warns) {
					t.Errorf("the warning says %q, and not %q", warning.Message, c.warns)
				}
			}
			c.goes(s)
			end := s.untilState("pi", "ResourceReleased")
			s.endedOnTime(end.Status.Firesteel, c.state, c.reason, c.says)
			if attempts := end.Status.Firesteel.Attempt.ID + 1; attempts != c.attempts {
				t.Errorf("it had %d attempts, want %d", attempts, c.attempts)
			}
			s.untilKubeEvent("pi", corev1.EventTypeWarning, c.state)
			s.untilEndPublished(c.state, "timeout")
			s.noDrivers()
		})
	}
}
