package status

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/resources"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// Facts are what the status needs beside the record.
type Facts struct {
	Now      time.Time
	Decision cluster.Decision
	// Workers is the number of workers' Pods, and Registered the number that the master reports alive.
	Workers, Registered int32
	// Exists reports whether there are objects of the cluster.
	Exists   bool
	Rollout  diagnosis.Explanation
	Warnings []string
	diagnosis.Delivery
}

// Project writes a record and the facts into the status.
func Project(c *sparkv1.SparkCluster, record *v1alpha1.Record, facts Facts) {
	status := &c.Status
	status.Firesteel = record
	current := state(outbox.Current(record))
	status.CurrentState = &current
	status.StateTransitionHistory = sparkv1.History(record, record.Attempt.ID, state)
	status.CurrentAttemptSummary = &sparkv1.ClusterAttemptSummary{AttemptInfo: info(record.Attempt)}
	status.PreviousAttemptSummary = nil
	if record.Previous != nil {
		status.PreviousAttemptSummary = &sparkv1.ClusterAttemptSummary{
			AttemptInfo: info(*record.Previous), StateTransitionHistory: sparkv1.History(record, record.Previous.ID, state),
		}
	}
	status.Workers = nil
	if facts.Exists {
		status.Workers = &sparkv1.ClusterWorkers{
			Replicas: facts.Workers, Registered: facts.Registered,
			Selector: labels.SelectorFromSet(resources.Selector(c.Name, resources.Worker)).String(),
		}
	}
	if facts.Decision.Effect == cluster.Ensure && (status.ObservedGeneration != c.Generation || reportedRollingOut(status.Conditions)) {
		facts.Rollout = diagnosis.RollingOut() // the edit is not written to the objects yet
	}
	if c.DeletionTimestamp == nil { // a deletion raises the generation without changing the spec
		status.ObservedGeneration = c.Generation
	}
	conclude(&status.Conditions, status.ObservedGeneration, record, facts)
}

func reportedRollingOut(conditions []metav1.Condition) bool {
	reported := meta.FindStatusCondition(conditions, ConditionUpToDate)
	return reported != nil && reported.Reason == diagnosis.ReasonRollingOut
}

func state(transition v1alpha1.Transition) sparkv1.ClusterState {
	return sparkv1.ClusterState{
		CurrentStateSummary: string(cluster.State(transition.State).Shown()),
		LastTransitionTime:  sparkv1.FormatStateTime(transition.Time),
		Message:             transition.Message,
	}
}

func info(attempt v1alpha1.Attempt) *sparkv1.ClusterAttemptInfo {
	return &sparkv1.ClusterAttemptInfo{ID: attempt.ID, RestartCounter: attempt.Restarts}
}

// ShownState returns the state in the status; empty if there is none.
func ShownState(c *sparkv1.SparkCluster) string {
	if c.Status.CurrentState == nil {
		return ""
	}
	return c.Status.CurrentState.CurrentStateSummary
}

// SameButWorkers reports whether two statuses differ only in the numbers of workers, which change often while a
// cluster starts or is scaled.
func SameButWorkers(a, b sparkv1.ClusterStatus) bool {
	return sameStatus(withoutWorkers(a), withoutWorkers(b))
}

func withoutWorkers(status sparkv1.ClusterStatus) sparkv1.ClusterStatus {
	status.Workers = nil
	return status
}

// instant returns a condition's time with the API server's precision.
func instant(now time.Time) metav1.Time { return metav1.NewTime(now.UTC().Truncate(time.Second)) }
