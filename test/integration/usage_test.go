package integration

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/pkg/usage"
	"github.com/firesteel-dev/firesteel/test/harness/eventlog"
	"github.com/firesteel-dev/firesteel/test/harness/kubelet"
)

// usagePods are Pods whose times the test sets, in seconds after a begin an hour ago.
type usagePods struct {
	*env
	begin time.Time
}

func (u usagePods) at(seconds int64) metav1.Time {
	return metav1.NewTime(u.begin.Add(time.Duration(seconds) * time.Second))
}

// executor creates an executor of a driver that got its node at a second, and runs.
func (u usagePods) executor(d *driver, id string, scheduled int64) *driver {
	u.Helper()
	application := d.Labels["spark-app-selector"]
	pod, err := u.Kube.CoreV1().Pods(u.ns).Create(u.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            application + "-exec-" + id,
			OwnerReferences: []metav1.OwnerReference{submission.OwnedBy(d.Pod)},
			Labels: map[string]string{
				"spark-role": "executor", "spark-app-selector": application, apache.LabelOperator: apache.OperatorName, submission.LabelExecutorID: id,
			},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "spark-kubernetes-executor", Image: "spark", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("1500m"), corev1.ResourceMemory: resource.MustParse("1408Mi"),
			}},
		}}},
	}, metav1.CreateOptions{})
	u.must(err)
	executor := &driver{Pod: pod, env: u.env}
	return executor.start().set(func(status *corev1.PodStatus) { u.schedule(status, scheduled) })
}

// schedule sets when a Pod got its node.
func (u usagePods) schedule(status *corev1.PodStatus, seconds int64) {
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: u.at(seconds)}
	isScheduled := func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled }
	status.Conditions = append(slices.DeleteFunc(status.Conditions, isScheduled), scheduled)
}

// end has a Pod end at a second.
func (u usagePods) end(pod *driver, code int32, seconds int64) {
	u.Helper()
	pod.set(func(status *corev1.PodStatus) {
		kubelet.Ended(status, code)
		for i := range status.ContainerStatuses {
			status.ContainerStatuses[i].State.Terminated.FinishedAt = u.at(seconds)
		}
	})
}

// removal watches a Pod, and returns a function that waits for its deletion and returns the Pod as it was last.
func (u usagePods) removal(pod *driver) func() *corev1.Pod {
	u.Helper()
	watched, err := u.Kube.CoreV1().Pods(u.ns).Watch(u.Context(), metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, pod.Name).String(),
	})
	u.must(err)
	u.Cleanup(watched.Stop)
	return func() *corev1.Pod {
		u.Helper()
		for {
			select {
			case event, ok := <-watched.ResultChan():
				if !ok {
					u.Fatal("the watch ended")
				}
				if event.Type == watch.Deleted {
					return event.Object.(*corev1.Pod)
				}
			case <-time.After(timeout):
				u.Fatalf("%s was not deleted", pod.Name)
			}
		}
	}
}

// remove deletes a Pod whose containers are not reported to have ended, as that of a lost node. It returns the Pod as it was last.
func (u usagePods) remove(pod *driver) *corev1.Pod {
	u.Helper()
	removed := u.removal(pod)
	u.must(u.Kube.CoreV1().Pods(u.ns).Delete(u.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}))
	return removed()
}

func usedBy(pod *corev1.Pod, seconds int64) *v1alpha1.PodUsage {
	requests := usage.RequestsOf(pod)
	return &v1alpha1.PodUsage{
		Seconds: seconds, CoreMilliseconds: seconds * requests.MilliCPU, MebibyteSeconds: seconds * requests.Mebibytes,
	}
}

// Two attempts, and a controller that is killed: what they used is that of the Pods' times. Of the executor that vanished while no controller
// ran, it is what was known, and a gap says so.
func TestUsageIsExactToTheSecond(t *testing.T) {
	alone(t)
	s := newEnv(t)
	u := usagePods{s, time.Now().Add(-time.Hour).Truncate(time.Second)}
	process := s.ownController(controller{sink: s.sink.URL()})
	app := s.create(App("pi").Executors(1, 1, 1).Restart(sparkv1.RestartOnFailure, 1, 0))
	d := s.runUnto("DriverReady", "pi", 0)
	d.set(func(status *corev1.PodStatus) { u.schedule(status, 0) })
	vanishes := u.executor(d, "1", 20)
	ends := u.executor(d, "2", 10)
	ends.ready()
	s.untilState("pi", "RunningHealthy")
	process.Kill()
	counted := s.get("pi").Status.Firesteel.Usage.Attempts[0]
	if counted.RunningExecutors != "1-2" {
		t.Errorf("executors %q run", counted.RunningExecutors)
	}

	u.remove(vanishes)
	u.end(ends, 0, 200)
	outlives := u.executor(d, "3", 30)
	removed := u.removal(outlives)
	s.ownController(controller{sink: s.sink.URL()})
	u.end(d, 1, 300)
	outlived := removed() // with its driver

	d2 := s.runUnto("DriverReady", "pi", 1)
	d2.set(func(status *corev1.PodStatus) { u.schedule(status, 500) })
	lost := u.executor(d2, "1", 510)
	second := u.executor(d2, "2", 520).ready()
	s.untilState("pi", "RunningHealthy")
	last := u.remove(lost)
	u.end(second, 0, 900)
	u.end(d2, 0, 1000)

	end := s.untilState("pi", "ResourceReleased").Status.Firesteel
	seconds := counted.CountedAt.Unix() - u.at(20).Unix() + (200 - 10) + outlived.DeletionTimestamp.Unix() - u.at(30).Unix() +
		last.DeletionTimestamp.Unix() - u.at(510).Unix() + (900 - 520)
	got := end.Usage.Total.DeepCopy()
	if got.GapSeconds == 0 || got.GapSeconds > int64(timeout.Seconds()) {
		t.Errorf("the gap is %d s", got.GapSeconds)
	}
	got.GapSeconds = 0
	want := &v1alpha1.Usage{Driver: usedBy(d.Pod, 300+500), Executors: usedBy(last, seconds), PeakExecutors: 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	for _, transition := range end.Transitions {
		if transition.Outcome != "" && !cmp.Equal(transition.Usage, &end.Usage.Total) {
			t.Errorf("the application ended with the usage %+v", transition.Usage)
		}
		if transition.End != nil && transition.Attempt == 1 && !cmp.Equal(transition.Usage.Driver, usedBy(d.Pod, 500)) {
			t.Errorf("the attempt ended with the usage %+v", transition.Usage)
		}
	}
	for _, part := range []string{`"usage":{"driver":{"seconds":300,`, `"usage":{"driver":{"seconds":500,`, `"usage":{"driver":{"seconds":800,`} {
		s.untilDelivered("an event with "+part, func(heard []eventlog.Entry) bool {
			return slices.ContainsFunc(firstAccepted(heard, app), func(event eventlog.Entry) bool { return strings.Contains(event.Body, part) })
		})
	}
}
