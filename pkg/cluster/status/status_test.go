package status_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	. "github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func project(t *testing.T, record *v1alpha1.Record, facts Facts) sparkv1.ClusterStatus {
	t.Helper()
	c := of(t, "")
	facts.Now = start
	Project(c, record, facts)
	return c.Status
}

func TestStatusIsTheApacheOperators(t *testing.T) {
	record := in(cluster.Submitted, cluster.RunningHealthy, cluster.Degraded)
	record.Attempt.Restarts = 2
	status := project(t, record, Facts{})
	state := func(name, message, at string) sparkv1.ClusterState {
		return sparkv1.ClusterState{CurrentStateSummary: name, Message: message, LastTransitionTime: at}
	}
	degraded := state("RunningHealthy", "It is Degraded.", "2026-03-01T08:00:02.123456Z")
	want := sparkv1.ClusterStatus{
		CurrentState: &degraded,
		StateTransitionHistory: map[string]sparkv1.ClusterState{
			"0": state("Submitted", "It is Submitted.", "2026-03-01T08:00:00.123456Z"),
			"1": state("RunningHealthy", "It is RunningHealthy.", "2026-03-01T08:00:01.123456Z"),
			"2": degraded,
		},
		CurrentAttemptSummary: &sparkv1.ClusterAttemptSummary{AttemptInfo: &sparkv1.ClusterAttemptInfo{RestartCounter: 2}},
		ObservedGeneration:    3, Firesteel: record,
	}
	status.Conditions = nil
	if diff := cmp.Diff(want, status); diff != "" {
		t.Error(diff)
	}
}

func TestAnAttemptKeepsThePreviousHistory(t *testing.T) {
	record := in(cluster.Submitted, cluster.Failed, cluster.ResourceReleased)
	previous := record.Attempt
	record.Previous, record.Attempt.ID = &previous, 1
	record.Transitions = append(record.Transitions, v1alpha1.Transition{Sequence: 4, Attempt: 1, State: "Submitted"})
	status := project(t, record, Facts{})
	if len(status.StateTransitionHistory) != 1 || status.StateTransitionHistory["3"].CurrentStateSummary != "Submitted" {
		t.Errorf("the history is %v", status.StateTransitionHistory)
	}
	before := status.PreviousAttemptSummary
	if before == nil || len(before.StateTransitionHistory) != 3 || before.AttemptInfo.ID != 0 || status.CurrentAttemptSummary.AttemptInfo.ID != 1 {
		t.Errorf("the attempt before is %+v", before)
	}
}

func TestWorkersAreShownWhileObjectsExist(t *testing.T) {
	record := in(cluster.Submitted, cluster.RunningHealthy)
	if got := project(t, record, Facts{}).Workers; got != nil {
		t.Errorf("workers %+v of no cluster", got)
	}
	want := &sparkv1.ClusterWorkers{Replicas: 3, Registered: 2, Selector: "spark-role=worker,spark.operator/spark-cluster-name=c"}
	if diff := cmp.Diff(want, project(t, record, Facts{Exists: true, Workers: 3, Registered: 2}).Workers); diff != "" {
		t.Error(diff)
	}
}

func TestConditionsFollowStatesAndFacts(t *testing.T) {
	ready := cluster.Readiness{Ready: true, Reason: "RunningHealthy", Message: "Well."}
	lacking := cluster.Readiness{Reason: "TooFewWorkers", Message: "Few."}
	refused := &lifecycle.Cause{Reason: "Invalid", Message: "No."}
	done := RolloutOf()
	running := []cluster.State{cluster.Submitted, cluster.RunningHealthy}
	for name, test := range map[string]struct {
		states []cluster.State
		facts  Facts
		want   string
	}{
		"starting": {
			states: running[:1], facts: Facts{Decision: cluster.Decision{Ready: cluster.Readiness{Reason: "Submitted"}}},
			want: "Ready=False/Submitted Degraded=False/Submitted UpToDate=False/Submitted ResourcesReleased=False/InUse EventsDelivered=Unknown/Pending",
		},
		"ready": {
			states: running, facts: Facts{Exists: true, Rollout: done, Decision: cluster.Decision{Ready: ready}},
			want: "Ready=True/RunningHealthy Degraded=False/RunningHealthy UpToDate=True/UpToDate ResourcesReleased=False/InUse EventsDelivered=Unknown/Pending",
		},
		"degraded": {
			states: append(running, cluster.Degraded), facts: Facts{Exists: true, Rollout: done, Decision: cluster.Decision{Ready: lacking}},
			want: "Ready=False/TooFewWorkers Degraded=True/TooFewWorkers UpToDate=True/UpToDate ResourcesReleased=False/InUse EventsDelivered=Unknown/Pending",
		},
		"rolling out": {
			states: running, facts: Facts{Exists: true, Rollout: diagnosis.RollingOut(), Decision: cluster.Decision{Ready: ready}, Warnings: []string{"A.", "B."}},
			want: "Ready=True/RunningHealthy Degraded=False/RunningHealthy UpToDate=False/RollingOut ResourcesReleased=False/InUse EventsDelivered=Unknown/Pending Warning=True/SpecNotHonored",
		},
		"an edit refused": {
			states: running, facts: Facts{Exists: true, Rollout: done, Decision: cluster.Decision{Ready: ready, Refused: refused}},
			want: "Ready=True/RunningHealthy Degraded=False/RunningHealthy UpToDate=False/Invalid ResourcesReleased=False/InUse EventsDelivered=Unknown/Pending",
		},
		"a Pod that cannot start": {
			states: running, facts: Facts{Exists: true, Rollout: done, Decision: cluster.Decision{Ready: ready, Obstacle: &lifecycle.Cause{Reason: "ImagePullFailed"}}},
			want: "Ready=True/RunningHealthy Degraded=False/RunningHealthy UpToDate=False/ImagePullFailed ResourcesReleased=False/InUse EventsDelivered=Unknown/Pending",
		},
		"being deleted": {
			states: running, facts: Facts{Exists: true, Rollout: done, Decision: cluster.Decision{Ready: cluster.Readiness{Reason: "Deleting"}}},
			want: "Ready=False/Deleting Degraded=False/RunningHealthy UpToDate=False/Deleting ResourcesReleased=False/InUse EventsDelivered=Unknown/Pending",
		},
		"failed": {
			states: []cluster.State{cluster.Submitted, cluster.Failed}, facts: Facts{Exists: true, Decision: cluster.Decision{Ready: cluster.Readiness{Reason: "not a reason"}}},
			want: "Ready=False/Other Degraded=False/Failed UpToDate=False/Failed ResourcesReleased=False/Failed EventsDelivered=Unknown/Pending",
		},
		"over": {
			states: []cluster.State{cluster.Submitted, cluster.Failed, cluster.ResourceReleased}, facts: Facts{Decision: cluster.Decision{Ready: lacking}},
			want: "Ready=False/TooFewWorkers Degraded=False/ResourceReleased UpToDate=False/ResourceReleased ResourcesReleased=True/Released EventsDelivered=Unknown/Pending",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for i, c := range project(t, in(test.states...), test.facts).Conditions {
				if i > 0 {
					got += " "
				}
				got += c.Type + "=" + string(c.Status) + "/" + c.Reason
				if c.ObservedGeneration != 3 {
					t.Errorf("%s has observedGeneration %d", c.Type, c.ObservedGeneration)
				}
			}
			if got != test.want {
				t.Errorf("conditions\n%s, want\n%s", got, test.want)
			}
		})
	}
}

func TestConditionsOfADeletedClusterHaveTheGenerationOfItsSpec(t *testing.T) {
	c := of(t, "")
	c.Status.ObservedGeneration = 2
	c.DeletionTimestamp = &metav1.Time{Time: start}
	Project(c, in(cluster.Submitted), Facts{Now: start})
	if c.Status.ObservedGeneration != 2 || meta.FindStatusCondition(c.Status.Conditions, "Ready").ObservedGeneration != 2 {
		t.Errorf("observedGeneration is %d", c.Status.ObservedGeneration)
	}
}

func TestSameVisibleStatusWithoutWorkers(t *testing.T) {
	record := in(cluster.Submitted, cluster.RunningHealthy)
	facts := Facts{Exists: true, Workers: 1}
	one := project(t, record, facts)
	facts.Workers, facts.Registered = 2, 1
	if two := project(t, record, facts); !SameButWorkers(one, two) {
		t.Error("different numbers of workers count as a difference")
	}
	facts.Rollout = diagnosis.RollingOut()
	if other := project(t, record, facts); SameButWorkers(one, other) {
		t.Error("a different condition does not count")
	}
}

func TestInheritContinuesTheHistory(t *testing.T) {
	c := of(t, "")
	if Inherit(c) != nil {
		t.Error("a new cluster has a history")
	}
	at := func(second int) string {
		return start.Add(time.Duration(second) * time.Second).Format(time.RFC3339Nano)
	}
	c.Status.CurrentState = &sparkv1.ClusterState{CurrentStateSummary: "RunningHealthy", LastTransitionTime: at(1)}
	c.Status.StateTransitionHistory = map[string]sparkv1.ClusterState{
		"0": {CurrentStateSummary: "Submitted", LastTransitionTime: at(0)},
		"1": {CurrentStateSummary: "RunningHealthy", LastTransitionTime: at(1), Message: "Ready."},
	}
	record := Inherit(c)
	if cluster.Current(record) != cluster.RunningHealthy || record.Sequence != 2 || record.Acknowledged != 2 || record.Attempt.Since.Time != start {
		t.Errorf("the record is %+v", record)
	}
	for name, current := range map[string]string{"with an unknown state": "Bewildered", "that ends in another state": "Failed"} {
		c.Status.CurrentState = &sparkv1.ClusterState{CurrentStateSummary: current}
		if record := Inherit(c); record != nil {
			t.Errorf("a history %s gives %+v", name, record)
		}
	}
}

// The Apache operator lets the history of a failed cluster grow without bound.
func TestALongHistoryIsCut(t *testing.T) {
	c := of(t, "")
	c.Status.CurrentState = &sparkv1.ClusterState{CurrentStateSummary: "Failed"}
	c.Status.StateTransitionHistory = map[string]sparkv1.ClusterState{"x": {CurrentStateSummary: "Failed"}}
	for i := range 500 {
		c.Status.StateTransitionHistory[strconv.Itoa(i)] = sparkv1.ClusterState{
			CurrentStateSummary: "Failed", LastTransitionTime: start.Format(time.RFC3339Nano),
		}
	}
	record := Inherit(c)
	if record == nil || len(record.Transitions) != 16 || record.Transitions[15].End == nil {
		t.Errorf("the record is %+v", record)
	}
}
