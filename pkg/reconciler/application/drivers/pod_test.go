package drivers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/reconciler/application/applicationtest"
	"github.com/firesteel-dev/firesteel/pkg/usage"
)

func TestStripKeepsTheFieldsThatTheLifecycleReads(t *testing.T) {
	for _, api := range applications.All(nil) {
		t.Run(api.Group, func(t *testing.T) {
			kept := metav1.ObjectMeta{
				Namespace: "team-a", Name: "pi-0-driver", UID: "driver", ResourceVersion: "7",
				Labels:            map[string]string{"spark-role": "driver", "spark-app-selector": "pi-0", dialect.LabelLaunch: "first", api.LabelApplication: "pi"},
				Annotations:       map[string]string{"spark.exit-exception": "java.lang.Error: no"},
				OwnerReferences:   []metav1.OwnerReference{{Kind: "SparkApplication", Name: "pi"}},
				DeletionTimestamp: &metav1.Time{Time: applicationtest.Start}, DeletionGracePeriodSeconds: new(int64), Finalizers: []string{"example.com/held"},
			}
			status := corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Ready: true}}}
			pod := &corev1.Pod{ObjectMeta: *kept.DeepCopy(), Spec: corev1.PodSpec{NodeName: "n"}, Status: *status.DeepCopy()}
			requests := usage.Requests{MilliCPU: 500, Mebibytes: 1408}
			pod.Spec.Containers = []corev1.Container{{Resources: *requests.As()}}
			pod.Annotations["large"], pod.Labels["team"] = "text", "a"
			pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
			object, err := Strip(api.API)(pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&corev1.Pod{ObjectMeta: kept, Spec: corev1.PodSpec{NodeName: "n", Resources: requests.As()}, Status: status}, object.(*Pod).AsPod()); diff != "" {
				t.Errorf("Pod (-want +got):\n%s", diff)
			}
		})
	}
}

// A trace has what happened at its top, and why at its bottom.
func TestStripKeepsBothEndsOfAStackTrace(t *testing.T) {
	trace := "java.lang.Error: no\n" + strings.Repeat("\tat frame\n", 6000) + "Caused by: somebody"
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pi-0-driver", Annotations: map[string]string{"spark.exit-exception": trace}}}
	pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "spark-kubernetes-driver", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}},
	}}}
	want := lifecycle.ObserveDriver(pod.DeepCopy(), "").End
	stored, err := Strip(apache.API)(pod)
	if err != nil {
		t.Fatal(err)
	}
	pod = stored.(*Pod).AsPod()
	if kept := len(pod.Annotations["spark.exit-exception"]); kept > maxTrace+16 {
		t.Errorf("%d bytes of the trace are kept", kept)
	}
	if diff := cmp.Diff(want, lifecycle.ObserveDriver(pod, "").End); diff != "" {
		t.Errorf("the end of the driver (-whole trace +kept):\n%s", diff)
	}
}
