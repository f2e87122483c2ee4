package diagnosis

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// The reasons why a cluster is not ready. Its states and the obstacles of its Pods are reasons, too.
const (
	// ReasonMasterNotAsked: the cluster was adopted as running, and no controller has read its master's page yet.
	ReasonMasterNotAsked     = "MasterNotAsked"
	ReasonMasterNotAnswering = "MasterNotAnswering"
	ReasonMasterNotAlive     = "MasterNotAlive"
	ReasonTooFewWorkers      = "TooFewWorkers"
	// ReasonDeleting: the user deleted the cluster, and some of its objects are left.
	ReasonDeleting = "Deleting"
	// ReasonRollingOut: Pods of an earlier spec are being replaced.
	ReasonRollingOut = "RollingOut"
)

// MasterNotAsked explains why it is not known which workers a cluster has.
func MasterNotAsked() Explanation {
	return conditionFalse(ReasonMasterNotAsked, "The master has not been asked yet which workers are registered with it.")
}

// MasterNotAnswering explains why a cluster is not ready: reading the master's page failed with problem.
func MasterNotAnswering(problem string) Explanation {
	explanation := conditionFalse(ReasonMasterNotAnswering, "The master does not answer on its page: "+problem+".")
	explanation.Remedy = "See the log of the master's Pod. If the master runs, let Firesteel's controller reach its page."
	return explanation
}

// MasterNotAlive explains why a cluster is not ready whose master answers.
func MasterNotAlive() Explanation {
	explanation := conditionFalse(ReasonMasterNotAlive, "The master answers and does not lead: it is in standby or recovers.")
	explanation.Remedy = "If it stays so, see the log of the master's Pod."
	return explanation
}

// MasterStartTimedOut explains why a cluster failed: its master never answered within a limit of config-clusters. Its Pods are deleted
// then.
func MasterStartTimedOut(limit time.Duration, problem string) Explanation {
	explanation := conditionFalse("MasterStartTimedOut", fmt.Sprintf("The master has not answered within %s: %s.", limit, problem))
	explanation.Remedy = "Edit the spec to create the cluster anew; while it starts, see the log of the master's Pod."
	return explanation
}

// MasterPageClosed warns that workers are counted in another way, since the master's page does not show them.
func MasterPageClosed(problem string) string {
	return fmt.Sprintf("The master's page does not show which workers are registered: %s. Workers whose Pods are ready are counted instead.", problem)
}

// TooFewWorkers explains why a cluster is not ready. It does not have the present number of workers: each change of it would be a write.
func TooFewWorkers(needed int32) Explanation {
	explanation := conditionFalse(ReasonTooFewWorkers, fmt.Sprintf("Too few workers are registered with the master; needed are %d.", needed))
	explanation.Remedy = "If it stays so, see the logs of the workers' Pods."
	return explanation
}

// ClusterReady explains that a cluster is in the state and ready.
func ClusterReady(state string, needed int32) Explanation {
	return conditionTrue(state, fmt.Sprintf("The master answers, and enough workers are registered with it; needed are %d.", needed))
}

// ClusterStarting explains why a cluster in the state is not ready before its start takes long.
func ClusterStarting(state string) Explanation {
	return conditionFalse(state, "The master and the workers are being started.")
}

// ClusterSuspended explains why nothing of a cluster is created.
func ClusterSuspended() Explanation {
	explanation := conditionFalse(string(lifecycle.HeldSuspended), "spec.suspend holds the creation.")
	explanation.Remedy = "To create the cluster, set it to false."
	return explanation
}

// ClusterDeleting explains what a deleted cluster waits for. left names the objects that are not gone.
func ClusterDeleting(left []string) Explanation {
	return conditionFalse(ReasonDeleting, fmt.Sprintf("The cluster is being deleted. It is removed when these objects are gone: %s.", Objects(left)))
}

// maxObjects bounds the objects that a message names.
const maxObjects = 10

// Objects lists objects by their names.
func Objects(names []string) string {
	listed := strings.Join(names[:min(len(names), maxObjects)], ", ")
	if more := len(names) - maxObjects; more > 0 {
		listed += fmt.Sprintf(" and %d more", more)
	}
	return listed
}

// NotDegraded explains that a cluster in the state has what it needs, or never had it.
func NotDegraded(state string) Explanation {
	return conditionFalse(state, "The cluster has not lost what it needs.")
}

// ClusterReleased explains that nothing of an ended cluster is left.
func ClusterReleased() Explanation {
	return conditionTrue("Released", "No object of the cluster is left.")
}

// ClusterNotReleased explains why objects of a cluster in the state are left. ended reports whether its attempt has ended.
func ClusterNotReleased(state string, ended bool) Explanation {
	if ended {
		return conditionFalse(state, "The objects of the cluster are being deleted.")
	}
	return conditionFalse("InUse", "The cluster has not ended.")
}

// ClusterEnded explains why a cluster is not up to date that has ended in the state.
func ClusterEnded(state string) Explanation { return conditionFalse(state, "The cluster has ended.") }

// ClusterBeingDeleted explains why a deleted cluster is not up to date.
func ClusterBeingDeleted() Explanation {
	return conditionFalse(ReasonDeleting, "The cluster is being deleted.")
}

// ClusterNeverReady explains why a cluster in the state is not up to date.
func ClusterNeverReady(state string) Explanation {
	return conditionFalse(state, "The cluster has not been ready yet.")
}

// EditRefused explains why a cluster is not up to date: its edited spec was refused.
func EditRefused(refused *lifecycle.Cause) Explanation {
	return conditionFalse(refused.Reason, "The edit of the spec was refused; the cluster runs on unchanged. "+refused.Message)
}

// Hindered explains a condition that is False because Pods cannot start.
func Hindered(obstacle *lifecycle.Cause) Explanation {
	return conditionFalse(obstacle.Reason, obstacle.Message)
}

// UpToDate explains that all Pods of a cluster match its spec.
func UpToDate() Explanation { return conditionTrue("UpToDate", "All Pods match the spec.") }

// UpToDateButPartition explains that Pods of an earlier spec stay, as the partition of a StatefulSet asks.
func UpToDateButPartition(old int32, statefulSet string) Explanation {
	explanation := conditionTrue("UpToDate", fmt.Sprintf("All Pods match the spec, except %d of StatefulSet %s: the partition of its updateStrategy keeps them.",
		old, statefulSet))
	explanation.See = statefulSet
	return explanation
}

// RollingOut explains that Pods of an earlier spec are being replaced.
func RollingOut() Explanation {
	return conditionFalse(ReasonRollingOut, "Pods are being replaced by Pods that match the spec.")
}

// TakenOver explains why a StatefulSet of another operator is not updated.
func TakenOver(statefulSet string) Explanation {
	return Explanation{
		Status: metav1.ConditionFalse, Reason: "TakenOver",
		Summary: fmt.Sprintf("StatefulSet %s is unchanged since it was taken over.", statefulSet),
		Remedy:  "The next edit of the spec updates it.", See: statefulSet,
	}
}

// AwaitsDeletionOfPods explains why Pods of an earlier spec stay in a StatefulSet with the updateStrategy OnDelete.
func AwaitsDeletionOfPods(old int32, statefulSet string) Explanation {
	return Explanation{
		Status: metav1.ConditionFalse, Reason: "AwaitsDeletionOfPods",
		Summary: fmt.Sprintf("%d Pods of StatefulSet %s match an earlier spec: its updateStrategy is OnDelete.", old, statefulSet),
		Remedy:  "Delete these Pods to update them.", See: statefulSet,
	}
}
