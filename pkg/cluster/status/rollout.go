package status

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
)

// Rollout reports whether the Pods of StatefulSets match their templates.
type Rollout struct {
	UpToDate        bool
	Reason, Message string
}

// RolloutOf reports on the first StatefulSet whose Pods do not match its template. If all match, it is up to date.
func RolloutOf(sets ...*appsv1.StatefulSet) Rollout {
	done := Rollout{UpToDate: true, Reason: "UpToDate", Message: "All Pods match the spec."}
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

// rolloutOf counts Pods as kubectl rollout status does. Pods that are not ready count: that is another condition.
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
			"StatefulSet %s is unchanged since it was taken over. The next edit of the spec updates it.", set.Name)}
	case status.ObservedGeneration < set.Generation:
		return rollingOut
	case strategy.Type == appsv1.OnDeleteStatefulSetStrategyType && old > 0:
		return Rollout{Reason: "AwaitsDeletionOfPods", Message: fmt.Sprintf(
			"%d Pods of StatefulSet %s match an earlier spec: its updateStrategy is OnDelete. Delete these Pods to update them.", old, set.Name)}
	case strategy.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return Rollout{UpToDate: true}
	case partition > 0 && status.UpdatedReplicas < ptr.Deref(set.Spec.Replicas, 1)-partition:
		return rollingOut
	case partition > 0 && old > 0:
		return Rollout{UpToDate: true, Message: fmt.Sprintf(
			"All Pods match the spec, except %d of StatefulSet %s: the partition of its updateStrategy keeps them.", old, set.Name)}
	case partition == 0 && status.CurrentRevision != status.UpdateRevision:
		return rollingOut
	default:
		return Rollout{UpToDate: true}
	}
}

var rollingOut = Rollout{Reason: "RollingOut", Message: "Pods are being replaced by Pods that match the spec."}
