package quotas

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/quota"
	"github.com/firesteel-dev/firesteel/test/harness/fakeclient"
)

var start = time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)

// env is a tracker with one source, in the namespace team-a.
type env struct {
	*testing.T
	*Tracker
	source *Source
	kube   *fake.Clientset
	time   *steppedClock

	mutex  sync.Mutex
	queued []string
	pods   map[string]Pods
	// asked is how often Pods were asked for.
	asked int
}

func newEnv(t *testing.T, objects ...runtime.Object) *env {
	e := &env{T: t, kube: fake.NewClientset(objects...), time: &steppedClock{FakeClock: clocktesting.NewFakeClock(start)}, pods: map[string]Pods{}}
	e.Tracker = New(t.Context(), e.kube, e.time, zap.NewNop().Sugar())
	e.source = e.AddSource(Source{
		Enqueue: func(app types.NamespacedName) {
			e.mutex.Lock()
			defer e.mutex.Unlock()
			e.queued = append(e.queued, app.Name)
		},
		Pods: func(app types.NamespacedName, _ v1alpha1.Launch) Pods {
			e.asked++
			return e.pods[app.Name]
		},
		Synced: func() bool { return true },
	})
	return e
}

// steppedClock calls what is due in Step, when the clock shows the new time.
type steppedClock struct {
	*clocktesting.FakeClock
	mutex sync.Mutex
	due   map[time.Time][]func()
}

func (c *steppedClock) AfterFunc(after time.Duration, f func()) clock.Timer {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.due == nil {
		c.due = map[time.Time][]func(){}
	}
	at := c.Now().Add(after)
	c.due[at] = append(c.due[at], f)
	return nil
}

func (c *steppedClock) Step(by time.Duration) {
	c.FakeClock.Step(by)
	c.mutex.Lock()
	var now []func()
	for at, due := range c.due {
		if !at.After(c.Now()) {
			now = append(now, due...)
			delete(c.due, at)
		}
	}
	c.mutex.Unlock()
	for _, f := range now {
		f()
	}
}

// on switches the setting on, and waits until all is known.
func (e *env) on() *env {
	e.Configure(config.QuotaSettings{Quota: config.QuotaHold, QuotaOvertake: 10 * time.Minute})
	e.until("be ready", e.Ready)
	return e
}

func (e *env) until(what string, holds func() bool) {
	e.Helper()
	err := wait.PollUntilContextTimeout(e.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		e.Fatalf("waited to %s: %v", what, err)
	}
}

// woken returns the applications that were enqueued since the last call, at the end of a while.
func (e *env) woken(after time.Duration) []string {
	e.time.Step(after)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	queued := slices.Compact(slices.Sorted(slices.Values(e.queued)))
	e.queued = nil
	return queued
}

func team(pods string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "team"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse(pods)}},
	}
}

// waiting is an application that waits with a driver and an executor, and reserved one for which room was reserved by a write.
func waiting(name string) State {
	each := map[string]int64{"pods": 1000}
	return State{
		Object: &metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: types.UID(name)},
		Record: &v1alpha1.Record{Quota: &v1alpha1.QuotaClaim{
			Since: metav1.NewMicroTime(start), Pods: []v1alpha1.QuotaPods{{Count: 1, Usage: each}, {Count: 1, Usage: each}},
		}},
		Waits: true, Active: true,
	}
}

func reserved(name, version string) State {
	state, at := waiting(name), metav1.NewMicroTime(start)
	state.Object.SetResourceVersion(version)
	state.Record.Quota.Reserved, state.Record.Launch = &at, &v1alpha1.Launch{ID: name}
	return state
}

func TestTrackerWatchesOnlyWhileTheSettingIsOn(t *testing.T) {
	e := newEnv(t, team("4"))
	if len(e.kube.Actions()) > 0 || e.Limits("team-a") {
		t.Errorf("while it is off it reads: %v", e.kube.Actions())
	}
	if e.Ready() || e.late() {
		t.Error("a reconcile that sees a new setting before the tracker does would compare nothing")
	}
	e.on()
	if !e.Limits("team-a") || e.Limits("team-b") {
		t.Error("the quota is not known")
	}
	e.source.Set(waiting("a"), true)
	e.Configure(config.QuotaSettings{Quota: config.QuotaOff})
	if e.Limits("team-a") || !slices.Equal(e.woken(0), []string{"a"}) {
		t.Error("when it is switched off, those that wait still do")
	}
}

// It is decided that an application waits before the watch shows that it does. The last quota may be deleted in between.
func TestTrackerWakesAnApplicationThatBeginsToWaitWithoutQuotas(t *testing.T) {
	e := newEnv(t, team("1")).on()
	if err := e.kube.CoreV1().ResourceQuotas("team-a").Delete(t.Context(), "team", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e.until("see the deletion", func() bool { return !e.Limits("team-a") })
	if e.source.Set(waiting("a"), true); !slices.Equal(e.woken(0), []string{"a"}) {
		t.Error("it waits for ever")
	}
	if e.source.Set(waiting("a"), true); len(e.woken(0)) > 0 {
		t.Error("it is woken again for no news")
	}
}

func TestTrackerWakesThoseThatWaitForASettingOfQuotasAlone(t *testing.T) {
	e := newEnv(t, team("4")).on()
	e.source.Set(waiting("a"), true)
	e.woken(wakeDelay)
	settings := config.QuotaSettings{Quota: config.QuotaHold, QuotaOvertake: 10 * time.Minute}
	if e.Configure(settings); len(e.woken(0)) > 0 {
		t.Error("another setting of config-admission, such as a rule, wakes those that wait")
	}
	settings.QuotaOvertake = time.Minute
	if e.Configure(settings); !slices.Equal(e.woken(0), []string{"a"}) {
		t.Error("a setting of quotas does not wake those that wait")
	}
}

func TestTrackerGoesOnWithoutTheRight(t *testing.T) {
	e := newEnv(t)
	for _, verb := range []string{"list", "watch"} {
		e.kube.PrependReactor(verb, "*", func(kubetesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "resourcequotas"}, "", nil)
		})
		e.kube.PrependWatchReactor("*", func(kubetesting.Action) (bool, apiwatch.Interface, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "resourcequotas"}, "", nil)
		})
	}
	e.on()
	if e.Limits("team-a") {
		t.Error("a quota is known")
	}
}

// admitted returns the class, its value and the overhead with which the API server admits a Pod.
func (e *env) admitted(class, runtimeClass string) (string, int32, string) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{PriorityClassName: class}}
	if runtimeClass != "" {
		pod.Spec.RuntimeClassName = &runtimeClass
	}
	got, priority := e.Tracker.admitted(pod)
	cpu := got.Spec.Overhead[corev1.ResourceCPU]
	return got.Spec.PriorityClassName, priority, cpu.String()
}

func TestTrackerKnowsWhatAdmissionAddsToPods(t *testing.T) {
	e := newEnv(t, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 7},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 3, GlobalDefault: true},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "another-default"}, Value: 4, GlobalDefault: true},
		&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "plain"}},
		&nodev1.RuntimeClass{
			ObjectMeta: metav1.ObjectMeta{Name: "micro-vm"}, Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{"cpu": resource.MustParse("250m")}},
		})
	if class, priority, overhead := e.admitted("urgent", "micro-vm"); class != "urgent" || priority != 0 || overhead != "0" {
		t.Errorf("while it is off, a Pod has %s, %d and %s", class, priority, overhead)
	}
	e.on()
	for _, test := range []struct {
		class, runtimeClass, admitted string
		priority                      int32
		overhead                      string
	}{
		{"urgent", "micro-vm", "urgent", 7, "250m"},
		{"urgent", "plain", "urgent", 7, "0"},
		{"", "", "usual", 3, "0"},
		{"unknown", "unknown", "unknown", 0, "0"},
	} {
		if class, priority, overhead := e.admitted(test.class, test.runtimeClass); class != test.admitted || priority != test.priority || overhead != test.overhead {
			t.Errorf("%+v: it has %s, %d and %s", test, class, priority, overhead)
		}
	}
}

func TestTrackerWakesThoseForWhichThereIsRoom(t *testing.T) {
	e := newEnv(t, team("4")).on()
	for _, name := range []string{"a", "b", "c"} {
		e.source.Set(waiting(name), true)
	}
	if got := e.woken(wakeDelay); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("woken are %v", got)
	}
	e.source.Set(reserved("a", "5"), true)
	e.source.Set(reserved("b", "6"), true)
	e.pods["a"], e.pods["b"] = Pods{Driver: true, Executors: 1}, Pods{Driver: true, Executors: 1}
	if got := e.woken(wakeDelay); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("by the reservations are woken %v, want those that made them", got)
	}
	ended := reserved("a", "9")
	ended.Waits, ended.Active = false, false
	e.source.Set(ended, true)
	if got := e.woken(wakeDelay); !slices.Equal(got, []string{"c"}) {
		t.Errorf("by an end are woken %v", got)
	}
	e.source.Set(reserved("c", "10"), true)
	e.source.Set(waiting("d"), true)
	e.woken(wakeDelay)
	e.until("watch the quota", func() bool { return fakeclient.WatchesAll(&e.kube.Fake) })
	larger := team("6")
	if _, err := e.kube.CoreV1().ResourceQuotas("team-a").Update(t.Context(), larger, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	e.until("wake d", func() bool { return slices.Contains(e.woken(wakeDelay), "d") })
	suspended := waiting("d")
	suspended.Waits, suspended.Active = false, true
	e.source.Set(suspended, true)
	if got := e.woken(wakeDelay); len(got) > 0 {
		t.Errorf("by a suspension are woken %v", got)
	}
}

func TestTrackerConfirmsReservationsInTheirOrder(t *testing.T) {
	e := newEnv(t, team("2")).on()
	first, second := reserved("first", "5"), reserved("second", "6")
	if _, known := e.confirm(first.Object, first.Record.Quota); known {
		t.Error("a reservation is confirmed before it came back")
	}
	e.source.Set(waiting("first"), true)
	e.source.Set(waiting("second"), true)
	e.source.Set(first, true)
	e.source.Set(second, true)
	for state, want := range map[*State]bool{&first: true, &second: false} {
		decision, known := e.confirm(state.Object, state.Record.Quota)
		if !known || decision.Fits != want {
			t.Errorf("%s is confirmed: %t, %+v", state.Object.GetName(), known, decision)
		}
	}
	// After a restart the order is not known: each yields to the other.
	again := newEnv(t, team("2")).on()
	for _, state := range []State{first, second} {
		again.source.Set(state, false)
	}
	for _, state := range []State{first, second} {
		if decision, known := again.confirm(state.Object, state.Record.Quota); !known || decision.Fits {
			t.Errorf("after a restart %s is confirmed: %+v", state.Object.GetName(), decision)
		}
	}
}

// place is a decision about one that lacks room.
func place(place int) quota.Decision { return quota.Decision{Lacks: []quota.Lack{{}}, Place: place} }

func TestTrackerShowsAnotherKindOfReasonAtOnce(t *testing.T) {
	e := newEnv(t, team("2")).on()
	e.source.Set(reserved("x", "1"), true)
	e.source.Set(waiting("b"), true)
	e.woken(wakeDelay)
	e.shown("b", "place 1", place(1))
	e.setQuotaNow(team("1"))
	if got := e.woken(wakeDelay); !slices.Equal(got, []string{"b"}) {
		t.Errorf("by a quota that it never fits are woken %v", got)
	}
	if got := e.shown("b", "too large", quota.Decision{TooLarge: true}); got != "too large" {
		t.Errorf("%q is shown", got)
	}
}

// setQuotaNow has a quota change without its watch.
func (e *env) setQuotaNow(q *corev1.ResourceQuota) {
	e.Tracker.mutex.Lock()
	defer e.Tracker.mutex.Unlock()
	e.quotas.Set(q)
	e.changed(q.Namespace)
}

func TestTrackerShowsThePlaceOnceAMinute(t *testing.T) {
	e := newEnv(t, team("2")).on()
	if got := e.shown("b", "place 2", place(2)); got != "place 2" {
		t.Errorf("at first %q is shown", got)
	}
	e.time.Step(59 * time.Second)
	if got := e.shown("b", "place 1", place(1)); got != "place 2" {
		t.Errorf("before a minute is over, %q is shown", got)
	}
	e.source.Set(reserved("x", "1"), true)
	e.source.Set(waiting("b"), true)
	e.woken(wakeDelay)
	if got := e.woken(2 * time.Second); len(got) > 0 {
		t.Errorf("woken are %v", got)
	}
	if got := e.woken(wakeDelay); !slices.Equal(got, []string{"b"}) {
		t.Errorf("when the minute is over, woken are %v", got)
	}
	if got := e.shown("b", "place 1", place(1)); got != "place 1" {
		t.Errorf("after a minute %q is shown", got)
	}
}

func TestTrackerReportsExecutorsThatAQuotaRefusesForAWhile(t *testing.T) {
	full := team("2")
	full.Status.Used = corev1.ResourceList{"pods": resource.MustParse("2")}
	e := newEnv(t, full).on()
	app := reserved("a", "1")
	e.pods["a"] = Pods{Driver: true}
	e.source.Set(app, true)
	e.woken(wakeDelay)
	if lacks := e.source.ExecutorsLack(app.Object); len(lacks) > 0 {
		t.Errorf("at once it lacks %v", lacks)
	}
	e.woken(shortAfter)
	if got := e.woken(wakeDelay); !slices.Equal(got, []string{"a"}) || len(e.source.ExecutorsLack(app.Object)) != 1 {
		t.Errorf("later it lacks %v, and woken are %v", e.source.ExecutorsLack(app.Object), got)
	}
	e.pods["a"] = Pods{Driver: true, Executors: 1}
	e.source.PodsChanged("team-a")
	if got := e.woken(wakeDelay); !slices.Equal(got, []string{"a"}) || e.source.ExecutorsLack(app.Object) != nil {
		t.Errorf("with its executor it lacks %v, and woken are %v", e.source.ExecutorsLack(app.Object), got)
	}
}

func TestTrackerHasRefusedLaunchesWaitLongerAndLonger(t *testing.T) {
	e := newEnv(t)
	app := &metav1.ObjectMeta{Namespace: "team-a", Name: "a", UID: "a"}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		e.Refused(app)
		if got := e.RefusedUntil("a").Sub(e.time.Now()); got != want*time.Second {
			t.Errorf("it waits for %s, want %ds", got, want)
		}
	}
	e.time.Step(time.Minute)
	if until := e.RefusedUntil("a"); !until.IsZero() {
		t.Errorf("later it waits until %s", until)
	}
	e.Launched("a")
	e.Refused(app)
	if got := e.RefusedUntil("a").Sub(e.time.Now()); got != time.Second {
		t.Errorf("after a launch it waits for %s", got)
	}
	e.source.Forget(app)
	if until := e.RefusedUntil("a"); !until.IsZero() {
		t.Error("a deleted one is remembered")
	}
}

func TestTrackerIgnoresClaimsThatFiresteelDidNotWrite(t *testing.T) {
	e := newEnv(t, team("4")).on()
	forged := waiting("a")
	forged.Record.Quota.Pods = make([]v1alpha1.QuotaPods, 10000)
	e.source.Set(forged, true)
	if got := e.woken(wakeDelay); len(got) > 0 {
		t.Errorf("woken are %v", got)
	}
}

// Each decision once walked the whole queue.
func TestTrackerWalksTheQueueOncePerChange(t *testing.T) {
	const held = 1000
	e := newEnv(t, team("2")).on()
	e.source.Set(reserved("x", "1"), true)
	e.woken(wakeDelay)
	e.asked = 0
	states := make([]State, held)
	for i := range states {
		states[i] = waiting(fmt.Sprintf("%04d", i))
		states[i].Record.Quota.Since = metav1.NewMicroTime(start.Add(time.Duration(i) * time.Millisecond))
		if decision := e.decide(states[i].Object, states[i].Record.Quota); decision.Fits || decision.Place != i+1 {
			t.Fatalf("%d: %+v", i, decision)
		}
		e.source.Set(states[i], true)
	}
	for range 3 {
		for i, state := range states {
			e.source.Set(state, true) // a write of its status
			if decision := e.decide(state.Object, state.Record.Quota); decision.Place != i+1 || decision.Queue != held {
				t.Fatalf("%d: %+v", i, decision)
			}
		}
		e.woken(wakeDelay)
	}
	if e.asked > 5 { // of one application
		t.Errorf("the queue was walked %d times", e.asked)
	}
	walked := e.asked
	e.source.PodsChanged("team-a")
	e.decide(states[0].Object, states[0].Record.Quota)
	if e.asked == walked {
		t.Error("a change does not have it walked again")
	}
	walked = e.asked
	e.time.Step(11 * time.Minute) // the head has waited longer than quota-overtake
	e.decide(states[0].Object, states[0].Record.Quota)
	if e.asked == walked {
		t.Error("the time does not have it walked again")
	}
}

func TestTrackerLaunchesOthersWhileOneIsRefused(t *testing.T) {
	e := newEnv(t, team("2")).on()
	first, second := waiting("first"), waiting("second")
	second.Record.Quota.Since = metav1.NewMicroTime(start.Add(time.Second))
	e.source.Set(first, true)
	e.source.Set(second, true)
	if got := e.woken(wakeDelay); !slices.Equal(got, []string{"first"}) {
		t.Errorf("woken are %v", got)
	}
	e.Refused(first.Object)
	if got := e.woken(wakeDelay); !slices.Equal(got, []string{"second"}) {
		t.Errorf("while it waits are woken %v", got)
	}
	e.time.Step(time.Second)
	if decision := e.decide(second.Object, second.Record.Quota); decision.Fits {
		t.Errorf("when it may be tried again, the second: %+v", decision)
	}
}

// A claim that is made before the classes are known lacks their priority and overhead for as long as it waits.
func TestTrackerIsReadyWhenPriorityClassesAndRuntimeClassesAreKnown(t *testing.T) {
	for _, classes := range []string{"priorityclasses", "runtimeclasses"} {
		t.Run(classes, func(t *testing.T) {
			t.Parallel() // each waits until the informer lists again
			e := newEnv(t, team("2"))
			var broken atomic.Bool
			broken.Store(true)
			var asked atomic.Int32
			e.kube.PrependReactor("list", classes, func(kubetesting.Action) (bool, runtime.Object, error) {
				asked.Add(1)
				return broken.Load(), nil, apierrors.NewInternalError(errors.New("boom"))
			})
			e.Configure(config.QuotaSettings{Quota: config.QuotaHold, QuotaOvertake: 10 * time.Minute})
			e.until("know the quota", func() bool { return e.Limits("team-a") && asked.Load() > 0 })
			if e.Ready() {
				t.Error("it is ready without them")
			}
			broken.Store(false)
			e.until("be ready with them", e.Ready)
		})
	}
}

func TestTrackerNeedsNoClassesThatTheAPIServerDoesNotServe(t *testing.T) {
	e := newEnv(t, team("2"))
	for _, classes := range []string{"priorityclasses", "runtimeclasses"} {
		e.kube.PrependReactor("list", classes, func(kubetesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: classes}, "")
		})
	}
	if e.on(); !e.Limits("team-a") {
		t.Error("no quota is known")
	}
}

func TestOneRefusalToListQuotasIsNotForEver(t *testing.T) {
	e := newEnv(t, team("2"))
	var listed atomic.Int32
	e.kube.PrependReactor("list", "resourcequotas", func(kubetesting.Action) (bool, runtime.Object, error) {
		if listed.Add(1) == 1 {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "resourcequotas"}, "", nil)
		}
		return true, nil, apierrors.NewInternalError(errors.New("boom"))
	})
	e.on()
	e.until("not be ready", func() bool { return !e.Ready() })
	if e.late() {
		t.Error("it is late at once")
	}
	e.time.Step(lateAfter)
	if !e.late() {
		t.Error("it is never late")
	}
}

func TestTrackerTellsThoseThatNoQuotaRefusesExecutorsAnyMore(t *testing.T) {
	for name, end := range map[string]func(e *env){
		"switched off": func(e *env) { e.Configure(config.QuotaSettings{Quota: config.QuotaOff}) },
		"deleted": func(e *env) {
			e.Tracker.mutex.Lock()
			defer e.Tracker.mutex.Unlock()
			e.removeQuota(team("2"))
		},
	} {
		full := team("2")
		full.Status.Used = corev1.ResourceList{"pods": resource.MustParse("2")}
		e := newEnv(t, full).on()
		app := reserved("a", "1")
		e.pods["a"] = Pods{Driver: true}
		e.source.Set(app, true)
		for _, after := range []time.Duration{wakeDelay, shortAfter, wakeDelay} {
			e.woken(after)
		}
		if len(e.source.ExecutorsLack(app.Object)) != 1 {
			t.Fatal("it lacks nothing")
		}
		end(e)
		if got := e.woken(0); !slices.Equal(got, []string{"a"}) || e.source.ExecutorsLack(app.Object) != nil {
			t.Errorf("%s: woken are %v, and it lacks %v", name, got, e.source.ExecutorsLack(app.Object))
		}
	}
}

func TestTrackerLetsElasticApplicationsShrink(t *testing.T) {
	e := newEnv(t, team("4")).on()
	other := waiting("other")
	other.Record.Quota.Pods[1].Count = 2
	for name, want := range map[string]bool{"elastic": true, "fixed": false} {
		app := reserved(name, "1")
		app.Record.Quota.Elastic = want
		e.pods[name] = Pods{Driver: true}
		e.source.Set(app, true)
		if decision := e.decide(other.Object, other.Record.Quota); decision.Fits {
			t.Errorf("%s: before its executors were there: %+v", name, decision)
		}
		for _, executors := range []int64{1, 0} {
			e.pods[name] = Pods{Driver: true, Executors: executors}
			e.source.PodsChanged("team-a")
			e.woken(wakeDelay)
		}
		if decision := e.decide(other.Object, other.Record.Quota); decision.Fits != want {
			t.Errorf("%s: after one has gone: %+v", name, decision)
		}
		e.source.Forget(app.Object)
	}
}

// A controller that starts has not seen the executors that were given back.
func TestTrackerReservesNothingAgainThatTheRecordSaysWasGivenBack(t *testing.T) {
	e := newEnv(t, team("4")).on()
	app := reserved("elastic", "1")
	app.Record.Quota.Elastic = true
	e.pods["elastic"] = Pods{Driver: true, Executors: 1}
	e.source.Set(app, true)
	if e.source.Complete(app.Object) {
		t.Error("it is complete before its Pods were counted")
	}
	e.woken(0)
	if got := e.woken(wakeDelay); !slices.Equal(got, []string{"elastic"}) || !e.source.Complete(app.Object) {
		t.Errorf("with all of its executors, %v are woken to write it down: %t", got, e.source.Complete(app.Object))
	}

	again := newEnv(t, team("4")).on()
	again.pods["elastic"] = Pods{Driver: true}
	other := waiting("other")
	other.Record.Quota.Pods[1].Count = 2
	for _, written := range []bool{false, true} {
		app := reserved("elastic", "1")
		app.Record.Quota.Elastic, app.Record.Quota.Complete = true, written
		again.source.Set(app, written) // the second one, by a write of another replica
		again.woken(wakeDelay)
		if decision := again.decide(other.Object, other.Record.Quota); decision.Fits != written {
			t.Errorf("the record says that it has had all of its executors: %t. Beside it, another: %+v", written, decision)
		}
	}
	anew := reserved("elastic", "9") // another attempt
	later := metav1.NewMicroTime(start.Add(time.Minute))
	anew.Record.Quota.Elastic, anew.Record.Quota.Reserved = true, &later
	again.source.Set(anew, true)
	if decision := again.decide(other.Object, other.Record.Quota); decision.Fits {
		t.Errorf("beside its next attempt: %+v", decision)
	}
}

func TestTrackerReadsStatesAgain(t *testing.T) {
	e := newEnv(t, team("2")).on()
	holds, waits := reserved("holds", "1"), waiting("waits")
	e.source.Set(waits, true)
	e.source.Set(holds, true)
	if decision := e.decide(waits.Object, waits.Record.Quota); decision.Fits {
		t.Errorf("beside a reservation: %+v", decision)
	}
	outside := holds
	outside.Waits, outside.Active = false, false
	e.source.Reread(slices.Values([]State{outside, waits}))
	if decision := e.decide(waits.Object, waits.Record.Quota); !decision.Fits {
		t.Errorf("without it: %+v", decision)
	}
}
