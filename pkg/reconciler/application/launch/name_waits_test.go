package launch

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	"knative.dev/pkg/controller"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers/driverstest"
)

func claimInTheWay(uid types.UID, finalizers ...string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "pi-0-driver-pvc-0", UID: uid, Labels: map[string]string{dialect.LabelLaunch: "this"}, Finalizers: finalizers,
		},
	}
}

// A launch looks at what is in its way ever more seldom, creates nothing meanwhile, and says why it waits.
func TestNameWaitHasABackOff(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(applicationtest.Start)
	existing := claimInTheWay("earlier", "example.org/a", "example.org/b")
	client := fake.NewClientset(existing)
	l := New(Config{
		API: applications.Apache(nil), Kube: client, Drivers: driverstest.Cached(t), Clock: clock, Expectations: drivers.NewExpectations(clock),
	})
	app, next := applicationtest.Pi().Obj(), applicationtest.DriverOf("this", "").Obj()
	going := nameNotFreeError{wanted: claimInTheWay(""), existing: existing}
	ctx := config.ToContext(t.Context(), config.Default())
	wait := func() (bool, lifecycle.Observation) {
		t.Helper()
		var seen lifecycle.Observation
		waits, err := l.waitForNames(ctx, applicationtest.Viewed(app), next, &seen)
		if err != nil {
			t.Fatal(err)
		}
		return waits, seen
	}
	if waits, _ := wait(); waits {
		t.Error("it waits, and nothing is known to be in its way")
	}
	l.waits.stopped(app.GetUID(), going)
	for _, after := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		asked := len(client.Actions())
		_, seen := wait()
		if got := seen.RetryLaunchAt.Sub(clock.Now()); got != after*time.Second || len(client.Actions()) > asked {
			t.Fatalf("it is looked at again after %s, want %d s; it was asked %v", got, after, client.Actions()[asked:])
		}
		clock.SetTime(seen.RetryLaunchAt)
		if waits, _ := wait(); !waits || len(client.Actions()) != asked+1 {
			t.Fatalf("it waits: %t; it was asked %v", waits, client.Actions()[asked:])
		}
	}
	_, seen := wait()
	want := "The launch waits for the name of PersistentVolumeClaim team-a/pi-0-driver-pvc-0, whose earlier object is not gone yet. " +
		"It is kept by its finalizers: their controllers remove them; if a controller is gone, remove its finalizer yourself (example.org/a, example.org/b)."
	if held := seen.LaunchHeld; held == nil || held.Reason != "NameNotFree" || held.Message != want {
		t.Errorf("it says %+v", held)
	}

	if err := client.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims"), "team-a", existing.Name); err != nil {
		t.Fatal(err)
	}
	clock.SetTime(seen.RetryLaunchAt)
	if waits, _ := wait(); waits {
		t.Error("it waits for what is gone")
	}
	if known := l.waits.stopped(app.GetUID(), going); known.until.Sub(clock.Now()) != time.Minute {
		t.Errorf("the next obstacle of the same launch is looked at after %s", known.until.Sub(clock.Now()))
	}
	l.waits.forget(app.GetUID())
	if known := l.waits.stopped(app.GetUID(), going); known.until.Sub(clock.Now()) != time.Second {
		t.Errorf("the first obstacle of another launch is looked at after %s", known.until.Sub(clock.Now()))
	}
	next.Labels[dialect.LabelLaunch] = "edited"
	if waits, _ := wait(); waits {
		t.Error("an edited launch waits for the names of the one before")
	}
}

// Most objects go at once: a condition would be a write for nothing.
func TestNameWaitThatIsShortIsNotReported(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(applicationtest.Start)
	o := newNameWaits(clock)
	var seen lifecycle.Observation
	o.explain(o.stopped("app", nameNotFreeError{wanted: claimInTheWay(""), existing: claimInTheWay("earlier")}), &seen)
	if seen.LaunchHeld != nil {
		t.Errorf("it says at once: %s", seen.LaunchHeld.Message)
	}
	clock.SetTime(applicationtest.Start.Add(reportWaitAfter))
	known, _ := o.of("app")
	if o.explain(known, &seen); seen.LaunchHeld == nil {
		t.Error("it never says why it waits")
	}
}

func TestNameWaitDeletesTheEarlierDriverByForceAfterItsGracePeriod(t *testing.T) {
	limit := int64(60_000)
	inTheWay := func(change func(*corev1.Pod)) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "pi-driver", UID: "earlier", Labels: map[string]string{dialect.LabelLaunch: "earlier", apache.LabelApplication: "pi"},
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
		says   string        // a part of the reason in the condition
		again  time.Duration // after which the launch is tried, from the start on
	}{
		"one that has gone for long enough":     {inTheWay(as), &limit, time.Minute, true, true, "DriverPodTerminating", 70 * time.Second},
		"one that has gone for less":            {inTheWay(as), &limit, time.Minute - time.Nanosecond, true, false, "DriverPodTerminating", time.Minute},
		"one that has just begun to go":         {inTheWay(as), &limit, time.Second, true, false, "", 10 * time.Second},
		"one whose own grace period is longer":  {inTheWay(slow), &limit, 9 * time.Minute, true, false, "DriverPodTerminating", 10*time.Minute + 5*time.Second},
		"one that its finalizers keep":          {inTheWay(held), &limit, time.Hour, true, false, "DriverPodFinalizers", 0},
		"one whose deletion was interrupted":    {inTheWay(unremoved), new(int64), 5 * time.Second, true, true, "", 10 * time.Second},
		"one that may be removed any moment":    {inTheWay(unremoved), &limit, time.Second, true, false, "", 5 * time.Second},
		"one that is not forced":                {inTheWay(as), new(int64), time.Hour, true, false, "DriverPodTerminating", 0},
		"one that does not go":                  {inTheWay(func(p *corev1.Pod) { p.DeletionTimestamp = nil }), &limit, time.Hour, false, false, "", 0},
		"another application's":                 {inTheWay(func(p *corev1.Pod) { p.Labels[apache.LabelApplication] = "po" }), &limit, time.Hour, false, false, "", 0},
		"another owner's":                       {inTheWay(func(p *corev1.Pod) { delete(p.Labels, dialect.LabelLaunch) }), &limit, time.Hour, false, false, "", 0},
		"one of another name is not in the way": {inTheWay(func(p *corev1.Pod) { p.Name = "po-driver" }), &limit, time.Hour, false, false, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			client, clock := fake.NewClientset(test.pod), clocktesting.NewFakePassiveClock(applicationtest.Start.Add(test.after))
			l := New(Config{
				API: applications.Apache(nil), Kube: client, Deleter: drivers.NewDeleter(client, clock, nil), Drivers: driverstest.Cached(t, test.pod), Clock: clock,
			})
			app := applicationtest.With(applicationtest.Pi(), func(app *sparkv1.SparkApplication) {
				app.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{
					ApplicationTimeoutConfig: &sparkv1.ApplicationTimeoutConfig{ForceTerminationGracePeriodMillis: test.limit},
				}
			})
			next := inTheWay(func(p *corev1.Pod) { p.Labels[dialect.LabelLaunch] = "next" })
			ctx := controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), record.NewFakeRecorder(9))
			var seen lifecycle.Observation
			waits, err := l.waitForNames(ctx, applicationtest.Viewed(app), next, &seen)
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

// A driver Pod whose labels were removed is not in the cache, and no event tells its end. On a lost node it would stay for ever.
func TestNameWaitDeletesAnEarlierDriverWithoutLabelsByForce(t *testing.T) {
	for name, owner := range map[string]types.UID{"of the application": "uid-of-pi", "of an earlier one with its name": "uid-of-the-first-pi"} {
		t.Run(name, func(t *testing.T) { deletesByForce(t, owner) })
	}
}

// deletesByForce checks that an earlier driver is deleted by force that lost its labels. Its owner has a UID and the name of the application.
func deletesByForce(t *testing.T, owner types.UID) {
	t.Helper()
	limit := int64(60_000)
	app := applicationtest.With(applicationtest.Pi(), func(app *sparkv1.SparkApplication) {
		app.Spec.ApplicationTolerations = &sparkv1.ApplicationTolerations{
			ApplicationTimeoutConfig: &sparkv1.ApplicationTimeoutConfig{ForceTerminationGracePeriodMillis: &limit},
		}
	})
	next := applicationtest.DriverOf("this", "").Obj()
	next.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(app, sparkv1.SchemeGroupVersion.WithKind("SparkApplication"))}
	grace := int64(30)
	earlier := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: next.Namespace, Name: next.Name, UID: "earlier",
		DeletionTimestamp: &metav1.Time{Time: applicationtest.Start.Add(30 * time.Second)}, DeletionGracePeriodSeconds: &grace,
	}, Spec: corev1.PodSpec{NodeName: "worker-3"}}
	earlier.OwnerReferences = []metav1.OwnerReference{*next.OwnerReferences[0].DeepCopy()}
	earlier.OwnerReferences[0].UID = owner
	client, clock := fake.NewClientset(earlier), clocktesting.NewFakePassiveClock(applicationtest.Start)
	l := New(Config{
		API: applications.Apache(nil), Kube: client, Deleter: drivers.NewDeleter(client, clock, nil), Drivers: driverstest.Cached(t), Clock: clock,
		Expectations: drivers.NewExpectations(clock),
	})
	ctx := controller.WithEventRecorder(config.ToContext(t.Context(), config.Default()), record.NewFakeRecorder(9))
	l.waits.stopped(app.GetUID(), nameNotFreeError{wanted: next, existing: earlier})

	var seen lifecycle.Observation
	for deadline := applicationtest.Start.Add(time.Minute); clock.Now().Before(deadline); clock.SetTime(seen.RetryLaunchAt) {
		seen = lifecycle.Observation{}
		waits, err := l.waitForNames(ctx, applicationtest.Viewed(app), next, &seen)
		if err != nil || !waits || seen.RetryLaunchAt.After(deadline) {
			t.Fatalf("%s: it waits: %t (%v), and is tried again at %s", clock.Now(), waits, err, seen.RetryLaunchAt)
		}
		if reported := seen.LaunchHeld != nil; reported != !clock.Now().Before(applicationtest.Start.Add(reportWaitAfter)) {
			t.Fatalf("%s: it reports %v", clock.Now(), seen.LaunchHeld)
		}
	}
	if held := seen.LaunchHeld; held.Reason != "DriverPodTerminating" || !strings.Contains(held.Message, "on node worker-3") {
		t.Errorf("it reports %+v", held)
	}
	if waits, err := l.waitForNames(ctx, applicationtest.Viewed(app), next, &seen); err != nil || !waits {
		t.Fatalf("it waits: %t (%v)", waits, err)
	}
	last := client.Actions()[len(client.Actions())-1]
	deletion, ok := last.(clienttesting.DeleteAction)
	if !ok || *deletion.GetDeleteOptions().GracePeriodSeconds != 0 || *deletion.GetDeleteOptions().Preconditions.UID != "earlier" {
		t.Fatalf("the last request is %v", last)
	}
	if waits, err := l.waitForNames(ctx, applicationtest.Viewed(app), next, &seen); err != nil || waits {
		t.Errorf("it waits for a driver that is gone: %t (%v)", waits, err)
	}
}
