package status_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	. "github.com/firesteel-dev/firesteel/pkg/cluster/status"
)

func TestARolloutIsOverWhenAllPodsAreOfTheNewSpec(t *testing.T) {
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

		want    string // the reason; empty if it is up to date
		message string // part of it
	}{
		"nothing to do":                                {strategy: plain, status: status(3, "old"), message: "All Pods match the spec."},
		"an edit that was not observed yet":            {strategy: plain, status: appsv1.StatefulSetStatus{ObservedGeneration: 1}, want: "RollingOut"},
		"some are replaced":                            {strategy: plain, status: status(1, "new"), want: "RollingOut"},
		"the last is not ready":                        {strategy: plain, status: status(3, "new"), want: "RollingOut"},
		"Pods that a user has to delete":               {strategy: onDelete, status: status(1, "new"), want: "AwaitsDeletionOfPods", message: "2 Pods of StatefulSet c-worker"},
		"a user deleted all Pods":                      {strategy: onDelete, status: status(3, "new"), message: "All Pods match the spec."},
		"Pods above the partition are not updated yet": {strategy: partition, status: status(0, "new"), want: "RollingOut"},
		"Pods above the partition are updated":         {strategy: partition, status: status(1, "new"), message: "except 2 of StatefulSet c-worker: the partition"},
		"all Pods are updated, despite the partition":  {strategy: partition, status: status(3, "new"), message: "All Pods match the spec."},
		"taken over":                                   {strategy: plain, status: status(3, "old"), annotation: "true", want: "TakenOver", message: "StatefulSet c-worker is unchanged since it was taken over"},
	} {
		t.Run(name, func(t *testing.T) {
			well := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "c-master"}}
			got := RolloutOf(well, &appsv1.StatefulSet{
				ObjectMeta: metav1.ObjectMeta{Name: "c-worker", Generation: 2, Annotations: map[string]string{"firesteel.dev/taken-over": test.annotation}},
				Spec:       appsv1.StatefulSetSpec{Replicas: ptr.To[int32](3), UpdateStrategy: test.strategy}, Status: test.status,
			})
			upToDate := got.Status == metav1.ConditionTrue
			if upToDate != (test.want == "") || !upToDate && got.Reason != test.want || !strings.Contains(got.Message(), test.message) {
				t.Errorf("%+v, want %q", got, test.want)
			}
		})
	}
}
