package application

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// A driver is said to be alone only where that is known.
func TestADriverIsAloneThatNeverHadAnExecutor(t *testing.T) {
	shown := map[string]v1beta2.ExecutorState{"exec-a": v1beta2.ExecutorCompletedState}
	for name, test := range map[string]struct {
		executors []*executor
		shown     map[string]v1beta2.ExecutorState
		unsynced  bool
		within    time.Duration
		want      bool
	}{
		"none was ever seen":                {within: time.Minute, want: true},
		"one is there":                      {within: time.Minute, executors: []*executor{anExecutor("a").Phase(corev1.PodPending)}},
		"another driver's is":               {within: time.Minute, executors: []*executor{anExecutor("a").OwnedBy("Pod", "driver-1")}, want: true},
		"one was there, and is gone":        {within: time.Minute, shown: shown},
		"those that are there are not read": {within: time.Minute, unsynced: true},
		"none is to be expected":            {},
	} {
		t.Run(name, func(t *testing.T) {
			record := &v1alpha1.Record{Launch: firstLaunch, Attempt: v1alpha1.Attempt{Since: metav1.NewMicroTime(start)}}
			app := &v1beta2.SparkApplication{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: "uid-of-pi"}}
			app.Status.Firesteel, app.Status.ExecutorState = record, test.shown
			driver := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: firstLaunch.DriverPod, UID: firstLaunch.DriverUID}}
			api := applications.Kubeflow(nil)
			r := &Reconciler{
				api: api, drivers: cachedDrivers(t, driver), roster: newRoster(clockAt(start)),
				sightings: newSightings(api.API, clockAt(start)), executorsSynced: func() bool { return !test.unsynced },
			}
			for _, e := range test.executors {
				r.roster.note(nil, e.Obj())
			}
			ctx := config.ToContext(t.Context(), config.Default())
			seen, err := r.observe(ctx, app, record, lifecycle.Policy{ExecutorsWithin: test.within})
			if err != nil || seen.Alone != test.want || seen.Driver == nil {
				t.Errorf("alone: %t, want %t; driver %v, error %v", seen.Alone, test.want, seen.Driver, err)
			}
		})
	}
}
