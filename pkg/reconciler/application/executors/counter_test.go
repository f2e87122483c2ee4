package executors

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// executorBuilder builds an executor Pod of the application pi-0 in team-a, owned by the Pod driver-0.
type executorBuilder struct{ pod corev1.Pod }

func anExecutor(uid types.UID) *executorBuilder {
	e := &executorBuilder{}
	e.pod.Namespace, e.pod.Name, e.pod.UID = "team-a", "exec-"+string(uid), uid
	e.pod.Labels = map[string]string{submission.LabelApplicationID: "pi-0"}
	e.pod.CreationTimestamp = metav1.NewTime(start)
	return e.OwnedBy("Pod", "driver-0")
}

func (e *executorBuilder) OwnedBy(kind string, uid types.UID) *executorBuilder {
	isController := true
	e.pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: string(uid), UID: uid, Controller: &isController}}
	return e
}

func (e *executorBuilder) Alone() *executorBuilder {
	e.pod.OwnerReferences = nil
	return e
}

func (e *executorBuilder) Of(namespace, application string) *executorBuilder {
	e.pod.Namespace, e.pod.Labels = namespace, map[string]string{submission.LabelApplicationID: application}
	return e
}

func (e *executorBuilder) Created(at time.Time) *executorBuilder {
	e.pod.CreationTimestamp = metav1.NewTime(at)
	return e
}

func (e *executorBuilder) Ready() *executorBuilder {
	e.pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	return e
}

func (e *executorBuilder) In(phase corev1.PodPhase, ready corev1.ConditionStatus) *executorBuilder {
	e.pod.Status = corev1.PodStatus{Phase: phase, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}}
	return e
}

func (e *executorBuilder) Obj() *Pod {
	kept, _ := Strip(e.pod.DeepCopy())
	return kept.(*Pod)
}

var firstLaunch = &v1alpha1.Launch{ApplicationID: "pi-0", DriverUID: "driver-0"}

func driverCreated(at time.Time) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "driver-0", CreationTimestamp: metav1.NewTime(at)}}
}

func TestCounterCountsExecutorsOfTheApplication(t *testing.T) {
	for name, test := range map[string]struct {
		pod  *executorBuilder
		want int
	}{
		"one that runs and is ready":                    {anExecutor("a").Ready(), 1},
		"one that is pending":                           {anExecutor("a").In(corev1.PodPending, corev1.ConditionFalse), 0},
		"one that runs and is not ready":                {anExecutor("a").In(corev1.PodRunning, corev1.ConditionFalse), 0},
		"one that has ended":                            {anExecutor("a").In(corev1.PodSucceeded, corev1.ConditionTrue), 0},
		"one without a status":                          {anExecutor("a"), 0},
		"another driver's of the same application id":   {anExecutor("a").OwnedBy("Pod", "driver-1").Ready(), 0},
		"another application's":                         {anExecutor("a").Of("team-a", "pi-1").OwnedBy("Pod", "other").Ready(), 0},
		"another namespace's":                           {anExecutor("a").Of("team-b", "pi-0").OwnedBy("Pod", "other").Ready(), 0},
		"one that a StatefulSet made":                   {anExecutor("a").OwnedBy("StatefulSet", "set").Ready(), 1},
		"one that a Deployment made":                    {anExecutor("a").OwnedBy("ReplicaSet", "set").Ready(), 1},
		"one without an owner":                          {anExecutor("a").Alone().Ready(), 1},
		"one that an earlier attempt's StatefulSet has": {anExecutor("a").OwnedBy("StatefulSet", "set").Created(start.Add(-time.Second)).Ready(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := NewCounter()
			e.Update(nil, test.pod.Obj())
			if got := e.Count("team-a", firstLaunch, driverCreated(start)); got != test.want {
				t.Errorf("%d executors count, want %d", got, test.want)
			}
		})
	}
}

func TestCounterFollowsCreatedAndDeletedExecutors(t *testing.T) {
	e := NewCounter()
	ready, pending := anExecutor("a").Ready().Obj(), anExecutor("a").In(corev1.PodPending, corev1.ConditionFalse).Obj()
	other := anExecutor("b").Ready().Obj()
	for i, step := range []struct {
		before, after *Pod
		news          bool
		want, live    int
	}{
		{nil, pending, false, 0, 1},
		{pending, ready, true, 1, 1},
		{ready, ready, false, 1, 1},
		{nil, ready, false, 1, 1}, // told once more, after the watch began anew
		{nil, other, true, 2, 2},
		{ready, pending, true, 1, 2},
		{pending, nil, false, 1, 1},
		{other, anExecutor("c").Ready().Obj(), true, 1, 1}, // of the same name, and another Pod
		{anExecutor("c").Ready().Obj(), nil, true, 0, 0},
		{anExecutor("c").Ready().Obj(), nil, false, 0, 0},
		{pending, ready, true, 1, 1},
		{ready, anExecutor("a").Ready().Of("team-a", "pi-1").Obj(), true, 0, 0}, // its labels were changed
		{anExecutor("a").Ready().Of("team-a", "pi-1").Obj(), ready, true, 1, 1},
		{pending, nil, true, 0, 0}, // as it last was, which was not reported
		{nil, anExecutor("d").OwnedBy("StatefulSet", "set").Ready().Obj(), true, 1, 1},
		{anExecutor("d").OwnedBy("StatefulSet", "set").Ready().Obj(), nil, true, 0, 0},
	} {
		if news, _ := e.Update(step.before, step.after); news != step.news {
			t.Errorf("step %d is news: %t, want %t", i, news, step.news)
		}
		if got := e.Count("team-a", firstLaunch, driverCreated(start)); got != step.want {
			t.Errorf("after step %d there are %d, want %d", i, got, step.want)
		}
		if got := e.CountLive("team-a", firstLaunch, driverCreated(start)); got != step.live {
			t.Errorf("after step %d, %d have not ended, want %d", i, got, step.live)
		}
	}
	if len(e.counted)+len(e.groups)+len(e.allocators) > 0 {
		t.Errorf("executors that are gone are remembered: %v, %v, %v", e.counted, e.groups, e.allocators)
	}
}

func TestCounterReportsExecutorsThatAreCreatedAndThatEnd(t *testing.T) {
	e := NewCounter()
	pending := anExecutor("a").In(corev1.PodPending, corev1.ConditionFalse).Obj()
	ready, ended := anExecutor("a").Ready().Obj(), anExecutor("a").In(corev1.PodSucceeded, corev1.ConditionFalse).Obj()
	for i, step := range []struct {
		before, after *Pod
		want          bool
	}{{nil, pending, true}, {pending, ready, false}, {ready, ended, true}, {ended, nil, false}} {
		if _, got := e.Update(step.before, step.after); got != step.want {
			t.Errorf("step %d changes how many there are: %t", i, got)
		}
	}
}

func TestAThousandExecutorsAreOneGroup(t *testing.T) {
	e := NewCounter()
	for i := range 1000 {
		e.Update(nil, anExecutor(types.UID(fmt.Sprint(i))).Ready().Obj())
		if groups := len(e.groups); groups != 1 {
			t.Fatalf("%d executors are %d groups", i+1, groups)
		}
	}
	if got := e.Count("team-a", firstLaunch, driverCreated(start)); got != 1000 {
		t.Errorf("there are %d executors", got)
	}
}

func TestStripKeepsTheFieldsOfAnExecutorThatAreRead(t *testing.T) {
	e := anExecutor("a").Ready().Exited(submission.DefaultExecutorContainer, 7)
	e.pod.Labels[submission.LabelExecutorID], e.pod.ResourceVersion = "12", "5"
	e.pod.Annotations, e.pod.Spec.NodeName, e.pod.Status.PodIP = map[string]string{"large": "text"}, "n", "10.0.0.1"
	code := int32(7)
	want := &Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: "exec-a", UID: "a", ResourceVersion: "5", CreationTimestamp: metav1.NewTime(start),
		},
		applicationID: "pi-0", owner: "driver-0", ofPod: true, ready: true,
		details: dialect.Executor{ID: "12", Phase: corev1.PodRunning, ExitCode: &code, Reason: "Error"},
	}
	if diff := cmp.Diff(want, e.Obj(), cmp.AllowUnexported(Pod{})); diff != "" {
		t.Errorf("it is (-want +got):\n%s", diff)
	}
	again, err := Strip(want)
	if err != nil || again != any(want) {
		t.Errorf("what is kept of it is %v, %v", again, err)
	}
}

func TestADriverThatIsLabelledAsAnExecutorIsNone(t *testing.T) {
	pod := anExecutor("a").OwnedBy("SparkApplication", "uid-of-pi").Obj()
	if executor := pod.executor(); executor != nil {
		t.Errorf("it is taken for executor %v", executor)
	}
}
