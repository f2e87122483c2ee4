package status

import (
	"cmp"
	"slices"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/outbox"
)

// maxInherited bounds the inherited history. The Apache operator lets the history of a failed cluster grow without
// bound.
const maxInherited = 16

// Inherit makes a record from the status that the Apache operator left, with all transitions acknowledged. It returns
// nil if the status is empty or cannot be understood. Then the cluster is examined again, which does not change
// existing objects.
func Inherit(c *sparkv1.SparkCluster) *v1alpha1.Record {
	current := c.Status.CurrentState
	if current == nil || !slices.Contains(cluster.States, cluster.State(current.CurrentStateSummary)) {
		return nil
	}
	transitions := transitionsOf(c.Status)
	if len(transitions) == 0 || transitions[len(transitions)-1].State != current.CurrentStateSummary {
		return nil
	}
	record := &v1alpha1.Record{Transitions: transitions[max(0, len(transitions)-maxInherited):]}
	if summary := c.Status.CurrentAttemptSummary; summary != nil && summary.AttemptInfo != nil {
		record.Attempt.ID, record.Attempt.Restarts = max(summary.AttemptInfo.ID, 0), max(summary.AttemptInfo.RestartCounter, 0)
	}
	for i := range record.Transitions {
		t := &record.Transitions[i]
		t.Attempt = record.Attempt.ID
		if cluster.State(t.State).AttemptEnded() {
			t.End = &v1alpha1.AttemptEnd{
				Outcome: v1alpha1.OutcomeFailed, Reason: t.State, Message: outbox.Clip(t.Message, outbox.MaxEvidence),
			}
		}
	}
	record.Attempt.Since = record.Transitions[0].Time
	record.Sequence = record.Transitions[len(record.Transitions)-1].Sequence
	record.Acknowledged = record.Sequence
	return record
}

// transitionsOf returns the readable states of a history, in order.
func transitionsOf(status sparkv1.ClusterStatus) []v1alpha1.Transition {
	var transitions []v1alpha1.Transition
	for key, state := range status.StateTransitionHistory {
		sequence, keyErr := sparkv1.ParseHistoryKey(key)
		at, timeErr := sparkv1.ParseStateTime(state.LastTransitionTime)
		if keyErr != nil || timeErr != nil || !slices.Contains(cluster.States, cluster.State(state.CurrentStateSummary)) {
			continue
		}
		transitions = append(transitions, v1alpha1.Transition{
			Sequence: sequence, Time: outbox.RecordTime(at), State: state.CurrentStateSummary,
			Message: outbox.Clip(state.Message, outbox.MaxMessage),
		})
	}
	slices.SortFunc(transitions, func(a, b v1alpha1.Transition) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return transitions
}
