package application

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/drivers"
)

func claimInTheWay(uid types.UID, finalizers ...string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "pi-0-driver-pvc-0", UID: uid, Labels: map[string]string{labelLaunch: "this"}, Finalizers: finalizers,
		},
	}
}

// A launch looks at what is in its way ever more seldom, creates nothing meanwhile, and says why it waits.
func TestALaunchWaitsForAnObjectWithABackOff(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(applicationtest.Start)
	existing := claimInTheWay("earlier", "example.org/a", "example.org/b")
	client := fake.NewClientset(existing)
	r := &Reconciler{
		api: applications.Apache(nil), kube: client, drivers: cachedDrivers(t), clock: clock,
		nameWaits: newNameWaits(clock), expectations: drivers.NewExpectations(clock),
	}
	app, next := applicationtest.Pi().Obj(), applicationtest.DriverOf("this", "").Obj()
	going := nameNotFreeError{wanted: claimInTheWay(""), existing: existing}
	ctx := config.ToContext(t.Context(), config.Default())
	wait := func() (bool, lifecycle.Observation) {
		t.Helper()
		var seen lifecycle.Observation
		waits, err := r.waitForNames(ctx, viewed(app), next, &seen)
		if err != nil {
			t.Fatal(err)
		}
		return waits, seen
	}
	if waits, _ := wait(); waits {
		t.Error("it waits, and nothing is known to be in its way")
	}
	r.nameWaits.stopped(app.GetUID(), going)
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
		"Its finalizers keep it: have their owners remove them, or remove them where those are gone (example.org/a, example.org/b)."
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
	if known := r.nameWaits.stopped(app.GetUID(), going); known.until.Sub(clock.Now()) != time.Minute {
		t.Errorf("the next obstacle of the same launch is looked at after %s", known.until.Sub(clock.Now()))
	}
	r.nameWaits.forget(app.GetUID())
	if known := r.nameWaits.stopped(app.GetUID(), going); known.until.Sub(clock.Now()) != time.Second {
		t.Errorf("the first obstacle of another launch is looked at after %s", known.until.Sub(clock.Now()))
	}
	next.Labels[labelLaunch] = "edited"
	if waits, _ := wait(); waits {
		t.Error("an edited launch waits for the names of the one before")
	}
}

// Most objects go at once: a condition would be a write for nothing.
func TestAShortWaitIsNotTold(t *testing.T) {
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
