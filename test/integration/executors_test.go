package integration

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/harness/controlplane"
)

func TestExecutorsChangeTheStateOfTheirApplication(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi").Executors(2, 2, 3))
	s.waitFor("pi", "DriverReady=False")
	d := s.runUnto("DriverReady", "pi", 0)
	s.waitFor("pi", "DriverReady")
	s.untilCondition("pi", "ExecutorsReady", metav1.ConditionFalse, "BelowInitial")

	s.foreignPod("other")
	s.executor("pi-0", 9, submission.OwnedBy(s.pod("other"))).start().ready() // belongs to no application
	first := d.executor(1).start().ready()
	s.untilState("pi", "InitializedBelowThresholdExecutors")
	second := d.executor(2).start().ready()
	s.untilState("pi", "RunningWithPartialCapacity")
	s.waitFor("pi", "ExecutorsReady")
	third := s.executor("pi-0", 3, d.statefulSet()).start().ready()
	s.untilState("pi", "RunningHealthy")

	third.exit(1)
	s.untilState("pi", "RunningWithPartialCapacity")
	s.must(s.Kube.CoreV1().Pods(s.ns).Delete(t.Context(), second.Name, metav1.DeleteOptions{}))
	s.untilState("pi", "RunningWithBelowThresholdExecutors")
	s.waitFor("pi", "ExecutorsReady=False")
	first.exit(0)
	d.executor(4).start().ready()
	d.executor(5).start().ready()
	s.untilState("pi", "RunningWithPartialCapacity")
	d.succeed()
	s.waitFor("pi", "ResourcesReleased")
	s.untilPublished(app, words(`Submitted DriverRequested DriverStarted DriverReady InitializedBelowThresholdExecutors RunningWithPartialCapacity
		RunningHealthy RunningWithPartialCapacity RunningWithBelowThresholdExecutors RunningWithPartialCapacity Succeeded ResourceReleased`)...)
	s.untilCondition("pi", "DriverReady", metav1.ConditionFalse, "ResourceReleased")
}

// statefulSet is what a driver has its executors from, where an allocator makes them.
func (d *driver) statefulSet() metav1.OwnerReference {
	d.env.Helper()
	labels := map[string]string{"spark-role": "executor"}
	set, err := d.env.Kube.AppsV1().StatefulSets(d.Namespace).Create(d.env.Context(), &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "spark-s-pi-0", OwnerReferences: []metav1.OwnerReference{submission.OwnedBy(d.Pod)}},
		Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "spark-kubernetes-executor", Image: "spark"}}},
			},
		},
	}, metav1.CreateOptions{})
	d.env.must(err)
	return *metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
}

// waitFor has kubectl wait for a condition.
func (s *env) waitFor(name, condition string) {
	s.Helper()
	_, err := s.kubectl("", "wait", "--for=condition="+condition, "--timeout="+timeout.String(), "sparkapp/"+name)
	s.must(err)
}

// The executors of one attempt are none of the next, also where a user has both bear the same id.
func TestExecutorsThatDoNotStartInTimeEndTheAttempt(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi").Conf("spark.app.id", "pi-0").Executors(2, 1, 2).ExecutorsStartWithin(15*time.Second).
		Restart(sparkv1.RestartOnInfrastructureFailure, 1, 0))
	d := s.driver("pi", 0).start()
	d.executor(1).start().ready() // before its time begins, which is when the driver is ready
	d.ready()
	again := until(s, s.apps(), "pi", "be restarted", func(app *sparkv1.SparkApplication) bool {
		return stateOf(app) == "DriverRequested" && app.Status.CurrentAttemptSummary.AttemptInfo.ID == 1
	})
	late := again.Status.PreviousAttemptSummary.StateTransitionHistory["5"]
	want := "The Spark application failed to get enough executors in the given time threshold. 1 of 2 were ready."
	if late.CurrentStateSummary != "ExecutorsStartTimedOut" || late.Message != want || late.LastObservedDriverStatus == nil {
		t.Errorf("the first attempt ended with %+v", late)
	}
	s.driver("pi", 0).start().ready()
	states := "DriverRequested DriverStarted DriverReady ExecutorsStartTimedOut"
	s.untilPublished(app, words("Submitted DriverRequested DriverStarted DriverReady InitializedBelowThresholdExecutors ExecutorsStartTimedOut "+
		"ScheduledToRestart "+states+" ResourceReleased")...)
	if got := s.get("pi").Status.CurrentState.Message; got != "The maximum number of restart attempts (1) has been exceeded." {
		t.Errorf("the message is %q", got)
	}
}

// withoutEvents are the requests but for those of Kubernetes Events, which come in their own time.
func withoutEvents(requests []controlplane.Request) []controlplane.Request {
	return slices.DeleteFunc(requests, func(r controlplane.Request) bool { return r.Resource == "events" })
}

// An application that requests no number of executors shows none, and their changes cost no request.
func TestExecutorsCostNothingIfNoNumberIsRequested(t *testing.T) {
	t.Parallel()
	s := newEnv(t).sharesController()
	app := s.create(App("pi").Executors(0, 3, 3))
	d := s.run("pi", 0)
	s.untilCondition("pi", "ExecutorsReady", metav1.ConditionTrue, "NoMinimum")
	before := withoutEvents(s.requestsAtRest())
	for id := range 5 {
		d.executor(id).start().ready().exit(0)
	}
	after := withoutEvents(s.requestsAtRest())[len(before):]
	cursors := int(time.Since(app.CreationTimestamp.Time) / (30 * time.Second)) // on a slow machine
	after = slices.DeleteFunc(after, func(r controlplane.Request) bool {
		cursor := cursors > 0 && r.Kind() == "update sparkapplications/status"
		if cursor {
			cursors--
		}
		return cursor
	})
	if len(after) > 0 {
		t.Errorf("changes of executors cost %v", after)
	}
	d.succeed()
	s.untilState("pi", "ResourceReleased")
}

// A controller that starts again counts the existing executors before it reports too few.
func TestExecutorsAreCountedAgainAfterTheControllerWasDown(t *testing.T) {
	alone(t)
	m := newCrashEnv(t)
	app := m.create(App(m.name).Executors(2, 2, 2))
	d := m.runUnto("DriverReady", m.name, 0)
	d.executor(1).start().ready()
	m.untilState(m.name, "InitializedBelowThresholdExecutors")
	d.executor(2).start().ready()
	m.untilState(m.name, "RunningHealthy")
	m.killController()
	<-m.dead
	m.startAgain()
	d.succeed()
	m.untilState(m.name, "ResourceReleased")
	m.untilPublished(app, words(`Submitted DriverRequested DriverStarted DriverReady InitializedBelowThresholdExecutors RunningHealthy
		Succeeded ResourceReleased`)...)
}
