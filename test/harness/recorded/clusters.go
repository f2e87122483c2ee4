package recorded

import (
	"time"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/cluster"
	"github.com/firesteel-dev/firesteel/pkg/cluster/status"
	"github.com/firesteel-dev/firesteel/pkg/diagnosis"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

// clusterEnv is a cluster whose reconciles are simulated.
type clusterEnv struct {
	cluster *sparkv1.SparkCluster
	record  *v1alpha1.Record
	now     time.Time
	rollout diagnosis.Explanation
	suspend bool
}

func newCluster() *clusterEnv {
	c := &sparkv1.SparkCluster{ObjectMeta: meta("cluster")}
	c.Spec.ClusterTolerations.InstanceConfig = sparkv1.WorkerInstanceConfig{InitWorkers: 2, MinWorkers: 2, MaxWorkers: 2}
	return &clusterEnv{cluster: c, now: start, rollout: diagnosis.UpToDate()}
}

// Observe reconciles the cluster after a time, once for the decision and once for its effect.
func (e *clusterEnv) Observe(after time.Duration, seen cluster.Observation) *clusterEnv {
	e.now = e.now.Add(after)
	policy := status.Policy(e.cluster, 10*time.Minute, time.Minute)
	policy.Suspend = e.suspend
	for range 2 {
		seen.Reported = status.ReportedReadiness(e.cluster)
		record, decision := cluster.Decide(e.record, policy, seen, e.now)
		record.Acknowledged = record.Sequence
		e.record = record
		status.Project(e.cluster, record, status.Facts{Now: e.now, Decision: decision, Exists: true, Rollout: e.rollout, Workers: 2})
	}
	return e
}

func (e *clusterEnv) In(state string, health Health, message string) Object {
	return object(sparkv1.SchemeGroupVersion.WithKind("SparkCluster"), state, e.cluster, health, message)
}

// The observations of a cluster.
var (
	created   = cluster.Observation{Ensured: true, Created: start}
	answering = cluster.Observation{Ensured: true, Created: start, Master: &cluster.Master{Alive: true, Workers: 2}}
	quota     = &lifecycle.Cause{Class: lifecycle.ClassScheduling, Reason: "Forbidden", Message: "exceeded quota: team-a"}
)

// silent returns the observation of a master that does not answer since a time.
func silent(since time.Time) cluster.Observation {
	return cluster.Observation{
		Ensured: true, Created: start, Master: &cluster.Master{FailingSince: since, Problem: "connection refused"},
	}
}

func runningCluster() *clusterEnv {
	return newCluster().Observe(0, created).Observe(time.Minute, answering)
}

// Clusters returns clusters in each state.
func Clusters() []Object {
	suspended := newCluster()
	suspended.suspend = true
	refused, hindered := answering, answering
	refused.Ensured, refused.Refused = false, quota
	hindered.Obstacle = quota
	never := newCluster().Observe(0, cluster.Observation{Refused: quota})
	rolling := func(rollout diagnosis.Explanation) *clusterEnv {
		e := runningCluster()
		e.rollout = rollout
		return e.Observe(time.Minute, answering)
	}
	running := runningCluster().In(string(cluster.RunningHealthy), Healthy, "")
	return []Object{
		newCluster().In("new", Progressing, ""),
		newCluster().Observe(0, created).In(string(cluster.Submitted), Progressing, "being started"),
		suspended.Observe(0, cluster.Observation{}).In("Suspended", Suspended, "spec.suspend"),
		running,
		rolling(diagnosis.RollingOut()).In("RollingOut", Progressing, "being replaced"),
		rolling(diagnosis.TakenOver("cluster-worker")).In("TakenOver", Healthy, ""),
		rolling(diagnosis.AwaitsDeletionOfPods(1, "cluster-worker")).In("AwaitsDeletionOfPods", Healthy, ""),
		runningCluster().Observe(time.Minute, refused).In("with a refused edit", Degraded, "exceeded quota"),
		runningCluster().Observe(time.Minute, hindered).In("with a Pod that cannot run", Degraded, "exceeded quota"),
		runningCluster().Observe(time.Minute, silent(start.Add(time.Minute))).In(string(cluster.Degraded), Degraded, "MasterNotAnswering: "),
		never.In(string(cluster.SchedulingFailure), Degraded, "exceeded quota"),
		never.Observe(time.Minute, cluster.Observation{Released: true}).In("ResourceReleased after SchedulingFailure", Degraded, "exceeded quota"),
		newCluster().Observe(0, created).Observe(time.Hour, silent(start)).In(string(cluster.Failed), Degraded, "MasterStartTimedOut: "),
		edited(running),
		undecodable(running, status.ConditionReady),
	}
}
