package application

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	toolsrecord "k8s.io/client-go/tools/record"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	sparkfake "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers/driverstest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/launch"
)

func TestOrphanDrivers(t *testing.T) {
	waiting := (*v1alpha1.Launch)(nil)
	fenced := &v1alpha1.Launch{ID: "this"}
	launched := &v1alpha1.Launch{ID: "this", DriverUID: "ours"}
	released := &v1alpha1.Launch{ID: "this", DriverUID: "ours", Released: true}
	refused := &v1alpha1.Launch{ID: "this", Released: true}
	for name, test := range map[string]struct {
		launch *v1alpha1.Launch
		driver *applicationtest.Driver
		want   bool
	}{
		"the launch's own":                                  {launched, applicationtest.DriverOf("this", "ours"), false},
		"the launch's own that is not recorded yet":         {fenced, applicationtest.DriverOf("this", "any"), false},
		"another of the same launch":                        {launched, applicationtest.DriverOf("this", "another"), true},
		"another that is going":                             {launched, applicationtest.DriverOf("this", "another").Going(), true},
		"one of an earlier launch":                          {fenced, applicationtest.DriverOf("earlier", "any"), true},
		"one of an earlier launch, between two":             {waiting, applicationtest.DriverOf("earlier", "any"), true},
		"one that ended and is going":                       {waiting, applicationtest.DriverOf("earlier", "any").Ended().Going(), false},
		"one that ended and is not deleted":                 {waiting, applicationtest.DriverOf("earlier", "any").Ended(), true},
		"one of a launch that left a driver and is over":    {released, applicationtest.DriverOf("this", "another"), true},
		"the driver that it left":                           {released, applicationtest.DriverOf("this", "ours"), false},
		"one of a launch that was refused":                  {refused, applicationtest.DriverOf("this", "any"), true},
		"one that another owner made":                       {launched, applicationtest.DriverOf("", "theirs"), false},
		"one that another owner made, and before any other": {waiting, applicationtest.DriverOf("", "theirs"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := drivers.IsOrphan(test.driver.Obj(), test.launch); got != test.want {
				t.Errorf("orphan: %t, want %t", got, test.want)
			}
		})
	}
}

func TestDeleteOrphanDrivers(t *testing.T) {
	for name, test := range map[string]struct {
		live    *applicationtest.Application // as it is at the API server; nil where it is gone
		drivers []*applicationtest.Driver
		now     time.Duration // since the start
		// restarted are the uids of drivers of attempts that others followed.
		restarted []types.UID
		// Deleted are the uids of those that are deleted; orphans is whether there are any.
		deleted  []types.UID
		orphans  bool
		conflict bool
		// again is when the application is looked at again.
		again time.Duration
	}{
		"there are none": {live: applicationtest.Pi(), drivers: []*applicationtest.Driver{applicationtest.DriverOf("this", "ours")}},
		"one is deleted, and no other": {
			live: applicationtest.Pi(), drivers: []*applicationtest.Driver{applicationtest.DriverOf("this", "ours"), applicationtest.DriverOf("earlier", "orphan")},
			orphans: true, deleted: []types.UID{"orphan"},
		},
		"the driver of the attempt before is none, though it is not known to be going": {
			live: applicationtest.Pi(), drivers: []*applicationtest.Driver{applicationtest.DriverOf("this", "ours"), applicationtest.DriverOf("earlier", "before").Ended()}, restarted: []types.UID{"before"},
		},
		"one that is going is waited for until it is forced": {
			live: applicationtest.Pi(), drivers: []*applicationtest.Driver{applicationtest.DriverOf("earlier", "orphan").Going()}, orphans: true, again: 5 * time.Minute,
		},
		"one that does not go is forced": {
			live: applicationtest.Pi(), drivers: []*applicationtest.Driver{applicationtest.DriverOf("earlier", "orphan").Going()}, now: 5 * time.Minute,
			orphans: true, deleted: []types.UID{"orphan"},
		},
		"one whose driver has ended is not waited for, though its node does not remove the Pod": {
			live: applicationtest.Pi(), drivers: []*applicationtest.Driver{applicationtest.DriverOf("earlier", "orphan").Exited().Going()}, now: time.Hour,
		},
		"one that runs is waited for beside it": {
			live: applicationtest.Pi(), drivers: []*applicationtest.Driver{applicationtest.DriverOf("earlier", "ended").Exited().Going(), applicationtest.DriverOf("earlier", "orphan")},
			orphans: true, deleted: []types.UID{"orphan"},
		},
		"one whose deletion was interrupted is deleted again": {
			live: applicationtest.Pi(), drivers: []*applicationtest.Driver{applicationtest.DriverOf("earlier", "orphan").Unremoved()}, now: 5 * time.Second,
			orphans: true, deleted: []types.UID{"orphan"},
		},
		"one that may be removed any moment is waited for": {
			live: applicationtest.Pi(), drivers: []*applicationtest.Driver{applicationtest.DriverOf("earlier", "orphan").Unremoved()}, orphans: true, again: 5 * time.Second,
		},
		"none is deleted where the record may be old": {
			live: applicationtest.Pi().Version("18"), drivers: []*applicationtest.Driver{applicationtest.DriverOf("later", "new")}, orphans: true, conflict: true,
		},
		"those of an application that is gone go by themselves": {drivers: []*applicationtest.Driver{applicationtest.DriverOf("earlier", "orphan")}, orphans: true},
	} {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientset()
			cached := driverstest.Cached(t)
			for i, driver := range test.drivers {
				pod := driver.Obj()
				pod.Name = string(rune('a' + i))
				driverstest.Add(t, cached, pod)
				if err := kube.Tracker().Add(pod); err != nil {
					t.Fatal(err)
				}
			}
			spark := sparkfake.NewSimpleClientset()
			if test.live != nil {
				spark = sparkfake.NewSimpleClientset(test.live.Obj())
			}
			var again time.Duration
			clock := applicationtest.ClockAt(applicationtest.Start.Add(test.now))
			enqueueAfter := func(_ any, after time.Duration) { again = after }
			r := &Reconciler{
				kube: kube, deleter: drivers.NewDeleter(kube, clock, enqueueAfter), api: applications.Apache(spark), drivers: cached, clock: clock,
				expectations: drivers.NewExpectations(clock), enqueueAfter: enqueueAfter,
			}
			for _, uid := range test.restarted {
				before := &v1alpha1.Record{Launch: &v1alpha1.Launch{DriverUID: uid}}
				r.expectations.DriverReleased(before, &v1alpha1.Record{Attempt: v1alpha1.Attempt{ID: 1}})
			}
			ctx := controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), toolsrecord.NewFakeRecorder(9))
			record := &v1alpha1.Record{Launch: &v1alpha1.Launch{ID: "this", DriverUID: "ours"}}
			var seen lifecycle.Observation
			err := r.deleteOrphans(ctx, applicationtest.Viewed(applicationtest.Pi().Obj()), record, &seen)
			if orphans := seen.HasOrphan; orphans != test.orphans || orphans != (seen.OrphanDriver != nil) || apierrors.IsConflict(err) != test.conflict || (err != nil) != test.conflict {
				t.Errorf("orphans: %t, error %v", seen.HasOrphan, err)
			}
			if again != test.again {
				t.Errorf("looked at again after %s, want %s", again, test.again)
			}
			var deleted []types.UID
			for _, driver := range test.drivers {
				if uid := driver.Pod.UID; !applicationtest.Exists(t, kube, uid) {
					deleted = append(deleted, uid)
				}
			}
			if diff := cmp.Diff(test.deleted, deleted); diff != "" {
				t.Errorf("deleted (-want +got):\n%s", diff)
			}
		})
	}
}

// A late create makes a driver of a launch that was refused, or whose driver another replica has recorded. If the cache is stale,
// nothing reports it before the application is gone.
func TestLateDriverIsDeletedBeforeItsApplication(t *testing.T) {
	for name, test := range map[string]struct {
		launch v1alpha1.Launch
		driver *applicationtest.Driver
		waits  bool
		asks   bool
		after  time.Duration // the deletion of the application
		others bool          // another replica recorded the driver
	}{
		"another replica's":            {v1alpha1.Launch{ID: "this", DriverUID: "ours", Released: true}, applicationtest.DriverOf("this", "late"), true, true, time.Minute, true},
		"but not the recorded one":     {v1alpha1.Launch{ID: "this", DriverUID: "ours", Released: true}, applicationtest.DriverOf("this", "ours"), false, true, time.Minute, true},
		"the launch's own":             {v1alpha1.Launch{ID: "this", Released: true}, applicationtest.DriverOf("this", "late"), true, true, 0, false},
		"an earlier launch's is not":   {v1alpha1.Launch{ID: "this", Released: true}, applicationtest.DriverOf("earlier", "late"), false, true, 0, false},
		"nor is one asked for":         {v1alpha1.Launch{ID: "this", DriverUID: "ours", Released: true}, applicationtest.DriverOf("this", "ours"), false, false, 0, false},
		"nor is a user's driver":       {v1alpha1.Launch{ID: "this", DriverUID: "theirs", ByUser: true}, applicationtest.DriverOf("", "another"), false, false, time.Minute, true},
		"nor of another operator's":    {v1alpha1.Launch{Released: true}, applicationtest.DriverOf("", "theirs"), false, false, 0, false},
		"one that is going is awaited": {v1alpha1.Launch{ID: "this", Released: true}, applicationtest.DriverOf("this", "late").Going(), true, true, 0, false},
		"and left if it does not go":   {v1alpha1.Launch{ID: "this", Released: true}, applicationtest.DriverOf("this", "late").Going(), false, true, 5 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientset(test.driver.Obj())
			clock := applicationtest.ClockAt(applicationtest.Start.Add(test.after))
			r := &Reconciler{
				kube: kube, deleter: drivers.NewDeleter(kube, clock, func(any, time.Duration) {}), api: applications.Apache(nil), clock: clock, expectations: drivers.NewExpectations(clock),
				launcher: launch.New(launch.Config{Clock: clock}),
			}
			app := applicationtest.Pi().Obj()
			app.DeletionTimestamp = &metav1.Time{Time: applicationtest.Start}
			test.launch.DriverPod = "pi-0-driver"
			app.Status.Firesteel = &v1alpha1.Record{Launch: &test.launch}
			if test.others {
				app.Status.Firesteel.Transitions = []v1alpha1.Transition{{State: string(lifecycle.DriverRequested), Time: metav1.NewMicroTime(applicationtest.Start)}}
			}
			err := r.deleteLateOrphan(config.ToContext(t.Context(), config.Default()), applicationtest.Viewed(app))
			if waits, _ := controller.IsRequeueKey(err); waits != test.waits || err != nil && !waits {
				t.Errorf("waits: %t, error %v", waits, err)
			}
			if asked := len(kube.Actions()) > 0; asked != test.asks {
				t.Errorf("asked: %t", asked)
			}
			if gone := !applicationtest.Exists(t, kube, test.driver.Pod.UID); gone != (test.waits && test.driver.Pod.DeletionTimestamp == nil) {
				t.Errorf("deleted: %t", gone)
			}
		})
	}
}

// Nothing is created for an application any more before its finalizer is removed.
func TestFinalizerStaysWhileAnotherReplicaMayCreateADriver(t *testing.T) {
	for _, test := range []struct {
		after time.Duration // the record had the driver
		waits bool
	}{{14 * time.Second, true}, {15 * time.Second, false}} {
		kube, clock := fake.NewClientset(), applicationtest.ClockAt(applicationtest.Start.Add(test.after))
		r := &Reconciler{
			kube: kube, api: applications.Apache(nil), clock: clock, expectations: drivers.NewExpectations(clock), drivers: driverstest.Cached(t),
			launcher: launch.New(launch.Config{Clock: clock}), keepFinalizer: func(dialect.Application) bool { return false },
		}
		app := applicationtest.Pi().In(lifecycle.ResourceReleased, 2, 2).Obj()
		app.DeletionTimestamp = &metav1.Time{Time: applicationtest.Start}
		app.Status.Firesteel.Launch = &v1alpha1.Launch{ID: "this", DriverPod: "pi-0-driver", DriverUID: "ours", Released: true}
		err := r.waitForRelease(config.ToContext(t.Context(), config.Default()), applicationtest.Viewed(app))
		if waits, _ := controller.IsRequeueKey(err); waits != test.waits || err != nil && !waits {
			t.Errorf("after %s: waits: %t, error %v", test.after, waits, err)
		}
	}
}
