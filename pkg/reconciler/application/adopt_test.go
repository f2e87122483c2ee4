package application

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	"knative.dev/pkg/controller"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	sparkfake "github.com/firesteel-dev/firesteel/pkg/client/clientset/versioned/fake"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/events"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/podtemplate/fetch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/adoption"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers/driverstest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/launch"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/blocked"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base/delivery"
)

// earlier builds the driver of an earlier attempt.
type earlier struct{ pod corev1.Pod }

func earlierDriver() *earlier {
	e := &earlier{}
	e.pod.Namespace, e.pod.Name, e.pod.UID = "team-a", "pi-0-driver", "uid-of-driver"
	e.pod.Status.Phase = corev1.PodRunning
	return e
}

func (e *earlier) Ended() *earlier {
	e.pod.Status.Phase = corev1.PodFailed
	return e
}

// Going has the deletion accepted some time before the start, with 30 s of grace.
func (e *earlier) Going(before time.Duration) *earlier {
	grace := int64(30)
	due := metav1.NewTime(applicationtest.Start.Add(-before).Add(30 * time.Second))
	e.pod.DeletionTimestamp, e.pod.DeletionGracePeriodSeconds = &due, &grace
	return e
}

// An attempt begins only when no driver of another can be alive.
func TestAdoptionWaitsUntilOtherDriversAreGone(t *testing.T) {
	limited := func(app *sparkv1.SparkApplication) {
		limit := int64(60_000)
		app.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{
			ApplicationTimeoutConfig: &sparkv1.ApplicationTimeoutConfig{ForceTerminationGracePeriodMillis: &limit},
		}
	}
	for name, test := range map[string]struct {
		driver  *earlier
		deleted bool // the application
		asks    string
		cleared bool
		again   string
	}{
		"one that runs is deleted and awaited":                       {driver: earlierDriver(), asks: "delete", again: "30s"},
		"one that ended is deleted":                                  {driver: earlierDriver().Ended(), asks: "delete", cleared: true},
		"one that ended and goes is over":                            {driver: earlierDriver().Ended().Going(time.Hour), cleared: true},
		"one that goes is awaited":                                   {driver: earlierDriver().Going(10 * time.Second), again: "50s 30s"},
		"one that goes for too long is deleted by force":             {driver: earlierDriver().Going(time.Minute), asks: "delete now", again: "30s"},
		"one that runs is not awaited where the application goes":    {driver: earlierDriver(), deleted: true, asks: "delete", cleared: true},
		"one that is gone already is not awaited, whatever was seen": {asks: "delete", cleared: true},
	} {
		t.Run(name, func(t *testing.T) {
			app := applicationtest.With(applicationtest.Pi(), limited)
			if test.deleted {
				app.DeletionTimestamp = &metav1.Time{Time: applicationtest.Start}
			}
			seen := earlierDriver().pod
			kube := fake.NewClientset()
			if test.driver != nil {
				seen = test.driver.pod
				kube = fake.NewClientset(seen.DeepCopy())
			}
			var again []string
			clock, enqueueAfter := applicationtest.ClockAt(applicationtest.Start), func(_ any, after time.Duration) { again = append(again, after.String()) }
			r := &Reconciler{
				kube: kube, deleter: drivers.NewDeleter(kube, clock, enqueueAfter), api: applications.Apache(sparkfake.NewSimpleClientset(app.DeepCopy())),
				clock: clock, recordGuard: newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus), enqueueAfter: enqueueAfter,
			}
			ctx := controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), record.NewFakeRecorder(9))
			cleared, err := r.deleteOtherDrivers(ctx, applicationtest.Viewed(app), []corev1.Pod{seen})
			if err != nil || cleared != test.cleared {
				t.Errorf("cleared %t (%v), want %t", cleared, err, test.cleared)
			}
			if diff := cmp.Diff(test.asks, deletionsOn(kube)); diff != "" {
				t.Errorf("deletions (-want +got):\n%s", diff)
			}
			if got := strings.Join(again, " "); got != test.again {
				t.Errorf("it is looked at again after %q, want %q", got, test.again)
			}
		})
	}
}

// A cache that is behind shows another replica's drivers as those of other attempts.
func TestNothingIsClearedForAnApplicationThatChanged(t *testing.T) {
	kube := fake.NewClientset(earlierDriver().pod.DeepCopy())
	r := &Reconciler{kube: kube, deleter: drivers.NewDeleter(kube, applicationtest.ClockAt(applicationtest.Start), nil), api: applications.Apache(sparkfake.NewSimpleClientset(applicationtest.Pi().Version("18").Obj())), recordGuard: newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus)}
	cleared, err := r.deleteOtherDrivers(t.Context(), applicationtest.Viewed(applicationtest.Pi().Version("17").Obj()), []corev1.Pod{earlierDriver().pod})
	if cleared || !apierrors.IsConflict(err) {
		t.Errorf("cleared %t, error %v, want a conflict", cleared, err)
	}
	if len(kube.Actions()) > 0 {
		t.Errorf("the API server was asked for %v", kube.Actions())
	}
}

func deletionsOn(client *fake.Clientset) string {
	var asked []string
	for _, action := range client.Actions() {
		deletion := action.(clienttesting.DeleteActionImpl)
		asked = append(asked, "delete")
		if grace := deletion.DeleteOptions.GracePeriodSeconds; grace != nil && *grace == 0 {
			asked = append(asked, "now")
		}
	}
	return strings.Join(asked, " ")
}

// What is done for an application without a record, seen at an instant after the start.
func TestApplicationsWithoutARecordBeginOrAreAdoptedOrRestored(t *testing.T) {
	known := func() *applicationtest.Application { return applicationtest.Pi().In(lifecycle.RunningHealthy, 4, 4) }
	theirs := func() *applicationtest.Application {
		return &applicationtest.Application{App: *applicationtest.With(applicationtest.Pi(), func(app *sparkv1.SparkApplication) {
			app.Status.CurrentState = &sparkv1.ApplicationState{CurrentStateSummary: "Failed", LastTransitionTime: "2026-03-01T12:00:00Z"}
		})}
	}
	lost := func(now *applicationtest.Application) func(*Reconciler) {
		return func(r *Reconciler) { r.recordGuard.statusChanged(known().Obj(), now.Obj(), applicationtest.Start) }
	}
	shown := known()
	shown.App.Status.Firesteel = nil
	for name, test := range map[string]struct {
		app    *applicationtest.Application
		before func(*Reconciler)
		at     time.Duration
		ready  bool
		asks   string
		wait   time.Duration
	}{
		"one with a record is gone on with": {app: known(), ready: true},
		"one that is new begins": {
			app: applicationtest.Pi(), ready: true, before: func(r *Reconciler) { r.newApplications.added(applicationtest.Pi().Obj(), true) },
		},
		"one that may not be new begins where there is no driver": {app: applicationtest.Pi(), ready: true, asks: "list pods"},
		"another operator's is adopted": {
			app: theirs(), ready: true, asks: "list pods, get pods, patch sparkapplications, update status",
		},
		"another operator's that came after it was new is adopted": {
			app: theirs(), ready: true, asks: "list pods, get pods, patch sparkapplications, update status", before: func(r *Reconciler) { r.newApplications.added(applicationtest.Pi().Obj(), true) },
		},
		"another operator's that has ended is left alone": {app: &applicationtest.Application{App: *applicationtest.With(applicationtest.Pi(), in("ResourceReleased"))}},
		"one whose status was removed is restored":        {app: applicationtest.Pi(), before: lost(applicationtest.Pi()), ready: true, asks: "patch sparkapplications, update status"},
		"one whose record was removed is restored":        {app: shown, before: lost(shown), ready: true, asks: "patch sparkapplications, update status"},
		"one that is known to have had a record waits for the news of its loss": {
			app: theirs(), before: func(r *Reconciler) { r.recordGuard.recordSeen(known().Obj()) }, wait: base.RetryAfter,
		},
		"one that lost its record while it could not be decoded is adopted": {
			app: theirs(), ready: true, asks: "list pods, get pods, patch sparkapplications, update status", before: func(r *Reconciler) {
				undecodable := applicationtest.Pi()
				undecodable.App.Undecodable = "spec.sparkConf"
				r.recordGuard.statusChanged(known().Obj(), undecodable.Obj(), applicationtest.Start)
				r.recordGuard.statusChanged(undecodable.Obj(), theirs().Obj(), applicationtest.Start)
			},
		},
		"one that another operator writes is left alone": {
			app: theirs(), before: lost(theirs()), at: time.Minute, asks: "patch status", wait: adoption.OtherOperatorQuiet - time.Minute,
		},
		"one that another operator wrote long ago is adopted again": {
			app: theirs(), before: lost(theirs()), at: adoption.OtherOperatorQuiet, ready: true, asks: "list pods, get pods, patch sparkapplications, update status",
		},
		"one whose record a foreign CRD drops is left alone for a while": {
			app: theirs(), before: func(r *Reconciler) {
				lost(theirs())(r)
				r.recordGuard.pruned.Note(applicationtest.Pi().Obj().UID, applicationtest.Start)
			},
			at: time.Second, wait: blocked.PrunedRetryAfter - time.Second,
		},
		"one whose record a foreign CRD dropped is restored after a while": {
			app: theirs(), before: func(r *Reconciler) {
				lost(theirs())(r)
				r.recordGuard.pruned.Note(applicationtest.Pi().Obj().UID, applicationtest.Start)
			},
			at: blocked.PrunedRetryAfter, ready: true, asks: "patch sparkapplications, update status",
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := test.app.Obj()
			kube, spark := fake.NewClientset(), sparkfake.NewSimpleClientset(app.DeepCopy())
			clock := clocktesting.NewFakePassiveClock(applicationtest.Start.Add(test.at))
			r := &Reconciler{kube: kube, deleter: drivers.NewDeleter(kube, clock, nil), launcher: launch.New(launch.Config{Clock: clock, Templates: fetch.NewKeeper(t.Context(), nil, nil)}), api: applications.Apache(spark), clock: clock, recordGuard: newRecordGuard(apache.New(apache.Defaults{}).SameVisibleStatus), expectations: drivers.NewExpectations(clock), newApplications: newNewApplications(apache.API), relay: silent{}, drivers: driverstest.Cached(t), relabelledDrivers: driverstest.NoneRelabelled(t)}
			if test.before != nil {
				test.before(r)
			}
			ctx := controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), record.NewFakeRecorder(9))
			v := applicationtest.Viewed(app)
			ready, err := r.ensureRecord(ctx, v)
			if requeue, wait := controller.IsRequeueKey(err); wait != test.wait || err != nil && !requeue {
				t.Errorf("error %v, wait %s, want %s", err, wait, test.wait)
			}
			if ready != test.ready {
				t.Errorf("ready: %t, want %t", ready, test.ready)
			}
			if asked := requestsOn(kube.Actions(), spark.Actions()); asked != test.asks {
				t.Errorf("asked to %q, want %q", asked, test.asks)
			}
			if written := strings.Contains(test.asks, "update"); written && (v.App.GetRecord() == nil || r.recordGuard.lostRecordOf(app).Last != nil) {
				t.Errorf("the application has no record, or is still known to have lost it:\n%+v", v.App)
			}
		})
	}
}

// silent is a relay that tells nothing.
type silent struct{ delivery.Publisher }

func (silent) Progress(types.UID) events.Progress { return events.Progress{} }

func requestsOn(actions ...[]clienttesting.Action) string {
	var asked []string
	for _, action := range slices.Concat(actions...) {
		what := action.GetResource().Resource
		if action.GetSubresource() != "" {
			what = action.GetSubresource()
		}
		asked = append(asked, action.GetVerb()+" "+what)
	}
	return strings.Join(asked, ", ")
}
