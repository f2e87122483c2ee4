package usage_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/usage"
)

var start = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

func after(seconds int64) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func at(seconds int64) int64 { return after(seconds).Unix() }

func condition(kind corev1.PodConditionType, status corev1.ConditionStatus, seconds int64) corev1.PodCondition {
	return corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(after(seconds))}
}

func ended(seconds int64) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(after(seconds))},
	}}
}

func running() corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func TestTimesOfPods(t *testing.T) {
	scheduled := []corev1.PodCondition{condition(corev1.PodScheduled, corev1.ConditionTrue, 1)}
	for name, test := range map[string]struct {
		status  corev1.PodStatus
		deleted int64
		want    usage.Pod
	}{
		"of one that waits for a node": {
			status: corev1.PodStatus{
				Phase: corev1.PodPending, Conditions: []corev1.PodCondition{condition(corev1.PodScheduled, corev1.ConditionFalse, 1)},
			},
		},
		"of one that never had a node and failed": {status: corev1.PodStatus{Phase: corev1.PodFailed}},
		"of one that runs": {
			status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: scheduled, ContainerStatuses: []corev1.ContainerStatus{running()}},
			want:   usage.Pod{Scheduled: at(1)},
		},
		"of one that ended: until its last container": {
			status: corev1.PodStatus{
				Phase: corev1.PodFailed, Conditions: append(scheduled, condition(corev1.PodReady, corev1.ConditionFalse, 90)),
				ContainerStatuses: []corev1.ContainerStatus{ended(9), ended(7)},
			},
			want: usage.Pod{Scheduled: at(1), Ended: at(9)},
		},
		"of one with a native sidecar that ended last": {
			status: corev1.PodStatus{
				Phase: corev1.PodSucceeded, Conditions: scheduled, ContainerStatuses: []corev1.ContainerStatus{ended(9)},
				InitContainerStatuses: []corev1.ContainerStatus{ended(2), ended(12)},
			},
			want: usage.Pod{Scheduled: at(1), Ended: at(12)},
		},
		"of one with a native sidecar that runs": {
			status: corev1.PodStatus{
				Phase: corev1.PodRunning, Conditions: scheduled, ContainerStatuses: []corev1.ContainerStatus{ended(9)},
				InitContainerStatuses: []corev1.ContainerStatus{running()},
			},
			want: usage.Pod{Scheduled: at(1)},
		},
		"of one whose containers ended before its phase says so": {
			status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: scheduled, ContainerStatuses: []corev1.ContainerStatus{ended(9)}},
			want:   usage.Pod{Scheduled: at(1), Finished: at(9)},
		},
		"of one that the cluster gave up: until its last news": {
			status: corev1.PodStatus{
				Phase: corev1.PodFailed, Conditions: append(scheduled, condition(corev1.DisruptionTarget, corev1.ConditionTrue, 60)),
				ContainerStatuses: []corev1.ContainerStatus{running()},
			},
			want: usage.Pod{Scheduled: at(1), Ended: at(60)},
		},
		"of one that is deleted: when that was accepted": {
			status:  corev1.PodStatus{Phase: corev1.PodRunning, Conditions: scheduled, ContainerStatuses: []corev1.ContainerStatus{running()}},
			deleted: 40,
			want:    usage.Pod{Scheduled: at(1), Deleted: at(40)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: test.status}
			if test.deleted != 0 {
				pod.DeletionTimestamp = ptr.To(metav1.NewTime(after(test.deleted + 30)))
				pod.DeletionGracePeriodSeconds = ptr.To[int64](30)
			}
			if diff := cmp.Diff(test.want, usage.Of(pod)); diff != "" {
				t.Errorf("times (-want +got):\n%s", diff)
			}
		})
	}
}

func requests(pairs ...string) corev1.ResourceRequirements {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return corev1.ResourceRequirements{Requests: list}
}

func TestRequestsOfPods(t *testing.T) {
	for name, test := range map[string]struct {
		spec corev1.PodSpec
		want usage.Requests
	}{
		"are none of one that requests nothing": {},
		"are those of all containers, in MiB that are begun": {
			spec: corev1.PodSpec{Containers: []corev1.Container{
				{Resources: requests("cpu", "1500m", "memory", "1Gi")}, {Resources: requests("cpu", "1", "memory", "1")},
			}},
			want: usage.Requests{MilliCPU: 2500, Mebibytes: 1025},
		},
		"are those of a native sidecar, too": {
			spec: corev1.PodSpec{
				InitContainers: []corev1.Container{{RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), Resources: requests("cpu", "1")}},
				Containers:     []corev1.Container{{Resources: requests("cpu", "1")}},
			},
			want: usage.Requests{MilliCPU: 2000},
		},
		"are those of an init container that asks for more": {
			spec: corev1.PodSpec{
				InitContainers: []corev1.Container{{Resources: requests("memory", "2Gi")}},
				Containers:     []corev1.Container{{Resources: requests("cpu", "1", "memory", "1Gi")}},
			},
			want: usage.Requests{MilliCPU: 1000, Mebibytes: 2048},
		},
		"have the GPUs of all vendors": {
			spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: requests(
				"nvidia.com/gpu", "2", "nvidia.com/mig-1g.5gb", "1", "gpu.intel.com/xe", "1", "nvidia.com/gpu.shared", "1", "example.com/fpga", "9",
			)}}},
			want: usage.Requests{GPUs: 5},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := usage.RequestsOf(&corev1.Pod{Spec: test.spec})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if again := usage.RequestsOf(&corev1.Pod{Spec: corev1.PodSpec{Resources: got.As()}}); again != got {
				t.Errorf("of a Pod that has them: %+v", again)
			}
		})
	}
}
