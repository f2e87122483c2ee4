package executors

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

var firstAttempt = v1alpha1.AttemptUsage{ApplicationID: "pi-0", DriverUID: "driver-0"}

// Numbered gives an executor Spark's number, a node, and the requests of a Pod.
func (e *executorBuilder) Numbered(id string) *executorBuilder {
	e.pod.Labels[submission.LabelExecutorID] = id
	e.pod.Status.Conditions = append(e.pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(start),
	})
	return e
}

func (e *executorBuilder) Deleted(at time.Time) *executorBuilder {
	e.pod.DeletionTimestamp = &metav1.Time{Time: at}
	return e
}

func (e *executorBuilder) Ended(at time.Time) *executorBuilder {
	e.pod.Status.Phase = corev1.PodSucceeded
	e.pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(at)}},
	}}
	return e
}

// counting are applications that count all executors.
type counting struct {
	Applications
	foreign, over bool
}

func (c counting) CountsUsage(*Pod) bool { return !c.foreign }

func (c counting) WritesUsage(*Pod) bool { return !c.over }

var counts = counting{}

func usageOfFirstAttempt(u *Usage) []usage.Executor {
	executors, _ := u.Of("team-a", firstAttempt)
	return executors
}

func usedExecutor(id, ended, gap int64) usage.Executor {
	return usage.Executor{ID: id, Pod: usage.Pod{Scheduled: start.Unix(), Ended: ended}, Gap: gap}
}

func TestUsageOfExecutors(t *testing.T) {
	end := start.Add(time.Minute)
	for name, test := range map[string]struct {
		last, foreign bool
		pod           *executorBuilder
		want          []usage.Executor
	}{
		"of one that runs":                {pod: anExecutor("a").Numbered("1"), want: []usage.Executor{usedExecutor(1, 0, 0)}},
		"of one that ended":               {pod: anExecutor("a").Numbered("1").Ended(end), want: []usage.Executor{usedExecutor(1, end.Unix(), 0)}},
		"of one that ended and is gone":   {pod: anExecutor("a").Numbered("1").Ended(end), last: true, want: []usage.Executor{usedExecutor(1, end.Unix(), 0)}},
		"of another driver":               {pod: anExecutor("a").OwnedBy("Pod", "driver-1").Numbered("1")},
		"of one that no application has":  {pod: anExecutor("a").Numbered("1").Ended(end), last: true, foreign: true},
		"of one that was gone unreported": {pod: anExecutor("a").Numbered("1"), last: true, want: []usage.Executor{usedExecutor(1, start.Unix(), 3600)}},
		"of one that was deleted": {
			pod: anExecutor("a").Numbered("1").Deleted(end), last: true,
			want: []usage.Executor{{ID: 1, Gap: 59 * 60, Pod: usage.Pod{Scheduled: start.Unix(), Ended: end.Unix(), Deleted: end.Unix()}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(start)
			u := NewUsage(clock)
			u.Update(nil, test.pod.Obj(), counts)
			if test.last {
				clock.SetTime(start.Add(time.Hour))
				u.Update(test.pod.Obj(), nil, counting{foreign: test.foreign})
			}
			if diff := cmp.Diff(test.want, usageOfFirstAttempt(u), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("executors (-want +got):\n%s", diff)
			}
			if test.foreign && len(u.attempts) > 0 {
				t.Errorf("%d attempts are remembered", len(u.attempts))
			}
		})
	}
}

func TestUsageForgetsGoneExecutorsThatAreCounted(t *testing.T) {
	u := NewUsage(clocktesting.NewFakePassiveClock(start.Add(time.Minute)))
	for id := range 3 {
		pod := anExecutor(types.UID(fmt.Sprint(id))).Numbered(fmt.Sprint(id)).Ended(start)
		u.Update(nil, pod.Obj(), counts)
		u.Update(pod.Obj(), nil, counts)
	}
	counted := firstAttempt
	counted.EndedExecutors = "0-1"
	u.ForgetCounted("team-a", &v1alpha1.ApplicationUsage{Attempts: []v1alpha1.AttemptUsage{counted}})
	if got := usageOfFirstAttempt(u); len(got) != 1 || got[0].ID != 2 {
		t.Errorf("it has %+v", got)
	}
	u.Forget("team-a", &v1alpha1.ApplicationUsage{Attempts: []v1alpha1.AttemptUsage{counted}})
	if len(u.attempts) > 0 {
		t.Errorf("after the application it has %+v", u.attempts)
	}
}

func TestUsageOfTooManyGoneExecutorsIsAGap(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(start)
	u := NewUsage(clock)
	for id := range maxGone + 1 {
		clock.SetTime(start.Add(time.Duration(id) * time.Second))
		pod := anExecutor(types.UID(fmt.Sprint(id))).Numbered(fmt.Sprint(id)).Ended(start)
		u.Update(nil, pod.Obj(), counts)
		u.Update(pod.Obj(), nil, counts)
	}
	executors, since := u.Of("team-a", firstAttempt)
	if len(executors) != maxGone || !since.Equal(start.Add(maxGone*time.Second)) {
		t.Errorf("it has %d executors since %s", len(executors), since)
	}
}

// What vanishes of an application that is over is not written any more: it takes no memory, and is a gap if the application runs again after all.
func TestUsageOfAnApplicationThatIsOverIsForgotten(t *testing.T) {
	stored := &v1alpha1.ApplicationUsage{Attempts: []v1alpha1.AttemptUsage{firstAttempt}}
	for name, over := range map[string]func(u *Usage, pod *Pod){
		"before the Pod vanishes": func(u *Usage, pod *Pod) { u.Update(pod, nil, counting{over: true}) },
		"after the Pod vanished": func(u *Usage, pod *Pod) {
			u.Update(pod, nil, counts)
			u.ForgetOfEnded("team-a", stored)
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := NewUsage(clocktesting.NewFakePassiveClock(start.Add(time.Hour)))
			pod := anExecutor("1").Numbered("1").Obj()
			u.Update(nil, pod, counts)
			over(u, pod)
			executors, since := u.Of("team-a", firstAttempt)
			if len(executors) > 0 || !since.Equal(start.Add(time.Hour)) {
				t.Errorf("it holds %+v since %s", executors, since)
			}
			u.Forget("team-a", stored)
			if len(u.attempts) > 0 {
				t.Errorf("it holds %+v", u.attempts)
			}
		})
	}
}
