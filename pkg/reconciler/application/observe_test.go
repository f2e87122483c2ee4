package application

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers/driverstest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/executors"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/view"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

var firstLaunch = &v1alpha1.Launch{ApplicationID: "pi-0", DriverUID: "driver-0"}

// executorOf is an executor Pod of the attempt pi-0 that a driver owns.
func executorOf(driver types.UID) *corev1.Pod {
	isController := true
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "exec-a", UID: "a", Labels: map[string]string{submission.LabelApplicationID: "pi-0"},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Pod", Name: string(driver), UID: driver, Controller: &isController}},
	}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
}

// A driver is alone only if that is known for certain.
func TestDriverWithoutExecutorsMustBeCertain(t *testing.T) {
	shown := map[string]v1beta2.ExecutorState{"exec-a": v1beta2.ExecutorCompletedState}
	for name, test := range map[string]struct {
		pods     []*corev1.Pod
		shown    map[string]v1beta2.ExecutorState
		unsynced bool
		within   time.Duration
		want     bool
	}{
		"none was ever seen":                {within: time.Minute, want: true},
		"one is there":                      {within: time.Minute, pods: []*corev1.Pod{executorOf("driver-0")}},
		"another driver's is":               {within: time.Minute, pods: []*corev1.Pod{executorOf("driver-1")}, want: true},
		"one was there, and is gone":        {within: time.Minute, shown: shown},
		"those that are there are not read": {within: time.Minute, unsynced: true},
		"none is to be expected":            {},
	} {
		t.Run(name, func(t *testing.T) {
			record := &v1alpha1.Record{Launch: firstLaunch, Attempt: v1alpha1.Attempt{Since: metav1.NewMicroTime(applicationtest.Start)}}
			app := &v1beta2.SparkApplication{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: "uid-of-pi"}}
			app.Status.Firesteel, app.Status.ExecutorState = record, test.shown
			driver := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: firstLaunch.DriverPod, UID: firstLaunch.DriverUID}}
			api := applications.Kubeflow(nil)
			r := &Reconciler{
				api: api, drivers: driverstest.Cached(t, driver), executorDetails: executors.NewDetails(applicationtest.ClockAt(applicationtest.Start)),
				expectations: drivers.NewExpectations(applicationtest.ClockAt(applicationtest.Start)), relabelledDrivers: driverstest.NoneRelabelled(t), executorsSynced: func() bool { return !test.unsynced },
				quotas: noQuotas(t),
			}
			for _, e := range test.pods {
				r.executorDetails.Update(nil, executorPod(t, e))
			}
			ctx := config.ToContext(t.Context(), config.Default())
			seen, err := r.observe(ctx, &view.Application{App: app, Dialect: api.Dialect(config.Default()), Policy: lifecycle.Policy{ReportNoExecutorsAfter: test.within}}, record)
			if err != nil || seen.NoExecutorSeen != test.want || seen.Driver == nil {
				t.Errorf("alone: %t, want %t; driver %v, error %v", seen.NoExecutorSeen, test.want, seen.Driver, err)
			}
		})
	}
}

func TestTheEventOfADriverMayBeLate(t *testing.T) {
	record := func(change func(*v1alpha1.Launch)) *v1alpha1.Record {
		launch := *firstLaunch
		change(&launch)
		return &v1alpha1.Record{Launch: &launch}
	}
	asItIs := func(*v1alpha1.Launch) {}
	driver := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: firstLaunch.DriverPod, UID: firstLaunch.DriverUID}}
	another := driver.DeepCopy()
	another.UID = "another"
	for name, test := range map[string]struct {
		record  *v1alpha1.Record
		cached  []*corev1.Pod
		created time.Duration // before now; 0 for never
		want    time.Time
	}{
		"it was created just now":            {record: record(asItIs), created: time.Second, want: applicationtest.Start.Add(9 * time.Second)},
		"another Pod has its name":           {record: record(asItIs), created: time.Second, cached: []*corev1.Pod{another}, want: applicationtest.Start.Add(9 * time.Second)},
		"it came":                            {record: record(asItIs), created: time.Second, cached: []*corev1.Pod{driver}},
		"it is late already":                 {record: record(asItIs), created: 10 * time.Second},
		"another process created the Pod":    {record: record(asItIs)},
		"there is no record":                 {created: time.Second},
		"there is no launch":                 {record: &v1alpha1.Record{}, created: time.Second},
		"the Pod is released":                {record: record(func(l *v1alpha1.Launch) { l.Released = true }), created: time.Second},
		"the Pod is not recorded as created": {record: record(func(l *v1alpha1.Launch) { l.DriverUID = "" }), created: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(applicationtest.Start.Add(-test.created))
			r := &Reconciler{clock: clock, drivers: driverstest.Cached(t, test.cached...), expectations: drivers.NewExpectations(clock)}
			if test.created > 0 {
				r.expectations.PodCreated(firstLaunch.DriverUID)
			}
			clock.SetTime(applicationtest.Start)
			app := applicationtest.Pi().Obj()
			app.Status.Firesteel = test.record
			if got := r.podEventLateAt(app); !got.Equal(test.want) {
				t.Errorf("late at %v, want %v", got, test.want)
			}
		})
	}
}

func TestDeletionEventWithoutProofIsRead(t *testing.T) {
	relabelledDriver := func() *applicationtest.Driver { return applicationtest.DriverOf("this", "ours") }
	for name, test := range map[string]struct {
		// LastSeen is the driver as the watch reported it deleted; live is what the API server has.
		last, live *applicationtest.Driver
		tombstone  bool
		// back reports whether the watch showed the driver again.
		back bool
		// Created is how long before its deletion the driver was created.
		created      time.Duration
		gone, read   bool
		knowsHowEnds bool
	}{
		"removed":                                  {last: applicationtest.DriverOf("this", "ours").Gone(), gone: true, knowsHowEnds: true},
		"removed just after its creation":          {last: applicationtest.DriverOf("this", "ours").Gone(), created: time.Second, gone: true, knowsHowEnds: true},
		"removed, and back from an older backup":   {last: applicationtest.DriverOf("this", "ours").Gone(), live: relabelledDriver(), back: true, read: true},
		"its labels changed":                       {last: applicationtest.DriverOf("this", "ours"), live: relabelledDriver(), read: true},
		"its labels changed just after":            {last: applicationtest.DriverOf("this", "ours"), live: relabelledDriver(), created: time.Second, read: true},
		"its labels changed while it went":         {last: applicationtest.DriverOf("this", "ours").Going().Grace(30), live: relabelledDriver(), read: true},
		"its labels changed while a finalizer":     {last: applicationtest.DriverOf("this", "ours").Gone().Finalizer(), live: relabelledDriver(), read: true},
		"a finalizer was removed from it":          {last: applicationtest.DriverOf("this", "ours").Gone().Finalizer(), gone: true, read: true, knowsHowEnds: true},
		"it was not listed any more":               {last: applicationtest.DriverOf("this", "ours").Gone(), tombstone: true, gone: true, read: true, knowsHowEnds: true},
		"it was not listed, for its labels":        {last: applicationtest.DriverOf("this", "ours").Gone(), tombstone: true, live: relabelledDriver(), read: true},
		"a namesake has come":                      {last: applicationtest.DriverOf("this", "ours"), live: applicationtest.DriverOf("next", "another"), gone: true, read: true, knowsHowEnds: true},
		"nothing was reported":                     {live: relabelledDriver(), read: true},
		"nothing was reported of one created just": {live: relabelledDriver(), created: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientset()
			if test.live != nil {
				kube = fake.NewClientset(test.live.Obj())
			}
			r := &Reconciler{
				api: applications.Apache(nil), kube: kube, drivers: driverstest.Cached(t), expectations: drivers.NewExpectations(applicationtest.ClockAt(applicationtest.Start)),
				relabelledDrivers: drivers.NewRelabelled(t.Context(), fake.NewClientset(), apache.API, driverstest.LeadsAll, drivers.RelabelledEvents{Changed: func(types.NamespacedName) {}}),
			}
			if test.created > 0 {
				r.expectations.PodCreated("ours")
			}
			if test.last != nil {
				r.expectations.PodDeleted(test.last.Obj(), test.tombstone)
			}
			if test.back {
				r.expectations.PodSeen("ours")
			}
			launch := &v1alpha1.Launch{ID: "this", DriverPod: "pi-0-driver", DriverUID: "ours"}
			pod, gone, err := r.findDriver(t.Context(), applicationtest.Pi().Obj(), launch)
			if err != nil || gone != test.gone || gone && (pod != nil) != test.knowsHowEnds {
				t.Errorf("gone: %t, want %t; Pod %v, error %v", gone, test.gone, pod, err)
			}
			if read := len(kube.Actions()) > 0; read != test.read {
				t.Errorf("it was read: %t, want %t", read, test.read)
			}
		})
	}
}
