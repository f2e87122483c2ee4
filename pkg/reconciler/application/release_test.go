package application

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	"knative.dev/pkg/controller"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
)

func TestReleaseOfALaunchWhoseDriverIsNotRecorded(t *testing.T) {
	for name, test := range map[string]struct {
		found *applicationtest.Driver // the Pod that has the name; nil where none has
		want  lifecycle.Observation
	}{
		"records the driver before it deletes it": {applicationtest.DriverOf("this", "found"), lifecycle.Observation{Launched: "found"}},
		"finds that there is none":                {nil, lifecycle.Observation{DriverGone: true}},
		"leaves another launch's alone":           {applicationtest.DriverOf("other", "found"), lifecycle.Observation{DriverGone: true}},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			if test.found != nil {
				if err := client.Tracker().Add(test.found.Obj()); err != nil {
					t.Fatal(err)
				}
			}
			app := applicationtest.Pi().In(lifecycle.Submitted, 1, 1).Obj()
			app.Status.Firesteel.Launch = &v1alpha1.Launch{ID: "this", DriverPod: "pi-0-driver"}
			var seen lifecycle.Observation
			if err := (&Reconciler{api: applications.Apache(nil), kube: client, deleter: drivers.NewDeleter(client)}).release(t.Context(), app, &seen, false); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, seen); diff != "" {
				t.Errorf("seen (-want +got):\n%s", diff)
			}
			if verbs := verbsOn(client); verbs != "get" {
				t.Errorf("the API server was asked to %s", verbs)
			}
		})
	}
}

func TestOnlyTheAbsenceOfItsUIDProvesADriverGone(t *testing.T) {
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "pi-0-driver", errors.New("precondition failed"))
	for name, test := range map[string]struct {
		refusal error
		found   string // the uid of the Pod that has the name; empty where none has
		// accepted and failed are what comes of the deletion.
		accepted, failed bool
	}{
		"a deletion that is accepted":            {found: "driver", accepted: true},
		"a Pod that is not found":                {refusal: apierrors.NewNotFound(corev1.Resource("pods"), "pi-0-driver")},
		"a conflict with a namesake":             {refusal: conflict, found: "another"},
		"a conflict after which nothing is left": {refusal: conflict},
		"a conflict with another write":          {refusal: conflict, found: "driver", failed: true},
		"an API server in trouble":               {refusal: apierrors.NewInternalError(errors.New("etcd")), found: "driver", failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			if test.found != "" {
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi-0-driver"}}
				pod.UID = "driver"
				if test.found != "driver" {
					pod.UID = "another"
				}
				if err := client.Tracker().Add(pod); err != nil {
					t.Fatal(err)
				}
			}
			client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.refusal != nil, nil, test.refusal
			})
			driver := drivers.Reference{Namespace: "team-a", Name: "pi-0-driver", UID: "driver"}
			accepted, err := drivers.NewDeleter(client).Delete(t.Context(), applicationtest.Pi().Obj(), driver, drivers.AttemptReleased, false)
			if accepted != test.accepted || (err != nil) != test.failed {
				t.Errorf("accepted %t, error %v; want accepted %t, an error %t", accepted, err, test.accepted, test.failed)
			}
		})
	}
}

func TestADriverInTheWayIsForcedOnceItHadItsTime(t *testing.T) {
	limit := int64(60_000)
	inTheWay := func(change func(*corev1.Pod)) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "pi-driver", UID: "earlier", Labels: map[string]string{labelLaunch: "earlier", apache.LabelApplication: "pi"},
			DeletionTimestamp: &metav1.Time{Time: applicationtest.Start.Add(30 * time.Second)}, DeletionGracePeriodSeconds: new(int64),
		}}
		*pod.DeletionGracePeriodSeconds = 30
		pod.Spec.NodeName = "worker-3"
		change(pod)
		return pod
	}
	as := func(*corev1.Pod) {}
	slow := func(p *corev1.Pod) {
		*p.DeletionGracePeriodSeconds, p.DeletionTimestamp = 600, &metav1.Time{Time: applicationtest.Start.Add(10 * time.Minute)}
	}
	unremoved := func(p *corev1.Pod) {
		*p.DeletionGracePeriodSeconds, p.DeletionTimestamp = 0, &metav1.Time{Time: applicationtest.Start}
	}
	held := func(p *corev1.Pod) {
		*p.DeletionGracePeriodSeconds, p.DeletionTimestamp, p.Finalizers = 0, &metav1.Time{Time: applicationtest.Start}, []string{"example.org/a"}
	}
	for name, test := range map[string]struct {
		pod    *corev1.Pod
		limit  *int64
		after  time.Duration
		waits  bool
		forced bool
		says   string        // of the reason that is told
		again  time.Duration // after which the launch is tried, from the start on
	}{
		"one that has gone for long enough":     {inTheWay(as), &limit, time.Minute, true, true, "DriverPodTerminating", 70 * time.Second},
		"one that has gone for less":            {inTheWay(as), &limit, time.Minute - time.Nanosecond, true, false, "DriverPodTerminating", time.Minute},
		"one that has just begun to go":         {inTheWay(as), &limit, time.Second, true, false, "", 10 * time.Second},
		"one whose own grace period is longer":  {inTheWay(slow), &limit, 9 * time.Minute, true, false, "DriverPodTerminating", 10*time.Minute + 5*time.Second},
		"one that its finalizers keep":          {inTheWay(held), &limit, time.Hour, true, false, "DriverPodFinalizers", 0},
		"one whose deletion was interrupted":    {inTheWay(unremoved), new(int64), 5 * time.Second, true, true, "", 10 * time.Second},
		"one that may be removed any moment":    {inTheWay(unremoved), &limit, time.Second, true, false, "", 5 * time.Second},
		"one that nobody forces":                {inTheWay(as), new(int64), time.Hour, true, false, "DriverPodTerminating", 0},
		"one that does not go":                  {inTheWay(func(p *corev1.Pod) { p.DeletionTimestamp = nil }), &limit, time.Hour, false, false, "", 0},
		"another application's":                 {inTheWay(func(p *corev1.Pod) { p.Labels[apache.LabelApplication] = "po" }), &limit, time.Hour, false, false, "", 0},
		"somebody else's":                       {inTheWay(func(p *corev1.Pod) { delete(p.Labels, labelLaunch) }), &limit, time.Hour, false, false, "", 0},
		"one of another name is not in the way": {inTheWay(func(p *corev1.Pod) { p.Name = "po-driver" }), &limit, time.Hour, false, false, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			client, clock := fake.NewClientset(test.pod), clocktesting.NewFakePassiveClock(applicationtest.Start.Add(test.after))
			r := &Reconciler{
				api: applications.Apache(nil), kube: client, deleter: drivers.NewDeleter(client), drivers: cachedDrivers(t, test.pod), clock: clock, nameWaits: newNameWaits(clock),
			}
			app := with(applicationtest.Pi(), func(app *sparkv1.SparkApplication) {
				app.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{
					ApplicationTimeoutConfig: &sparkv1.ApplicationTimeoutConfig{ForceTerminationGracePeriodMillis: test.limit},
				}
			})
			next := inTheWay(func(p *corev1.Pod) { p.Labels[labelLaunch] = "next" })
			ctx := controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), record.NewFakeRecorder(9))
			var seen lifecycle.Observation
			waits, err := r.waitForNames(ctx, viewed(app), next, &seen)
			if err != nil || waits != test.waits {
				t.Fatalf("it waits: %t (%v), want %t", waits, err, test.waits)
			}
			said := ""
			if seen.LaunchHeld != nil {
				said = seen.LaunchHeld.Reason
			}
			var again time.Duration
			if !seen.RetryLaunchAt.IsZero() {
				again = seen.RetryLaunchAt.Sub(applicationtest.Start)
			}
			if said != test.says || again != test.again {
				t.Errorf("it says %q, and is tried again after %s; want %q, %s", said, again, test.says, test.again)
			}
			if said != "" && !strings.Contains(seen.LaunchHeld.Message, "pi-driver on node worker-3") {
				t.Errorf("it does not name the Pod and its node: %s", seen.LaunchHeld.Message)
			}
			actions := client.Actions()
			if forced := len(actions) == 1; forced != test.forced || len(actions) > 1 {
				t.Fatalf("the API server was asked %v", actions)
			}
			if !test.forced {
				return
			}
			options := actions[0].(clienttesting.DeleteAction).GetDeleteOptions()
			byForce := options.GracePeriodSeconds != nil && *options.GracePeriodSeconds == 0
			if again := *test.pod.DeletionGracePeriodSeconds == 0; byForce == again || *options.Preconditions.UID != "earlier" {
				t.Errorf("it was deleted with %+v", options)
			}
		})
	}
}
