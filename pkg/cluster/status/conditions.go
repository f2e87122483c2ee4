package status

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// The condition types. Clusters also have these of applications: ResourcesReleased, EventsDelivered, Warning.
const (
	// ConditionReady is True while the master answers and the needed workers are registered with it.
	ConditionReady = "Ready"
	// ConditionDegraded is True while a cluster that was ready is not ready.
	ConditionDegraded = "Degraded"
	// ConditionUpToDate is True if the objects match the spec, no Pod of an earlier spec is left, and nothing is
	// known to keep a Pod from running.
	ConditionUpToDate = "UpToDate"
)

func conclude(conditions *[]metav1.Condition, observed int64, record *v1alpha1.Record, facts Facts) {
	set := func(kind string, holds bool, reason, message string) {
		status := metav1.ConditionFalse
		if holds {
			status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: kind, Status: status, Reason: diagnosis.Reason(reason, "Other"), Message: dialect.Clipped(message),
			ObservedGeneration: observed, LastTransitionTime: instant(facts.Now),
		})
	}
	ready, state := facts.Decision.Ready, cluster.Current(record)
	set(ConditionReady, ready.Ready, ready.Reason, ready.Message)
	if state == cluster.Degraded {
		set(ConditionDegraded, true, ready.Reason, ready.Message)
	} else {
		set(ConditionDegraded, false, string(state), "The cluster has not lost what it needs.")
	}
	upToDate, reason, message := rollout(state, facts)
	set(ConditionUpToDate, upToDate, reason, message)
	if released := state == cluster.ResourceReleased; released {
		set(dialect.ConditionResourcesReleased, true, "Released", "No object of the cluster is left.")
	} else if state.AttemptEnded() {
		set(dialect.ConditionResourcesReleased, false, string(state), "The objects of the cluster are being deleted.")
	} else {
		set(dialect.ConditionResourcesReleased, false, "InUse", "The cluster has not ended.")
	}
	delivered := dialect.EventsDelivered(record, facts.Delivery, meta.FindStatusCondition(*conditions, dialect.ConditionEventsDelivered))
	delivered.ObservedGeneration, delivered.LastTransitionTime = observed, instant(facts.Now)
	meta.SetStatusCondition(conditions, delivered)
	if len(facts.Warnings) == 0 {
		meta.RemoveStatusCondition(conditions, dialect.ConditionWarning)
		return
	}
	set(dialect.ConditionWarning, true, "SpecNotHonored", strings.Join(facts.Warnings, " "))
}

// ReportedReadiness returns the readiness in the status of a cluster; zero if it has none.
func ReportedReadiness(c *sparkv1.SparkCluster) cluster.Readiness {
	ready := meta.FindStatusCondition(c.Status.Conditions, ConditionReady)
	if ready == nil {
		return cluster.Readiness{}
	}
	return cluster.Readiness{Ready: ready.Status == metav1.ConditionTrue, Reason: ready.Reason, Message: ready.Message}
}

func rollout(state cluster.State, facts Facts) (upToDate bool, reason, message string) {
	refused, obstacle := facts.Decision.Refused, facts.Decision.Obstacle
	switch {
	case state.AttemptEnded() || state == cluster.ResourceReleased:
		return false, string(state), "The cluster has ended."
	case facts.Decision.Ready.Reason == cluster.ReasonDeleting:
		return false, cluster.ReasonDeleting, "The cluster is being deleted."
	case refused != nil:
		return false, refused.Reason, fmt.Sprintf("The edit of the spec was refused; the cluster runs on unchanged. %s", refused.Message)
	case state == cluster.Submitted:
		return false, string(state), "The cluster has not been ready yet."
	case obstacle != nil:
		return false, obstacle.Reason, obstacle.Message
	default:
		return facts.Rollout.UpToDate, facts.Rollout.Reason, facts.Rollout.Message
	}
}

func sameStatus(a, b sparkv1.ClusterStatus) bool { return equality.Semantic.DeepEqual(a, b) }
