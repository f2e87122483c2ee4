package status

import (
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
	set := func(kind string, explanation diagnosis.Explanation) {
		condition := explanation.Condition(kind)
		condition.Reason, condition.Message = diagnosis.Reason(explanation.Reason, "Other"), dialect.Clipped(condition.Message)
		condition.ObservedGeneration, condition.LastTransitionTime = observed, instant(facts.Now)
		meta.SetStatusCondition(conditions, condition)
	}
	state := cluster.Current(record)
	set(ConditionReady, readiness(facts.Decision.Ready, facts.Decision.Ready.Ready))
	if state == cluster.Degraded {
		set(ConditionDegraded, readiness(facts.Decision.Ready, true))
	} else {
		set(ConditionDegraded, diagnosis.NotDegraded(string(state)))
	}
	set(ConditionUpToDate, rollout(state, facts))
	if state == cluster.ResourceReleased {
		set(dialect.ConditionResourcesReleased, diagnosis.ClusterReleased())
	} else {
		set(dialect.ConditionResourcesReleased, diagnosis.ClusterNotReleased(string(state), state.AttemptEnded()))
	}
	delivered := dialect.EventsDelivered(record, facts.Delivery, meta.FindStatusCondition(*conditions, dialect.ConditionEventsDelivered))
	delivered.ObservedGeneration, delivered.LastTransitionTime = observed, instant(facts.Now)
	meta.SetStatusCondition(conditions, delivered)
	if len(facts.Warnings) == 0 {
		meta.RemoveStatusCondition(conditions, dialect.ConditionWarning)
		return
	}
	set(dialect.ConditionWarning, diagnosis.SpecNotHonored(facts.Warnings))
}

// readiness explains a condition by the readiness of a cluster. holds reports whether the condition is True.
func readiness(ready cluster.Readiness, holds bool) diagnosis.Explanation {
	explanation := diagnosis.Explanation{Status: metav1.ConditionFalse, Reason: ready.Reason, Summary: ready.Message}
	if holds {
		explanation.Status = metav1.ConditionTrue
	}
	return explanation
}

// ReportedReadiness returns the readiness in the status of a cluster; zero if it has none.
func ReportedReadiness(c *sparkv1.SparkCluster) cluster.Readiness {
	ready := meta.FindStatusCondition(c.Status.Conditions, ConditionReady)
	if ready == nil {
		return cluster.Readiness{}
	}
	return cluster.Readiness{Ready: ready.Status == metav1.ConditionTrue, Reason: ready.Reason, Message: ready.Message}
}

func rollout(state cluster.State, facts Facts) diagnosis.Explanation {
	refused, obstacle := facts.Decision.Refused, facts.Decision.Obstacle
	switch {
	case state.AttemptEnded() || state == cluster.ResourceReleased:
		return diagnosis.ClusterEnded(string(state))
	case facts.Decision.Ready.Reason == diagnosis.ReasonDeleting:
		return diagnosis.ClusterBeingDeleted()
	case refused != nil:
		return diagnosis.EditRefused(refused)
	case state == cluster.Submitted:
		return diagnosis.ClusterNeverReady(string(state))
	case obstacle != nil:
		return diagnosis.Hindered(obstacle)
	default:
		return facts.Rollout
	}
}

func sameStatus(a, b sparkv1.ClusterStatus) bool { return equality.Semantic.DeepEqual(a, b) }
