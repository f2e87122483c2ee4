package drivers

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/kube"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
)

// leadsAll reports that this replica leads every application.
func leadsAll(types.NamespacedName, types.UID) bool { return true }

// followedDriver is one whose labels were changed, and what is reported of it.
type followedDriver struct {
	*Relabelled
	// details is what the watch shows after the list.
	shown   *watch.RaceFreeFakeWatcher
	changed chan types.NamespacedName
	deleted chan *corev1.Pod
}

func followDriver(t *testing.T, live *applicationtest.Driver) *followedDriver {
	t.Helper()
	f := &followedDriver{
		shown: watch.NewRaceFreeFake(), changed: make(chan types.NamespacedName, 16), deleted: make(chan *corev1.Pod, 16),
	}
	kube := fake.NewClientset()
	if live != nil {
		kube = fake.NewClientset(live.Obj())
	}
	kube.PrependWatchReactor("pods", clienttesting.DefaultWatchReactor(f.shown, nil))
	f.Relabelled = NewRelabelled(t.Context(), kube, apache.API, leadsAll, RelabelledEvents{
		Changed: func(app types.NamespacedName) { f.changed <- app },
		Deleted: func(pod *corev1.Pod, _ bool) { f.deleted <- pod },
	})
	if !f.Follow(applicationtest.Pi().Obj(), applicationtest.DriverOf("this", "ours").Obj()) {
		t.Fatal("it is not watched")
	}
	return f
}

// until waits until what is known of the driver is as it should be.
func (f *followedDriver) until(t *testing.T, what string, holds func(pod *corev1.Pod) bool) {
	t.Helper()
	for {
		if holds(f.Watched(kube.KeyOf(applicationtest.Pi().Obj()), "ours")) {
			return
		}
		select {
		case app := <-f.changed:
			if app != kube.KeyOf(applicationtest.Pi().Obj()) {
				t.Errorf("%s changed", app)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("waited for the driver to %s", what)
		}
	}
}

func TestADriverWithChangedLabelsIsFollowed(t *testing.T) {
	f := followDriver(t, applicationtest.DriverOf("this", "ours"))
	f.until(t, "be listed", func(pod *corev1.Pod) bool { return pod != nil })
	f.shown.Modify(applicationtest.DriverOf("this", "ours").Ended().Obj())
	f.until(t, "end", func(pod *corev1.Pod) bool { return pod != nil && pod.Status.Phase == corev1.PodFailed })
	f.shown.Delete(applicationtest.DriverOf("this", "ours").Ended().Obj())
	f.until(t, "be gone", func(pod *corev1.Pod) bool { return pod == nil })
	if pod := <-f.deleted; pod.UID != "ours" {
		t.Errorf("the deletion of %s is reported", pod.UID)
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.watches != 0 || len(f.pods) != 0 {
		t.Errorf("%d watches are left", f.watches)
	}
}

func TestADriverThatWasDeletedBeforeItsWatchIsNotFollowed(t *testing.T) {
	for name, live := range map[string]*applicationtest.Driver{"it is gone": nil, "a namesake has come": applicationtest.DriverOf("next", "another")} {
		t.Run(name, func(t *testing.T) {
			followDriver(t, live).until(t, "be gone", func(pod *corev1.Pod) bool { return pod == nil })
		})
	}
}

func TestAWatchEndsThatIsNotNeeded(t *testing.T) {
	key := kube.KeyOf(applicationtest.Pi().Obj())
	for name, end := range map[string]func(*followedDriver){
		"the labels are back": func(f *followedDriver) {
			f.Follow(applicationtest.Pi().Obj(), applicationtest.DriverOf("this", "ours").Labelled().Obj())
		},
		"the application is gone": func(f *followedDriver) { f.Forget(key) },
		"another replica leads":   func(f *followedDriver) { f.ForgetMatching(func(app types.NamespacedName) bool { return app == key }) },
		"another driver is followed": func(f *followedDriver) {
			f.Follow(applicationtest.Pi().Obj(), applicationtest.DriverOf("next", "another").Obj())
			f.Forget(key)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := followDriver(t, applicationtest.DriverOf("this", "ours"))
			ctx, cancel := context.WithCancel(t.Context())
			stop := f.pods[key].stop
			f.mutex.Lock()
			f.pods[key].stop = func() { stop(); cancel() }
			f.mutex.Unlock()
			end(f)
			<-ctx.Done()
			if f.watches != 0 || len(f.pods) != 0 {
				t.Errorf("%d watches of %d Pods are left", f.watches, len(f.pods))
			}
		})
	}
}

// More are read now and then.
func TestNoMoreThanSomeDriversAreFollowed(t *testing.T) {
	r := NewRelabelled(t.Context(), fake.NewClientset(applicationtest.DriverOf("this", "ours").Obj()), apache.API, leadsAll, RelabelledEvents{Changed: func(types.NamespacedName) {}})
	app := func(i int) *sparkv1.SparkApplication { return applicationtest.Named(fmt.Sprint(i)).Obj() }
	for i := range maxRelabelled {
		if !r.Follow(app(i), applicationtest.DriverOf("this", "ours").Obj()) {
			t.Fatalf("driver %d is not watched", i)
		}
	}
	if r.Follow(app(maxRelabelled), applicationtest.DriverOf("this", "ours").Obj()) || r.Watched(kube.KeyOf(app(maxRelabelled)), "ours") != nil {
		t.Error("one too many is watched")
	}
	if r.LastSeen(kube.KeyOf(app(maxRelabelled)), "ours") == nil {
		t.Error("it is not known what was read")
	}
	r.Forget(kube.KeyOf(app(0)))
	if !r.Follow(app(maxRelabelled), applicationtest.DriverOf("this", "ours").Obj()) {
		t.Error("it is not watched though there is room")
	}
}

// A reconcile is in flight when another replica takes over, or when the application goes: it starts no watch.
func TestNoDriverIsFollowedOfAnApplicationThatAnotherReplicaLeads(t *testing.T) {
	f := followDriver(t, applicationtest.DriverOf("this", "ours"))
	var asked types.UID
	owned := true
	f.owned = func(_ types.NamespacedName, uid types.UID) bool {
		if asked = uid; f.mutex.TryLock() {
			t.Error("the leader can change before the answer is acted on")
		}
		return owned
	}
	if !f.Follow(applicationtest.Pi().Obj(), applicationtest.DriverOf("this", "ours").Obj()) || f.watches != 1 || asked != "uid-of-pi" {
		t.Fatalf("%d watches while it is owned; asked of %q", f.watches, asked)
	}
	owned = false
	if !f.Follow(applicationtest.Pi().Obj(), applicationtest.DriverOf("this", "ours").Obj()) {
		t.Error("this replica reads it again")
	}
	if f.watches != 0 || len(f.pods) != 0 {
		t.Errorf("%d watches of %d Pods", f.watches, len(f.pods))
	}
}
