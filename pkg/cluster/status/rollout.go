package status

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
)

// Rollout says how far the Pods of StatefulSets are as those have them.
type Rollout struct {
	UpToDate        bool
	Reason, Message string
}

// RolloutOf tells of the first of the StatefulSets whose Pods are not as it has them; of none, where all are.
func RolloutOf(sets ...*appsv1.StatefulSet) Rollout {
	done := Rollout{UpToDate: true, Reason: "UpToDate", Message: "All Pods are as the spec asks for."}
	for _, set := range sets {
		rollout := rolloutOf(set)
		if !rollout.UpToDate {
			return rollout
		}
		if rollout.Message != "" {
			done.Message = rollout.Message
		}
	}
	return done
}

// rolloutOf counts Pods as kubectl rollout status does, but for those that are not ready yet: that is another condition.
func rolloutOf(set *appsv1.StatefulSet) Rollout {
	status, strategy := set.Status, set.Spec.UpdateStrategy
	var partition int32
	if rolling := strategy.RollingUpdate; rolling != nil {
		partition = ptr.Deref(rolling.Partition, 0)
	}
	old := status.Replicas - status.UpdatedReplicas
	switch {
	case set.Annotations[resources.TakenOverAnnotation] != "":
		return Rollout{Reason: "TakenOver", Message: fmt.Sprintf(
			"StatefulSet %s is as it was taken over. It becomes what the spec asks for with the next edit of the spec.", set.Name)}
	case status.ObservedGeneration < set.Generation:
		return rollingOut
	case strategy.Type == appsv1.OnDeleteStatefulSetStrategyType && old > 0:
		return Rollout{Reason: "AwaitsDeletionOfPods", Message: fmt.Sprintf(
			"%d Pods of StatefulSet %s are as an earlier spec asked for until somebody deletes them, since its updateStrategy is OnDelete.", old, set.Name)}
	case strategy.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return Rollout{UpToDate: true}
	case partition > 0 && status.UpdatedReplicas < ptr.Deref(set.Spec.Replicas, 1)-partition:
		return rollingOut
	case partition > 0 && old > 0:
		return Rollout{UpToDate: true, Message: fmt.Sprintf(
			"All Pods are as the spec asks for, but for %d of StatefulSet %s that the partition of its updateStrategy keeps.", old, set.Name)}
	case partition == 0 && status.CurrentRevision != status.UpdateRevision:
		return rollingOut
	default:
		return Rollout{UpToDate: true}
	}
}

var rollingOut = Rollout{Reason: "RollingOut", Message: "Pods are being replaced by such as the spec asks for."}
