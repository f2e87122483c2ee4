package quotas

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
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
		Pods:   func(app types.NamespacedName, _ v1alpha1.Launch) Pods { return e.pods[app.Name] },
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
	e.Configure(config.Admission{Quota: config.QuotaHold, QuotaOvertake: 10 * time.Minute})
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
	if len(e.kube.Actions()) > 0 || e.Limits("team-a") || !e.Ready() {
		t.Errorf("while it is off it reads: %v", e.kube.Actions())
	}
	e.on()
	if !e.Limits("team-a") || e.Limits("team-b") {
		t.Error("the quota is not known")
	}
	e.source.Set(waiting("a"), true)
	e.Configure(config.Admission{Quota: config.QuotaOff})
	if e.Limits("team-a") || !slices.Equal(e.woken(0), []string{"a"}) {
		t.Error("when it is switched off, those that wait still do")
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

func TestTrackerKnowsPriorities(t *testing.T) {
	e := newEnv(t, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 7},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "usual"}, Value: 3, GlobalDefault: true})
	if got := e.Priority("urgent"); got != 0 {
		t.Errorf("while it is off, the priority is %d", got)
	}
	e.on()
	for class, want := range map[string]int32{"urgent": 7, "": 3, "unknown": 0} {
		if got := e.Priority(class); got != want {
			t.Errorf("the priority of %q is %d, want %d", class, got, want)
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
	if _, known := e.Confirm(first.Object, first.Record.Quota); known {
		t.Error("a reservation is confirmed before it came back")
	}
	e.source.Set(waiting("first"), true)
	e.source.Set(waiting("second"), true)
	e.source.Set(first, true)
	e.source.Set(second, true)
	for state, want := range map[*State]bool{&first: true, &second: false} {
		verdict, known := e.Confirm(state.Object, state.Record.Quota)
		if !known || verdict.Fits != want {
			t.Errorf("%s is confirmed: %t, %+v", state.Object.GetName(), known, verdict)
		}
	}
	// After a restart the order is not known: each yields to the other.
	again := newEnv(t, team("2")).on()
	for _, state := range []State{first, second} {
		again.source.Set(state, false)
	}
	for _, state := range []State{first, second} {
		if verdict, known := again.Confirm(state.Object, state.Record.Quota); !known || verdict.Fits {
			t.Errorf("after a restart %s is confirmed: %+v", state.Object.GetName(), verdict)
		}
	}
}

func TestTrackerShowsThePlaceOnceAMinute(t *testing.T) {
	e := newEnv(t, team("2")).on()
	if got := e.Report("b", "place 2", 2); got != "place 2" {
		t.Errorf("at first %q is shown", got)
	}
	e.time.Step(59 * time.Second)
	if got := e.Report("b", "place 1", 1); got != "place 2" {
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
	if got := e.Report("b", "place 1", 1); got != "place 1" {
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
