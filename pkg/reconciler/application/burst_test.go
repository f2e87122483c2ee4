package application

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers/driverstest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// newBurst returns the life of an application among many that wait for their first launch.
func newBurst(t *testing.T) *life {
	t.Helper()
	app := applicationtest.Pi().Obj()
	app.Spec.MainClass, app.Spec.Jars = "Main", "local:///app.jar"
	l := newLife(t, app)
	l.r.firstLaunches = waiting(100)
	l.reconcile(t)
	return l
}

// over ends the burst.
func (l *life) over() { l.r.firstLaunches = &base.Burst{} }

func (l *life) after(since time.Duration) { l.clock.SetTime(applicationtest.Start.Add(since)) }

func (l *life) stored(t *testing.T) *sparkv1.SparkApplication {
	t.Helper()
	app, err := l.spark.SparkV1().SparkApplications("team-a").Get(t.Context(), "pi", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// writes returns the requests that change something, and forgets them.
func (l *life) writes() []string {
	var writes []string
	for _, action := range slices.Concat(l.spark.Actions(), l.kube.Actions()) {
		if verb := action.GetVerb(); verb != "get" && verb != "list" && verb != "watch" {
			resource := action.GetResource().Resource
			if action.GetSubresource() != "" {
				resource += "/" + action.GetSubresource()
			}
			writes = append(writes, verb+" "+resource)
		}
	}
	l.spark.ClearActions()
	l.kube.ClearActions()
	return writes
}

func (l *life) wants(t *testing.T, when string, want ...string) {
	t.Helper()
	got := l.writes()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, the writes are (-want +got):\n%s", when, diff)
	}
}

func running(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
}

func TestBackpressureOfFirstLaunchesJoinsTheFirstStatusWrites(t *testing.T) {
	l := newBurst(t)
	l.wants(t, "at the launch", "create configmaps", "create pods", "create services", "patch sparkapplications")
	l.after(maxYield - time.Millisecond)
	l.driverIs(t, running)
	l.reconcile(t)
	l.wants(t, "while first launches wait")
	l.after(maxYield)
	l.reconcile(t)
	l.wants(t, "when the status is due", "update sparkapplications/status")
	var told []string
	for _, transition := range l.stored(t).Status.Firesteel.Transitions {
		told = append(told, fmt.Sprint(transition.State, " ", transition.Time.Sub(applicationtest.Start)))
	}
	if diff := cmp.Diff([]string{
		"Submitted 0s", "DriverRequested 0s", "DriverReady 1.499s", "RunningHealthy 1.499s",
	}, told); diff != "" {
		t.Errorf("the transitions (-want +got):\n%s", diff)
	}
	l.driverIs(t, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded })
	l.reconcile(t)
	l.wants(t, "when it succeeded", "update sparkapplications/status")
	l.over()
	l.reconcile(t)
	l.wants(t, "after the burst", "delete pods", "patch sparkapplications", "update sparkapplications/status")
}

func TestBackpressureOfFirstLaunchesEndsWithTheBurst(t *testing.T) {
	l := newBurst(t)
	l.writes()
	l.over()
	l.reconcile(t)
	l.wants(t, "after the burst", "update sparkapplications/status")
}

// Another operator that serves the application next knows its status only.
func TestFirstLaunchIsRecordedWhenItsNamespaceIsNoLongerServed(t *testing.T) {
	l := newBurst(t)
	l.writes()
	l.scope("watched-namespaces", "team-b")
	l.ctx = l.store.ToContext(l.ctx)
	if !l.r.serves(l.store.Load().Scope, l.stored(t)) {
		t.Fatal("a first launch that is in no record is left behind")
	}
	if err := l.behind.act(l.ctx); err != nil {
		t.Fatal(err)
	}
	l.wants(t, "when its namespace is no longer served", "update sparkapplications/status")
	if l.r.serves(l.store.Load().Scope, l.stored(t)) {
		t.Error("it is still served when its launch is recorded")
	}
}

// The end of a driver is published without delay.
func TestBackpressureOfFirstLaunchesDoesNotHoldAnEnd(t *testing.T) {
	l := newBurst(t)
	l.writes()
	l.driverIs(t, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
	l.reconcile(t)
	l.wants(t, "when it failed", "update sparkapplications/status")
}

// For clients, an edit that comes before the first status write comes after the launch.
func TestBackpressureOfFirstLaunchesEndsWithAnEdit(t *testing.T) {
	l := newBurst(t)
	l.writes()
	app := l.stored(t)
	app.Spec.DriverArgs = []string{"edited"}
	app.Generation++
	if err := l.spark.Tracker().Update(sparkv1.SchemeGroupVersion.WithResource("sparkapplications"), app, "team-a"); err != nil {
		t.Fatal(err)
	}
	l.reconcile(t)
	l.wants(t, "when it is edited", "update sparkapplications/status", "update sparkapplications/status")
	if spec := l.stored(t).Status.Firesteel.Attempt.Spec; spec == nil || spec.Generation == app.Generation {
		t.Errorf("the attempt has the spec %+v, want the one that was launched", spec)
	}
}

func TestBackpressureOfFirstLaunchesDoesNotHoldADeletion(t *testing.T) {
	l := newBurst(t)
	l.writes()
	app := l.stored(t)
	app.DeletionTimestamp = &metav1.Time{Time: applicationtest.Start}
	app.Generation++
	if err := l.spark.Tracker().Update(sparkv1.SchemeGroupVersion.WithResource("sparkapplications"), app, "team-a"); err != nil {
		t.Fatal(err)
	}
	l.reconcile(t)
	l.wants(t, "when it is deleted", "delete pods", "update sparkapplications/status", "update sparkapplications/status")
}

// A controller that is killed meanwhile has only the annotation.
func TestBackpressureOfFirstLaunchesSurvivesARestart(t *testing.T) {
	l := newBurst(t)
	l.writes()
	before := l.stored(t)
	again := newLife(t, before)
	pods, err := l.kube.CoreV1().Pods("team-a").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("%d Pods (%v)", len(pods.Items), err)
	}
	if err := again.kube.Tracker().Add(&pods.Items[0]); err != nil {
		t.Fatal(err)
	}
	again.driverIs(t, running)
	again.reconcile(t)
	record := again.stored(t).Status.Firesteel
	if record == nil || record.Launch == nil || record.Launch.DriverUID != pods.Items[0].UID || record.Attempt.ID != 0 {
		t.Errorf("the record is %+v, want the driver that was launched", record)
	}
}

// The cache may still show a driver of an earlier launch that is gone, so that the application looks like another operator's.
func TestFenceOfAFirstLaunchIsContinuedBesideADriverThatIsGone(t *testing.T) {
	l := newBurst(t)
	before := l.stored(t)
	again := newLife(t, before)
	again.r.newApplications = newNewApplications(apache.API)
	pods, err := l.kube.CoreV1().Pods("team-a").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("%d Pods (%v)", len(pods.Items), err)
	}
	driver := pods.Items[0]
	if err := again.kube.Tracker().Add(driver.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	again.driverIs(t, running)
	gone := driver.DeepCopy()
	gone.Name, gone.UID, gone.Labels[dialect.LabelLaunch] = "pi-0-earlier", "uid-of-another", strings.Repeat("f", 32)
	driverstest.Add(t, again.r.drivers, gone)
	again.reconcile(t)
	for _, cached := range again.r.drivers.Indexer.List() {
		if cached.(*drivers.Pod).Name == gone.Name {
			if err := again.r.drivers.Indexer.Delete(cached); err != nil {
				t.Fatal(err)
			}
		}
	}
	again.reconcile(t)
	record := again.stored(t).Status.Firesteel
	if record == nil || record.Launch == nil || record.Launch.DriverUID != driver.UID || record.Launch.ID != driver.Labels[dialect.LabelLaunch] {
		t.Errorf("the launch in the record is %+v, want that of the driver with its ID", record)
	}
}

// The other operator had not launched it, so the driver is Firesteel's own.
func TestBackpressureOfFirstLaunchesDoesNotAdoptAnApplicationThatAnotherOperatorOnlySubmitted(t *testing.T) {
	app := applicationtest.Pi().Obj()
	app.Spec.MainClass, app.Spec.Jars = "Main", "local:///app.jar"
	app.Status.CurrentState = &sparkv1.ApplicationState{CurrentStateSummary: "Submitted", LastTransitionTime: "2026-03-01T12:00:00Z"}
	l := newLife(t, app)
	l.r.firstLaunches = waiting(100)
	l.reconcile(t)
	l.wants(t, "at the launch", "create configmaps", "create pods", "create services", "patch sparkapplications")
	l.driverIs(t, running)
	l.over()
	l.reconcile(t)
	record := l.stored(t).Status.Firesteel
	if record == nil || record.Launch == nil || record.Launch.ID == "" || record.Transitions[0].State != "Submitted" {
		t.Errorf("the record is %+v, want that of a launch of its own", record)
	}
}
