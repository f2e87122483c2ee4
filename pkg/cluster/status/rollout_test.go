package status_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	. "github.com/firesteel-dev/firesteel/pkg/cluster/status"
)

func TestRollout(t *testing.T) {
	plain := appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType}
	onDelete := appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}
	partition := plain
	partition.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](2)}
	status := func(updated int32, revision string) appsv1.StatefulSetStatus {
		return appsv1.StatefulSetStatus{
			ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: updated, CurrentRevision: "old", UpdateRevision: revision,
		}
	}
	for name, test := range map[string]struct {
		strategy   appsv1.StatefulSetUpdateStrategy
		status     appsv1.StatefulSetStatus
		annotation string

		want    string // the reason; empty where it is up to date
		message string // part of it
	}{
		"nothing to do":                            {strategy: plain, status: status(3, "old"), message: "All Pods are as the spec asks for."},
		"an edit that nobody has seen":             {strategy: plain, status: appsv1.StatefulSetStatus{ObservedGeneration: 1}, want: "RollingOut"},
		"some are replaced":                        {strategy: plain, status: status(1, "new"), want: "RollingOut"},
		"the last is not ready":                    {strategy: plain, status: status(3, "new"), want: "RollingOut"},
		"Pods to be deleted by somebody":           {strategy: onDelete, status: status(1, "new"), want: "AwaitsDeletionOfPods", message: "2 Pods of StatefulSet c-worker"},
		"all were deleted by somebody":             {strategy: onDelete, status: status(3, "new"), message: "All Pods are as the spec asks for."},
		"those beyond the partition are not yet":   {strategy: partition, status: status(0, "new"), want: "RollingOut"},
		"those beyond the partition are, that are": {strategy: partition, status: status(1, "new"), message: "but for 2 of StatefulSet c-worker that the partition"},
		"all are, beyond the partition or not":     {strategy: partition, status: status(3, "new"), message: "All Pods are as the spec asks for."},
		"taken over":                               {strategy: plain, status: status(3, "old"), annotation: "true", want: "TakenOver", message: "StatefulSet c-worker is as it was taken over"},
	} {
		t.Run(name, func(t *testing.T) {
			well := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "c-master"}}
			got := RolloutOf(well, &appsv1.StatefulSet{
				ObjectMeta: metav1.ObjectMeta{Name: "c-worker", Generation: 2, Annotations: map[string]string{"firesteel.dev/taken-over": test.annotation}},
				Spec:       appsv1.StatefulSetSpec{Replicas: ptr.To[int32](3), UpdateStrategy: test.strategy}, Status: test.status,
			})
			if got.UpToDate != (test.want == "") || !got.UpToDate && got.Reason != test.want || !strings.Contains(got.Message, test.message) {
				t.Errorf("%+v, want %q", got, test.want)
			}
		})
	}
}
