package application

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

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
			if got := unfinished(test.app, func(string) dialect.Dialect { return apache.New(test.defaults) }); got != test.want {
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
