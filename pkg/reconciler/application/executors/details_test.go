package executors

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// application is the application of the executors.
func application(uid types.UID) dialect.Application {
	return &v1beta2.SparkApplication{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: uid}}
}

// Phase sets the phase of an executor.
func (e *executorBuilder) Phase(phase corev1.PodPhase) *executorBuilder {
	e.pod.Status.Phase = phase
	return e
}

// Exited ends a container of an executor.
func (e *executorBuilder) Exited(container string, code int32) *executorBuilder {
	e.pod.Status.ContainerStatuses = append(e.pod.Status.ContainerStatuses, corev1.ContainerStatus{
		Name: container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error"}},
	})
	return e
}

func TestGatherExecutorDetails(t *testing.T) {
	code := int32(7)
	for name, test := range map[string]struct {
		executors []*executorBuilder
		want      map[string]dialect.Executor
	}{
		"nothing of a driver without executors": {want: map[string]dialect.Executor{}},
		"each executor's phase": {
			executors: []*executorBuilder{anExecutor("a").Phase(corev1.PodPending), anExecutor("b").Ready()},
			want:      map[string]dialect.Executor{"exec-a": {Phase: corev1.PodPending}, "exec-b": {Phase: corev1.PodRunning}},
		},
		"how the Spark container ended, whatever else did": {
			executors: []*executorBuilder{anExecutor("a").Phase(corev1.PodFailed).Exited("sidecar", 1).Exited(submission.DefaultExecutorContainer, code)},
			want:      map[string]dialect.Executor{"exec-a": {Phase: corev1.PodFailed, ExitCode: &code, Reason: "Error"}},
		},
		"how the first container ended where none has Spark's name": {
			executors: []*executorBuilder{anExecutor("a").Phase(corev1.PodFailed).Exited("main", code)},
			want:      map[string]dialect.Executor{"exec-a": {Phase: corev1.PodFailed, ExitCode: &code, Reason: "Error"}},
		},
		"no other driver's": {
			executors: []*executorBuilder{anExecutor("a").OwnedBy("Pod", "driver-1"), anExecutor("b").Of("team-b", "pi-0"), anExecutor("c").Of("team-a", "pi-1")},
			want:      map[string]dialect.Executor{},
		},
		"what an allocator made since": {
			executors: []*executorBuilder{anExecutor("a").OwnedBy("StatefulSet", "set").Ready()},
			want:      map[string]dialect.Executor{"exec-a": {Phase: corev1.PodRunning}},
		},
		"nothing that an allocator made for an earlier attempt": {
			executors: []*executorBuilder{anExecutor("a").OwnedBy("StatefulSet", "set").Created(start.Add(-time.Minute))},
			want:      map[string]dialect.Executor{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewDetails(clocktesting.NewFakePassiveClock(start))
			for _, e := range test.executors {
				if !r.Update(nil, e.Obj()) {
					t.Errorf("%s is no news", e.pod.Name)
				}
			}
			if diff := cmp.Diff(test.want, gathered(r)); diff != "" {
				t.Errorf("executors (-want +got):\n%s", diff)
			}
			if has := r.Has(application("uid-of-pi"), firstLaunch, start); has != (len(test.want) > 0) {
				t.Errorf("it has executors: %t", has)
			}
		})
	}
}

// collections are the executors of the first launch at this moment.
func gathered(r *Details) map[string]dialect.Executor {
	executors, _ := r.Collect(application("uid-of-pi"), firstLaunch, start, true)
	return executors
}

// A look that comes too early for some news, with which the work queue merged the one that they asked for, asks for another.
func TestGatherEnqueuesEachChange(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(start)
	r := NewDetails(clock)
	gathered(r)
	clock.SetTime(start.Add(CollectInterval / 2))
	r.Update(nil, anExecutor("late").Obj())
	got, again := r.Collect(application("uid-of-pi"), firstLaunch, start, false)
	if len(got) != 0 || again != CollectInterval/2 {
		t.Errorf("%d executors, again in %s", len(got), again)
	}
	clock.SetTime(start.Add(CollectInterval))
	if got, again := r.Collect(application("uid-of-pi"), firstLaunch, start, false); len(got) != 1 || again != 0 {
		t.Errorf("%d executors, again in %s", len(got), again)
	}
	clock.SetTime(start.Add(CollectInterval + 1))
	if got, again := r.Collect(application("uid-of-pi"), firstLaunch, start, false); len(got) != 1 || again != 0 {
		t.Errorf("with nothing new, %d executors, again in %s", len(got), again)
	}
}

func TestChangeOfAnExecutor(t *testing.T) {
	pending := func() *executorBuilder { return anExecutor("a").Phase(corev1.PodPending) }
	for name, test := range map[string]struct {
		after *executorBuilder
		want  bool
	}{
		"that nothing changed is none": {pending(), false},
		"another phase":                {pending().Phase(corev1.PodRunning), true},
		"its end":                      {pending().Exited(submission.DefaultExecutorContainer, 1), true},
		"a namesake":                   {anExecutor("b").Phase(corev1.PodPending).Named("exec-a"), true},
		"that it is gone":              {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewDetails(clocktesting.NewFakePassiveClock(start))
			r.Update(nil, pending().Obj())
			var after *Pod
			if test.after != nil {
				after = test.after.Obj()
			}
			if got := r.Update(pending().Obj(), after); got != test.want {
				t.Errorf("it is: %t, want %t", got, test.want)
			}
		})
	}
}

// Named has an executor another's name.
func (e *executorBuilder) Named(name string) *executorBuilder {
	e.pod.Name = name
	return e
}

func TestGatherCollectsChangesForASecond(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(start)
	r := NewDetails(clock)
	for step, test := range []struct {
		after time.Duration
		now   bool
		app   types.UID
		want  int
		again time.Duration
	}{
		{want: 1, app: "uid-of-pi"},
		{want: 1, app: "uid-of-pi", after: 1, again: CollectInterval - 1},
		{want: 3, app: "uid-of-another", after: 1}, // each application has its own time
		{want: 1, app: "uid-of-pi", after: CollectInterval - 1, again: 1},
		{want: 5, app: "uid-of-pi", after: CollectInterval},
		{want: 5, app: "uid-of-pi", after: CollectInterval + 1, again: CollectInterval - 1},
		{want: 7, app: "uid-of-pi", after: CollectInterval + 1, now: true}, // with a transition
	} {
		clock.SetTime(start.Add(test.after))
		r.Update(nil, anExecutor(types.UID(fmt.Sprint(step))).Obj())
		got, again := r.Collect(application(test.app), firstLaunch, start, test.now)
		if len(got) != test.want || again != test.again {
			t.Errorf("step %d: %d executors are told of, and the others in %s; want %d, %s", step, len(got), again, test.want, test.again)
		}
	}
	if got, _ := r.Collect(application("uid-of-pi"), &v1alpha1.Launch{ApplicationID: "pi-0", DriverUID: "next"}, start, false); len(got) > 0 {
		t.Errorf("the next attempt has the executors of the one before: %v", got)
	}
}

func TestGatherRemembersADeletedExecutorForAWhile(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(start)
	r := NewDetails(clock)
	r.Update(nil, anExecutor("a").Ready().Obj())
	r.Update(anExecutor("a").Ready().Obj(), nil)
	want := map[string]dialect.Executor{"exec-a": {Phase: corev1.PodRunning, Gone: true}}
	if diff := cmp.Diff(want, gathered(r)); diff != "" {
		t.Errorf("executors (-want +got):\n%s", diff)
	}
	clock.SetTime(start.Add(rememberGoneFor))
	r.Update(nil, anExecutor("other").Of("team-a", "other").Obj())
	if got := gathered(r); len(got) > 0 || len(r.removals) > 0 || len(r.executors) != 1 || len(r.changed) != 1 {
		t.Errorf("%v is still known, %v, %v", got, r.removals, r.executors)
	}
}

// A name may come again, in a StatefulSet.
func TestGatherKeepsAnExecutorThatReplacesADeletedOne(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(start)
	r := NewDetails(clock)
	r.Update(nil, anExecutor("a").Obj())
	r.Update(anExecutor("a").Obj(), nil)
	r.Update(nil, anExecutor("b").Named("exec-a").Ready().Obj())
	if r.Update(anExecutor("a").Obj(), nil) {
		t.Error("the end of one that was replaced is news")
	}
	clock.SetTime(start.Add(rememberGoneFor))
	r.Update(nil, anExecutor("c").Obj())
	if got := gathered(r)["exec-a"]; got.Gone || got.Phase != corev1.PodRunning {
		t.Errorf("it is %+v", got)
	}
}

func TestGatherEndsWithTheApplication(t *testing.T) {
	r := NewDetails(clocktesting.NewFakePassiveClock(start))
	r.Collect(application("uid-of-pi"), firstLaunch, start, true)
	r.Forget("uid-of-pi")
	if len(r.collections) > 0 {
		t.Errorf("%d are kept", len(r.collections))
	}
}

// What one executor's news costs must not depend on how many there are.
func BenchmarkExecutorDetails(b *testing.B) {
	for _, count := range []int{10, 10_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			r := NewDetails(clocktesting.NewFakePassiveClock(start))
			for n := range count {
				r.Update(nil, anExecutor(types.UID(fmt.Sprint(n))).Obj())
			}
			pending, running := anExecutor("0").Phase(corev1.PodPending).Obj(), anExecutor("0").Ready().Obj()
			for n := range b.N {
				if n%2 == 0 {
					pending, running = running, pending
				}
				r.Update(pending, running)
			}
		})
	}
}
