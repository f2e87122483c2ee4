package application

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/executors"
)

func TestStripLeavesTombstonesAlone(t *testing.T) {
	tombstone := cache.DeletedFinalStateUnknown{Key: "team-a/pi", Obj: &corev1.Pod{Spec: corev1.PodSpec{NodeName: "n"}}}
	for name, strip := range map[string]cache.TransformFunc{
		"drivers": drivers.Strip(apache.API), "executors": executors.Strip, "applications": applications.Apache(nil).Compact,
	} {
		got, err := strip(tombstone)
		if diff := cmp.Diff(any(tombstone), got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestEchoOfAnOwnWriteIsReconciledIfExecutorsMatter(t *testing.T) {
	executed := func(state lifecycle.State, change func(*sparkv1.SparkApplication)) dialect.Application {
		return applicationtest.With(applicationtest.Pi().In(state, 4, 4), func(a *sparkv1.SparkApplication) {
			a.Status.Firesteel.Launch = &v1alpha1.Launch{ApplicationID: "pi-0", DriverUID: "driver-0"}
			change(a)
		})
	}
	as := func(*sparkv1.SparkApplication) {}
	waiting := func(a *sparkv1.SparkApplication) {
		a.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{InstanceConfig: &sparkv1.ExecutorInstanceConfig{InitExecutors: 2}}
	}
	claiming := func(a *sparkv1.SparkApplication) { a.Status.Firesteel.Quota = &v1alpha1.QuotaClaim{} }
	for name, test := range map[string]struct {
		app     dialect.Application
		details *executors.Details
		want    bool
	}{
		"one that counts none":              {executed(lifecycle.RunningHealthy, as), nil, false},
		"one that waits for some":           {executed(lifecycle.DriverStarted, waiting), nil, true},
		"one that needs some":               {executed(lifecycle.RunningHealthy, waiting), nil, true},
		"one that claims room in a quota":   {executed(lifecycle.RunningHealthy, claiming), nil, true},
		"one that shows them in its status": {executed(lifecycle.RunningHealthy, as), executors.NewDetails(clock.RealClock{}), true},
		"one that has ended":                {executed(lifecycle.Succeeded, waiting), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{executorDetails: test.details, finishedExecutors: executors.NewFinished()}
			if got := r.awaitsExecutors(test.app, func(string) dialect.Dialect { return apache.New(apache.Defaults{}) }); got != test.want {
				t.Errorf("reconciled: %t, want %t", got, test.want)
			}
		})
	}
}

func TestANewLeaderReconcilesUnfinishedApplications(t *testing.T) {
	live := int64(60_000)
	none := apache.Defaults{}
	for name, test := range map[string]struct {
		app      any
		defaults apache.Defaults
		want     bool
	}{
		"what is no application":            {"text", none, true},
		"what no controller has reconciled": {applicationtest.Pi().Obj(), none, true},
		"what another operator ran":         {applicationtest.With(applicationtest.Pi(), in("RunningHealthy")), none, true},
		"what another operator ended":       {applicationtest.With(applicationtest.Pi(), in("ResourceReleased")), none, false},
		"what runs":                         {applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 4).Obj(), none, true},
		"what is kept":                      {applicationtest.Pi().In(lifecycle.TerminatedWithoutReleaseResources, 4, 4).Obj(), none, true},
		"what has something to tell":        {applicationtest.Pi().In(lifecycle.ResourceReleased, 4, 3).Obj(), none, true},
		"what is told and over":             {applicationtest.Pi().In(lifecycle.ResourceReleased, 4, 4).Obj(), none, false},
		"what is over and has the finalizer still": {applicationtest.With(applicationtest.Pi().In(lifecycle.ResourceReleased, 4, 4), func(a *sparkv1.SparkApplication) {
			a.Finalizers = []string{apache.API.Finalizer}
		}), none, true},
		"what is over and deleted": {applicationtest.With(applicationtest.Pi().In(lifecycle.ResourceReleased, 4, 4), func(a *sparkv1.SparkApplication) {
			a.DeletionTimestamp = &metav1.Time{Time: applicationtest.Start}
		}), none, true},
		"what is over and has a life": {applicationtest.With(applicationtest.Pi().In(lifecycle.ResourceReleased, 4, 4), func(a *sparkv1.SparkApplication) {
			a.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{TTLAfterStopMillis: &live}
		}), none, true},
		"what is over and has a life by default": {
			applicationtest.Pi().In(lifecycle.ResourceReleased, 4, 4).Obj(),
			apache.Defaults{Tolerations: sparkv1.ApplicationTolerations{TTLAfterStopMillis: &live}}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unfinished(applications.Apache(nil), test.app, func(string) dialect.Dialect { return apache.New(test.defaults) }); got != test.want {
				t.Errorf("unfinished: %t, want %t", got, test.want)
			}
		})
	}
}

// in is a state that another operator wrote.
func in(state string) func(*sparkv1.SparkApplication) {
	return func(app *sparkv1.SparkApplication) {
		app.Status.CurrentState = &sparkv1.ApplicationState{CurrentStateSummary: state}
	}
}

func TestDriverBelongsToItsOwnerWhoeverCreatedIt(t *testing.T) {
	yes := true
	owner := func(version, kind string, controls *bool) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "pi", Controller: controls}}
	}
	label := map[string]string{apache.LabelApplication: "pi"}
	for name, test := range map[string]struct {
		owners []metav1.OwnerReference
		labels map[string]string
		want   bool
	}{
		"Firesteel":                                     {owner("spark.apache.org/v1", "SparkApplication", &yes), nil, true},
		"the Apache operator":                           {owner("spark.apache.org/v1", "SparkApplication", nil), nil, true},
		"the Apache operator, long ago":                 {owner("spark.apache.org/v1alpha1", "SparkApplication", nil), nil, true},
		"another operator":                              {owner("sparkoperator.k8s.io/v1beta2", "SparkApplication", &yes), nil, false},
		"the Apache operator of a cluster":              {owner("spark.apache.org/v1", "SparkCluster", nil), nil, false},
		"one whose Pods were orphaned":                  {nil, label, true},
		"another operator, for whatever the labels say": {owner("sparkoperator.k8s.io/v1beta2", "SparkApplication", &yes), label, false},
		"no owner": {nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", OwnerReferences: test.owners, Labels: test.labels}}
			kept, err := drivers.Strip(apache.API)(pod)
			if err != nil {
				t.Fatal(err)
			}
			app, known := applicationOf(apache.API, kept.(*drivers.Pod))
			if known != test.want || known && app.String() != "team-a/pi" {
				t.Errorf("its application is %s, %t", app, known)
			}
		})
	}
}
