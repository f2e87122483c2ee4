package status

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
)

// RolloutOf explains whether the Pods of StatefulSets match their templates. It is about the first StatefulSet whose Pods do not match.
func RolloutOf(sets ...*appsv1.StatefulSet) diagnosis.Explanation {
	done := diagnosis.UpToDate()
	for _, set := range sets {
		explanation := rolloutOf(set)
		if explanation.Status != metav1.ConditionTrue {
			return explanation
		}
		if explanation != diagnosis.UpToDate() {
			done = explanation
		}
	}
	return done
}

// rolloutOf counts Pods as kubectl rollout status does. Pods that are not ready count: that is another condition.
func rolloutOf(set *appsv1.StatefulSet) diagnosis.Explanation {
	status, strategy := set.Status, set.Spec.UpdateStrategy
	var partition int32
	if rolling := strategy.RollingUpdate; rolling != nil {
		partition = ptr.Deref(rolling.Partition, 0)
	}
	old := status.Replicas - status.UpdatedReplicas
	switch {
	case set.Annotations[resources.TakenOverAnnotation] != "":
		return diagnosis.TakenOver(set.Name)
	case status.ObservedGeneration < set.Generation:
		return diagnosis.RollingOut()
	case strategy.Type == appsv1.OnDeleteStatefulSetStrategyType && old > 0:
		return diagnosis.AwaitsDeletionOfPods(old, set.Name)
	case strategy.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return diagnosis.UpToDate()
	case partition > 0 && status.UpdatedReplicas < ptr.Deref(set.Spec.Replicas, 1)-partition:
		return diagnosis.RollingOut()
	case partition > 0 && old > 0:
		return diagnosis.UpToDateButPartition(old, set.Name)
	case partition == 0 && status.CurrentRevision != status.UpdateRevision:
		return diagnosis.RollingOut()
	default:
		return diagnosis.UpToDate()
	}
}
