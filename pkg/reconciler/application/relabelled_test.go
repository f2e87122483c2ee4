package application

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

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/base"
)

// noneRelabelled follows no Pod.
func noneRelabelled(t *testing.T) *relabelledDrivers {
	return newRelabelledDrivers(t.Context(), fake.NewClientset(), apache.API, ownsAll, relabelledEvents{})
}

// ownsAll is a replica that leads every application.
func ownsAll(types.NamespacedName, types.UID) bool { return true }

// Labelled has a driver carry the labels by which it is found.
func (d *driver) Labelled() *driver {
	d.pod.Labels["spark-role"], d.pod.Labels[apache.LabelOperator] = "driver", apache.OperatorName
	return d
}

// Gone has a driver be as the API server stores it just before it removes it.
func (d *driver) Gone() *driver {
	now := int64(0)
	d.Going().pod.DeletionGracePeriodSeconds = &now
	return d
}

func (d *driver) Grace(seconds int64) *driver {
	d.pod.DeletionGracePeriodSeconds = &seconds
	return d
}

func (d *driver) Finalizer() *driver {
	d.pod.Finalizers = []string{"example.com/held"}
	return d
}

func TestADeletionIsReadAgainUnlessItProvesItself(t *testing.T) {
	relabelledDriver := func() *driver { return driverOf("this", "ours") }
	for name, test := range map[string]struct {
		// lastSeen is the driver as the watch reported it deleted; live is what the API server has.
		last, live *driver
		tombstone  bool
		// back reports whether the watch showed the driver again.
		back bool
		// created is how long before its deletion the driver was created.
		created      time.Duration
		gone, read   bool
		knowsHowEnds bool
	}{
		"removed":                                  {last: driverOf("this", "ours").Gone(), gone: true, knowsHowEnds: true},
		"removed just after its creation":          {last: driverOf("this", "ours").Gone(), created: time.Second, gone: true, knowsHowEnds: true},
		"removed, and back from an older backup":   {last: driverOf("this", "ours").Gone(), live: relabelledDriver(), back: true, read: true},
		"its labels changed":                       {last: driverOf("this", "ours"), live: relabelledDriver(), read: true},
		"its labels changed just after":            {last: driverOf("this", "ours"), live: relabelledDriver(), created: time.Second, read: true},
		"its labels changed while it went":         {last: driverOf("this", "ours").Going().Grace(30), live: relabelledDriver(), read: true},
		"its labels changed while a finalizer":     {last: driverOf("this", "ours").Gone().Finalizer(), live: relabelledDriver(), read: true},
		"a finalizer was removed from it":          {last: driverOf("this", "ours").Gone().Finalizer(), gone: true, read: true, knowsHowEnds: true},
		"it was not listed any more":               {last: driverOf("this", "ours").Gone(), tombstone: true, gone: true, read: true, knowsHowEnds: true},
		"it was not listed, for its labels":        {last: driverOf("this", "ours").Gone(), tombstone: true, live: relabelledDriver(), read: true},
		"a namesake has come":                      {last: driverOf("this", "ours"), live: driverOf("next", "another"), gone: true, read: true, knowsHowEnds: true},
		"nothing was reported":                     {live: relabelledDriver(), read: true},
		"nothing was reported of one created just": {live: relabelledDriver(), created: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientset()
			if test.live != nil {
				kube = fake.NewClientset(test.live.Obj())
			}
			r := &Reconciler{
				api: applications.Apache(nil), kube: kube, drivers: cachedDrivers(t), expectations: newExpectations(apache.API, clockAt(start)),
				relabelledDrivers: newRelabelledDrivers(t.Context(), fake.NewClientset(), apache.API, ownsAll, relabelledEvents{changed: func(types.NamespacedName) {}}),
			}
			if test.created > 0 {
				r.expectations.podCreated("ours")
			}
			if test.last != nil {
				r.expectations.podDeleted(test.last.Obj(), test.tombstone)
			}
			if test.back {
				r.expectations.podSeen("ours")
			}
			launch := &v1alpha1.Launch{ID: "this", DriverPod: "pi-0-driver", DriverUID: "ours"}
			pod, gone, err := r.findDriver(t.Context(), pi().Obj(), launch)
			if err != nil || gone != test.gone || gone && (pod != nil) != test.knowsHowEnds {
				t.Errorf("gone: %t, want %t; Pod %v, error %v", gone, test.gone, pod, err)
			}
			if read := len(kube.Actions()) > 0; read != test.read {
				t.Errorf("it was read: %t, want %t", read, test.read)
			}
		})
	}
}

// followedDriver is one whose labels were changed, and what is reported of it.
type followedDriver struct {
	*relabelledDrivers
	// details is what the watch shows after the list.
	shown   *watch.RaceFreeFakeWatcher
	changed chan types.NamespacedName
	deleted chan *corev1.Pod
}

func followDriver(t *testing.T, live *driver) *followedDriver {
	t.Helper()
	f := &followedDriver{
		shown: watch.NewRaceFreeFake(), changed: make(chan types.NamespacedName, 16), deleted: make(chan *corev1.Pod, 16),
	}
	kube := fake.NewClientset()
	if live != nil {
		kube = fake.NewClientset(live.Obj())
	}
	kube.PrependWatchReactor("pods", clienttesting.DefaultWatchReactor(f.shown, nil))
	f.relabelledDrivers = newRelabelledDrivers(t.Context(), kube, apache.API, ownsAll, relabelledEvents{
		changed: func(app types.NamespacedName) { f.changed <- app },
		deleted: func(pod *corev1.Pod, _ bool) { f.deleted <- pod },
	})
	if !f.follow(pi().Obj(), driverOf("this", "ours").Obj()) {
		t.Fatal("it is not watched")
	}
	return f
}

// until waits until what is known of the driver is as it should be.
func (f *followedDriver) until(t *testing.T, what string, holds func(pod *corev1.Pod) bool) {
	t.Helper()
	for {
		if holds(f.watched(base.KeyOf(pi().Obj()), "ours")) {
			return
		}
		select {
		case app := <-f.changed:
			if app != base.KeyOf(pi().Obj()) {
				t.Errorf("%s changed", app)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("waited for the driver to %s", what)
		}
	}
}

func TestADriverWithChangedLabelsIsFollowed(t *testing.T) {
	f := followDriver(t, driverOf("this", "ours"))
	f.until(t, "be listed", func(pod *corev1.Pod) bool { return pod != nil })
	f.shown.Modify(driverOf("this", "ours").Ended().Obj())
	f.until(t, "end", func(pod *corev1.Pod) bool { return pod != nil && pod.Status.Phase == corev1.PodFailed })
	f.shown.Delete(driverOf("this", "ours").Ended().Obj())
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

func TestADriverThatWentBeforeItWasFollowedIsFollowedNoMore(t *testing.T) {
	for name, live := range map[string]*driver{"it is gone": nil, "a namesake has come": driverOf("next", "another")} {
		t.Run(name, func(t *testing.T) {
			followDriver(t, live).until(t, "be gone", func(pod *corev1.Pod) bool { return pod == nil })
		})
	}
}

func TestAWatchEndsThatIsNotNeeded(t *testing.T) {
	key := base.KeyOf(pi().Obj())
	for name, end := range map[string]func(*followedDriver){
		"the labels are back":        func(f *followedDriver) { f.follow(pi().Obj(), driverOf("this", "ours").Labelled().Obj()) },
		"the application is gone":    func(f *followedDriver) { f.forget(key) },
		"another replica leads":      func(f *followedDriver) { f.forgetMatching(func(app types.NamespacedName) bool { return app == key }) },
		"another driver is followed": func(f *followedDriver) { f.follow(pi().Obj(), driverOf("next", "another").Obj()); f.forget(key) },
	} {
		t.Run(name, func(t *testing.T) {
			f := followDriver(t, driverOf("this", "ours"))
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
	r := newRelabelledDrivers(t.Context(), fake.NewClientset(driverOf("this", "ours").Obj()), apache.API, ownsAll, relabelledEvents{changed: func(types.NamespacedName) {}})
	app := func(i int) *sparkv1.SparkApplication { return named(fmt.Sprint(i)).Obj() }
	for i := range maxRelabelled {
		if !r.follow(app(i), driverOf("this", "ours").Obj()) {
			t.Fatalf("driver %d is not watched", i)
		}
	}
	if r.follow(app(maxRelabelled), driverOf("this", "ours").Obj()) || r.watched(base.KeyOf(app(maxRelabelled)), "ours") != nil {
		t.Error("one too many is watched")
	}
	if r.lastSeen(base.KeyOf(app(maxRelabelled)), "ours") == nil {
		t.Error("it is not known what was read")
	}
	r.forget(base.KeyOf(app(0)))
	if !r.follow(app(maxRelabelled), driverOf("this", "ours").Obj()) {
		t.Error("it is not watched though there is room")
	}
}

// A reconcile is in flight when another replica takes over, or when the application goes: it starts no watch.
func TestNoDriverIsFollowedOfAnApplicationThatAnotherReplicaLeads(t *testing.T) {
	f := followDriver(t, driverOf("this", "ours"))
	var asked types.UID
	owned := true
	f.owned = func(_ types.NamespacedName, uid types.UID) bool {
		if asked = uid; f.mutex.TryLock() {
			t.Error("the leader can change before the answer is acted on")
		}
		return owned
	}
	if !f.follow(pi().Obj(), driverOf("this", "ours").Obj()) || f.watches != 1 || asked != "uid-of-pi" {
		t.Fatalf("%d watches while it is owned; asked of %q", f.watches, asked)
	}
	owned = false
	if !f.follow(pi().Obj(), driverOf("this", "ours").Obj()) {
		t.Error("this replica reads it again")
	}
	if f.watches != 0 || len(f.pods) != 0 {
		t.Errorf("%d watches of %d Pods", f.watches, len(f.pods))
	}
}
