package application

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/executors"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// executorPod is an executor Pod as the informer stores it.
func executorPod(t *testing.T, pod *corev1.Pod) *executors.Pod {
	t.Helper()
	stored, err := executors.Strip(pod)
	if err != nil {
		t.Fatal(err)
	}
	return stored.(*executors.Pod)
}

// Only an application that waits for a number of executors is enqueued when that number changes.
func TestExecutorsEnqueueApplicationsThatCountThem(t *testing.T) {
	asking := func(a *sparkv1.SparkApplication) {
		a.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{InstanceConfig: &sparkv1.ExecutorInstanceConfig{InitExecutors: 1}}
	}
	none, byDefault := apache.Defaults{}, apache.Defaults{Tolerations: sparkv1.ApplicationTolerations{
		InstanceConfig: &sparkv1.ExecutorInstanceConfig{InitExecutors: 1},
	}}
	for name, test := range map[string]struct {
		app      *sparkv1.SparkApplication
		defaults apache.Defaults
		want     bool
	}{
		"one that runs and asks for executors":                           {applicationtest.With(applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 4), asking), none, true},
		"one that waits for them":                                        {applicationtest.With(applicationtest.Pi().In(lifecycle.DriverReady, 4, 4), asking), none, true},
		"one that runs and asks for none":                                {applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 4).Obj(), none, false},
		"one whose driver is not ready":                                  {applicationtest.With(applicationtest.Pi().In(lifecycle.DriverStarted, 4, 4), asking), none, false},
		"one that has ended":                                             {applicationtest.With(applicationtest.Pi().In(lifecycle.Failed, 4, 4), asking), none, false},
		"one that no controller reconciled":                              {applicationtest.With(applicationtest.Pi(), asking), none, false},
		"one that runs, where the operator's settings ask for executors": {applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 4).Obj(), byDefault, true},
		"one that is not known":                                          {&sparkv1.SparkApplication{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, none, false},
	} {
		t.Run(name, func(t *testing.T) {
			applications := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
			if err := applications.Add(test.app); err != nil {
				t.Fatal(err)
			}
			apps := executorApplications{lister{applications}, func(string) dialect.Dialect { return apache.New(test.defaults) }}
			name := types.NamespacedName{Namespace: "team-a", Name: "pi"}
			if got := apps.CountsExecutors(name); got != test.want {
				t.Errorf("it is: %t, want %t", got, test.want)
			}
		})
	}
}

// The driver Pod's own labels may be changed, so that they do not matter.
func TestApplicationsOfAnExecutorAreFoundByTheirRecord(t *testing.T) {
	apps := lister{cache.NewIndexer(cache.MetaNamespaceKeyFunc, applicationIndexers(apache.API))}
	for name, launch := range map[string]*v1alpha1.Launch{
		"pi": {ApplicationID: "pi-0", DriverUID: "driver"}, "released": {ApplicationID: "pi-0", DriverUID: "driver-of-released", Released: true},
		"other": {ApplicationID: "pi-1", DriverUID: "driver-of-other"}, "launching": {ApplicationID: "pi-0"},
	} {
		app := applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 4).Obj()
		app.Name, app.Status.Firesteel.Launch = name, launch
		if err := apps.Add(app); err != nil {
			t.Fatal(err)
		}
	}
	found := executorApplications{lister: apps}.OfExecutor(executorPod(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "exec-a", UID: "a", Labels: map[string]string{submission.LabelApplicationID: "pi-0"},
	}}))
	if len(found) != 1 || found[0].String() != "team-a/pi" {
		t.Errorf("its applications are %v", found)
	}
	if app, known := apps.byDriverUID("driver-of-other"); !known || app.String() != "team-a/other" {
		t.Errorf("the application of a driver is %v, %t", app, known)
	}
	if app, known := apps.byDriverUID("driver-of-released"); known {
		t.Errorf("the application of a released driver is %v", app)
	}
}

func TestApplicationsOfADriverAreFoundByTheLabelThatItsUserSet(t *testing.T) {
	apps := lister{cache.NewIndexer(cache.MetaNamespaceKeyFunc, applicationIndexers(early.API))}
	app := func(name string) *earlyv1alpha1.SparkApplication {
		return &earlyv1alpha1.SparkApplication{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: types.UID("uid-of-" + name)}}
	}
	follows := app("follows")
	follows.Status.Firesteel = &v1alpha1.Record{Launch: &v1alpha1.Launch{DriverUID: "recorded", ByUser: true}}
	for _, app := range []*earlyv1alpha1.SparkApplication{app("waits"), follows} {
		if err := apps.Add(app); err != nil {
			t.Fatal(err)
		}
	}
	waits := early.AppID(app("waits"))
	for name, test := range map[string]struct {
		uid    types.UID
		labels map[string]string
		want   string
	}{
		"a new one":                      {"new", map[string]string{early.LabelAppID: waits}, "[team-a/waits]"},
		"a recorded one":                 {"recorded", map[string]string{early.LabelAppID: waits}, "[team-a/follows]"},
		"one of a launch":                {"new", map[string]string{early.LabelAppID: waits, early.LabelApplication: "launches", dialect.LabelLaunch: "x"}, "[team-a/launches]"},
		"one with an ID of nothing":      {"new", map[string]string{early.LabelAppID: "other-1"}, "[]"},
		"one with an ID and a name only": {"new", map[string]string{early.LabelAppID: "other-1", early.LabelApplication: "named"}, "[team-a/named]"},
	} {
		t.Run(name, func(t *testing.T) {
			pod, err := drivers.Strip(early.API)(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", UID: test.uid, Labels: test.labels}})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(apps.ofDriver(early.API, pod.(*drivers.Pod))); got != test.want {
				t.Errorf("its applications are %s, want %s", got, test.want)
			}
		})
	}
}
