package launch

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers/driverstest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// followEnv is an application whose user starts the driver, and its launcher.
type followEnv struct {
	*Launcher
	app    *earlyv1alpha1.SparkApplication
	client *fake.Clientset
	// recorded are the driver Pods that other applications follow, enqueued is how often the application was enqueued.
	recorded map[types.UID]types.NamespacedName
	enqueued int
}

func newFollowEnv(t *testing.T, spec earlyv1alpha1.SparkApplicationSpec, pods ...*corev1.Pod) *followEnv {
	t.Helper()
	app := &earlyv1alpha1.SparkApplication{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: "uid-of-pi", Generation: 1}, Spec: spec}
	e := &followEnv{app: app, client: fake.NewClientset(), recorded: map[types.UID]types.NamespacedName{}}
	clock := clocktesting.NewFakePassiveClock(applicationtest.Start)
	enqueue := func(any, time.Duration) { e.enqueued++ }
	e.Launcher = New(Config{
		API: applications.Early(nil), Kube: e.client, Drivers: driverstest.CachedOf(t, early.API, pods...), Redactors: base.NewRedactors(), Clock: clock,
		Deleter: drivers.NewDeleter(e.client, clock, enqueue), EnqueueAfter: enqueue,
		ApplicationOf: func(pod types.UID) (types.NamespacedName, bool) {
			other, ok := e.recorded[pod]
			return other, ok
		},
	})
	return e
}

func (e *followEnv) view() *view.Application {
	d := early.New(early.NewSettings())
	return &view.Application{App: e.app, Dialect: d, Policy: d.Policy(e.app), UserDriver: d.UserDriver(e.app)}
}

func (e *followEnv) follow(t *testing.T, record *v1alpha1.Record) lifecycle.Observation {
	t.Helper()
	var seen lifecycle.Observation
	if err := e.Follow(t.Context(), e.view(), record, &seen); err != nil {
		t.Fatal(err)
	}
	return seen
}

// userDriver returns a driver Pod that the user of the application started some seconds after the tests' start.
func userDriver(name string, seconds int, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: name, UID: types.UID("uid-of-" + name),
		CreationTimestamp: metav1.NewTime(applicationtest.Start.Add(time.Duration(seconds) * time.Second)),
		Labels: map[string]string{"spark-role": "driver", submission.LabelApplicationID: "spark-" + name, early.LabelAppID: early.AppID(
			&earlyv1alpha1.SparkApplication{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: "uid-of-pi"}})},
	}}
	for _, change := range change {
		change(pod)
	}
	return pod
}

var submissionByUser = earlyv1alpha1.SparkApplicationSpec{SubmissionByUser: true}

func attempt(id int64, since time.Duration) *v1alpha1.Record {
	return &v1alpha1.Record{Attempt: v1alpha1.Attempt{ID: id, Since: metav1.NewMicroTime(applicationtest.Start.Add(since))}}
}

func TestFollowFindsTheDriverThatTheUserStarted(t *testing.T) {
	owned := func(kind string, uid types.UID) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, UID: uid}} }
	}
	ended := func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded }
	label := func(key, value string) func(*corev1.Pod) { return func(pod *corev1.Pod) { pod.Labels[key] = value } }
	inCluster := earlyv1alpha1.SparkApplicationSpec{Mode: earlyv1alpha1.InClusterClientMode, Driver: earlyv1alpha1.DriverSpec{PodName: "b"}}
	for name, test := range map[string]struct {
		spec     earlyv1alpha1.SparkApplicationSpec
		pods     []*corev1.Pod
		recorded map[types.UID]types.NamespacedName
		record   *v1alpha1.Record
		want     string
	}{
		"none":                       {spec: submissionByUser, want: ""},
		"the only one":               {spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 1)}, want: "a"},
		"the first of several":       {spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 2), userDriver("b", 1), userDriver("c", 3)}, want: "b"},
		"of one instant, by name":    {spec: submissionByUser, pods: []*corev1.Pod{userDriver("b", 1), userDriver("a", 1)}, want: "a"},
		"that has ended already":     {spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 1, ended)}, want: "a"},
		"that another kind owns":     {spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 1, owned("Job", "job"))}, want: "a"},
		"that it owns":               {spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 1, owned("SparkApplication", "uid-of-pi"))}, want: "a"},
		"not that of another owner":  {spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 1, owned("SparkApplication", "other"))}, want: ""},
		"not that of a launch":       {spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 1, label(dialect.LabelLaunch, "x"))}, want: ""},
		"not with another ID":        {spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 1, label(early.LabelAppID, "pi-0"))}, want: ""},
		"not in another namespace":   {spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 1, func(pod *corev1.Pod) { pod.Namespace = "team-b" })}, want: ""},
		"that another does not have": {spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 1), userDriver("b", 2)}, recorded: map[types.UID]types.NamespacedName{"uid-of-a": {Namespace: "team-a", Name: "other"}}, want: "b"},
		"that it follows already":    {spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 1)}, recorded: map[types.UID]types.NamespacedName{"uid-of-a": {Namespace: "team-a", Name: "pi"}}, want: "a"},
		"by its name":                {spec: inCluster, pods: []*corev1.Pod{userDriver("a", 1), userDriver("b", 2)}, want: "b"},
		"of the present attempt": {
			spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 1, ended), userDriver("b", 5, ended), userDriver("c", 5)}, record: attempt(1, 5500*time.Millisecond), want: "c",
		},
		"that runs since before the edit": {spec: submissionByUser, pods: []*corev1.Pod{userDriver("a", 1)}, record: attempt(1, 5*time.Second), want: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newFollowEnv(t, test.spec, test.pods...)
			if test.recorded != nil {
				e.recorded = test.recorded
			}
			record := test.record
			if record == nil {
				record = attempt(0, 10*time.Second) // clocks differ: for the first attempt, the age of a Pod does not matter
			}
			seen := e.follow(t, record)
			switch {
			case test.want == "" && (seen.LaunchHeld == nil || seen.Launched != "" || record.Launch != nil || e.enqueued > 0):
				t.Errorf("it follows %+v, and sees %+v", record.Launch, seen)
			case test.want != "" && (seen.Launched != types.UID("uid-of-"+test.want) || seen.LaunchHeld != nil || e.enqueued != 1):
				t.Errorf("it sees %+v, and was enqueued %d times", seen, e.enqueued)
			case test.want != "" && (record.Launch == nil || !record.Launch.ByUser || record.Launch.DriverPod != test.want || record.Launch.ApplicationID != "spark-"+test.want):
				t.Errorf("it follows %+v", record.Launch)
			}
			for _, action := range e.client.Actions() {
				if action.GetResource().Resource != "services" {
					t.Errorf("it asked to %s %s", action.GetVerb(), action.GetResource().Resource)
				}
			}
		})
	}
}

func TestFollowCreatesTheServiceOfTheUIOnce(t *testing.T) {
	e := newFollowEnv(t, submissionByUser, userDriver("a", 1))
	e.client.PrependReactor("create", "services", func(action clienttesting.Action) (bool, runtime.Object, error) {
		action.(clienttesting.CreateAction).GetObject().(*corev1.Service).Spec.Ports[0].NodePort = 31000
		return false, nil, nil
	})
	name := early.UIServiceName(e.app)
	for range 3 {
		if seen := e.follow(t, attempt(0, 0)); seen.UI != (lifecycle.UI{Port: 31000}) {
			t.Errorf("the UI is at %+v", seen.UI)
		}
	}
	if asks := applicationtest.VerbsOn(e.client); asks != "create" {
		t.Errorf("it asked to %q", asks)
	}
	service, err := e.client.CoreV1().Services("team-a").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil || !metav1.IsControlledBy(service, e.app) || service.Labels[dialect.LabelLaunch] == "" {
		t.Errorf("the Service is %+v (%v)", service, err)
	}
}

func TestFollowGoesOnWithoutARefusedService(t *testing.T) {
	e := newFollowEnv(t, submissionByUser)
	refuses, service := true, early.UIServiceName(e.app)
	e.client.PrependReactor("create", "services", func(clienttesting.Action) (bool, runtime.Object, error) {
		return refuses, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "ui", nil)
	})
	record := attempt(0, 0)
	if seen := e.follow(t, record); seen.LaunchHeld == nil {
		t.Errorf("it sees %+v", seen)
	}
	if warnings := e.UserWarnings(e.view(), record); len(warnings) != 1 || !strings.Contains(warnings[0], service) {
		t.Errorf("its warnings are %q", warnings)
	}
	refuses = false
	e.follow(t, record)
	if _, err := e.client.CoreV1().Services("team-a").Get(t.Context(), service, metav1.GetOptions{}); err != nil || len(e.UserWarnings(e.view(), record)) > 0 {
		t.Errorf("it warns %q (%v)", e.UserWarnings(e.view(), record), err)
	}
}

// The application was edited after its launch was fenced, and before that was recorded.
func TestFollowDeletesADriverThatFiresteelBegan(t *testing.T) {
	e := newFollowEnv(t, submissionByUser, userDriver("a", 1))
	begun := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "pi-driver", UID: "begun", Labels: map[string]string{dialect.LabelLaunch: "this"},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(e.app, early.API.GroupVersionKind)},
	}}
	if err := e.client.Tracker().Add(begun); err != nil {
		t.Fatal(err)
	}
	record := attempt(0, 0)
	record.Launch = &v1alpha1.Launch{ID: "this", DriverPod: "pi-driver"}
	if seen := e.follow(t, record); !seen.HasOrphan || seen.Launched != "" || record.Launch == nil {
		t.Errorf("it sees %+v, and follows %+v", seen, record.Launch)
	}
	if seen := e.follow(t, record); seen.Launched != "uid-of-a" || !record.Launch.ByUser {
		t.Errorf("it sees %+v, and follows %+v", seen, record.Launch)
	}
}

func TestUserWarningsNameTheDriversThatAreNotFollowed(t *testing.T) {
	followed := func(attempt *v1alpha1.Record) *v1alpha1.Record {
		attempt.Launch = &v1alpha1.Launch{DriverPod: "a", DriverUID: "uid-of-a", ByUser: true}
		return attempt
	}
	pods := []*corev1.Pod{userDriver("a", 5)}
	for name, test := range map[string]struct {
		others []*corev1.Pod
		record *v1alpha1.Record
		want   string // "none" for no warning
	}{
		"none":                      {nil, followed(attempt(0, 0)), "none"},
		"one":                       {[]*corev1.Pod{userDriver("b", 6)}, followed(attempt(0, 0)), "b"},
		"some of many":              {[]*corev1.Pod{userDriver("f", 6), userDriver("b", 7), userDriver("c", 8), userDriver("d", 9), userDriver("e", 9)}, followed(attempt(0, 0)), "b, c, d and 2 more"},
		"none that another ran":     {[]*corev1.Pod{userDriver("b", 6, func(pod *corev1.Pod) { pod.Labels[dialect.LabelLaunch] = "x" })}, followed(attempt(0, 0)), "none"},
		"none of an earlier run":    {[]*corev1.Pod{userDriver("b", 1, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })}, followed(attempt(1, 4*time.Second)), "none"},
		"none while it has another": {[]*corev1.Pod{userDriver("b", 6)}, attempt(0, 0), "none"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newFollowEnv(t, submissionByUser, append(pods, test.others...)...)
			warnings := strings.Join(e.UserWarnings(e.view(), test.record), " ")
			if test.want == "none" && warnings != "" || test.want != "none" && !strings.Contains(warnings, "this application: "+test.want+".") {
				t.Errorf("it warns %q", warnings)
			}
		})
	}
}
