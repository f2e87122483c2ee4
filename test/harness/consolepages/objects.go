package consolepages

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firesteel-dev/firesteel/pkg/console/live"
	"github.com/firesteel-dev/firesteel/pkg/overview"
)

func application(namespace, resource, name string, outcome live.Outcome, state string, created time.Duration) *live.Row {
	return &live.Row{
		Ref: live.Ref{Namespace: namespace, Resource: resource, Name: name}, APIVersion: "spark.apache.org/v1", Kind: "SparkApplication", Noun: overview.Application,
		UID: types.UID("uid-" + namespace + "-" + name), Team: namespace[:2], User: "grace", State: state, Outcome: outcome, Created: ago(created), Since: ago(created - 2*time.Second),
		ResourceVersion: "1", Executors: live.Executors{Asked: 4}, DriverPod: name + "-driver",
	}
}

// prices are those of the sample.
var prices = live.Prices{CoreHour: 0.04, GiBHour: 0.005, GPUHour: 1.2, Currency: "EUR"}

// used returns usage with its cost.
func used(u live.Usage) *live.Usage {
	u.Cost = prices.Of(&u)
	return &u
}

// Failed is the application of the sample that failed.
var Failed = live.Ref{Namespace: "reports", Resource: apacheApplications, Name: "daily-revenue-20260304"}

// steps makes transitions that follow each other, the last of which goes on.
func steps(from time.Time, attempt, sequence int64, all ...live.Transition) []live.Transition {
	for i := range all {
		all[i].Attempt, all[i].Sequence, all[i].At = attempt, sequence+int64(i), from
		all[i].Event = fmt.Sprintf("uid-reports/%d", all[i].Sequence)
		all[i].EventType = "dev.firesteel.application." + all[i].EventType + ".v1"
		from = from.Add(time.Duration(all[i].Lasted) * time.Millisecond)
	}
	return all
}

func (s *Sample) addFailed() {
	row := application(Failed.Namespace, apacheApplications, Failed.Name, overview.Failed, "Failed", 49*time.Minute)
	row.Team, row.User, row.Over, row.Attempt = "finance", "marie", true, 1
	row.Reason, row.Cause = "OOMKilled", "ExecutorMemory"
	row.Sentence = "3 of 4 executors were killed since they used more memory than their limit of 4.4 GiB."
	row.Since, row.Started, row.Ended = ago(21*time.Minute), ago(44*time.Minute), ago(21*time.Minute)
	row.Schedule, row.Due, row.ApplicationID = "daily-revenue", Now.Add(-50*time.Minute), "spark-8d1c6e"
	row.Executors = live.Executors{Asked: 4, Most: 8, Running: 1, Lost: 3}
	row.Usage = used(live.Usage{CoreSeconds: 41_220, MebibyteSeconds: 193_000_000, PeakExecutors: 4, GapSeconds: 3})
	row.Unacknowledged, row.UnacknowledgedSince = 2, ago(9*time.Minute)
	s.Rows = append(s.Rows, row)
	code := int32(1)
	s.details[row.Ref] = &live.Details{
		Row: row, Cursor: 7,
		Reasons: []live.Reason{{
			Cause: "ExecutorMemory", Summary: row.Sentence,
			Evidence: "Pod daily-revenue-20260304-exec-7: OOMKilled, exit code 137, limit 4506Mi\n26/03/04 08:08:41 ERROR TaskSchedulerImpl: Lost executor 7 on 10.0.3.18",
			Remedy:   "Give executors more memory, or let each run fewer tasks at once.", Command: "kubectl spark rerun daily-revenue-20260304 -n reports --set spark.executor.memory=8g",
		}, {Cause: "EventsUndelivered", Summary: "2 events were not accepted by the sink for 9 minutes.", Remedy: "See whether the Broker answers.", Beside: true}},
		Attempts: []live.Attempt{
			{Attempt: 0, ApplicationID: "spark-11aa", DriverPod: "daily-revenue-20260304-0-driver", Began: row.Created, Started: row.Created.Add(9 * time.Second), Ended: ago(45 * time.Minute), Outcome: overview.Failed,
				Class: "infrastructure", ExitCode: &code, Reason: "NodeLost", Message: "The node of the driver was lost.", Usage: used(live.Usage{CoreSeconds: 900, MebibyteSeconds: 4_000_000}),
				Transitions: steps(row.Created, 0, 1,
					live.Transition{State: "Submitted", Outcome: overview.Waiting, Lasted: 14, EventType: "submitted", Delivery: live.Delivered},
					live.Transition{State: "DriverRequested", Outcome: overview.Waiting, Lasted: 8_951, WaitedFor: "a node with 2 cores and 4 GiB", EventType: "driver-requested", Delivery: live.Delivered},
					live.Transition{State: "DriverStarted", Outcome: overview.Running, Lasted: 3_204, EventType: "driver-started", Delivery: live.Delivered},
					live.Transition{State: "RunningHealthy", Outcome: overview.Running, Lasted: 200_113, EventType: "running-healthy", Delivery: live.Delivered},
					live.Transition{State: "DriverEvicted", Outcome: overview.Failed, Lasted: 31_700, Message: "The node of the driver was lost.", EventType: "driver-evicted", Delivery: live.Delivered})},
			{Attempt: 1, ApplicationID: "spark-8d1c6e", DriverPod: row.DriverPod, Began: ago(44*time.Minute + 30*time.Second), Started: row.Started, Ended: row.Ended, Outcome: overview.Failed,
				Class: "application", ExitCode: &code, Reason: "Error", Message: "The driver exited with code 1.", Usage: row.Usage,
				Transitions: steps(ago(44*time.Minute+30*time.Second), 1, 6,
					live.Transition{State: "ScheduledToRestart", Outcome: overview.Waiting, Lasted: 20_000, WaitedFor: "the back-off of 20 s", EventType: "scheduled-to-restart", Delivery: live.Delivered},
					live.Transition{State: "DriverRequested", Outcome: overview.Waiting, Lasted: 10_102, WaitedFor: "its image", EventType: "driver-requested", Delivery: live.Delivered},
					live.Transition{State: "RunningHealthy", Outcome: overview.Running, Lasted: 1_379_898, EventType: "running-healthy", Delivery: live.Delivered},
					live.Transition{State: "Failed", Outcome: overview.Failed, Lasted: 1_260_000, Message: "The driver exited with code 1: org.apache.spark.SparkException: Job aborted due to stage failure.", EventType: "failed", Delivery: live.DeliveryPending})},
		},
		Conditions: []live.Condition{
			{Type: "Succeeded", Status: "False", Reason: "OOMKilled", Message: row.Sentence, Since: row.Ended},
			{Type: "DriverReady", Status: "False", Reason: "Failed", Message: "No driver runs any more.", Since: row.Ended},
			{Type: "EventsDelivered", Status: "False", Reason: "Unavailable", Message: "The sink does not answer: 503.", Since: ago(9 * time.Minute)},
		},
		Pods: []live.Pod{
			{Name: row.DriverPod, UID: "d1", Role: "driver", Containers: []string{"spark-kubernetes-driver", "log-shipper"}, Phase: "Failed", Reason: "Error", ExitCode: &code, Node: "node-a", Created: ago(44*time.Minute + 9*time.Second), Scheduled: ago(44*time.Minute + 8*time.Second), Started: row.Started, Ended: row.Ended, Requests: live.Resources{MilliCPU: 1000, Mebibytes: 2252}},
			{Name: "daily-revenue-20260304-exec-7", UID: "e7", Role: "executor", Number: "7", Phase: "Failed", Reason: "OOMKilled", Node: "node-b", Created: ago(30 * time.Minute), Scheduled: ago(30 * time.Minute), Started: ago(29 * time.Minute), Ended: ago(21 * time.Minute), Requests: live.Resources{MilliCPU: 4000, Mebibytes: 4506}},
			{Name: "daily-revenue-20260304-exec-8", UID: "e8", Role: "executor", Number: "8", Phase: "Pending", Reason: "Unschedulable", Message: "0/3 nodes are available: 3 Insufficient memory.", Created: ago(22 * time.Minute), Requests: live.Resources{MilliCPU: 4000, Mebibytes: 4506}},
		},
		Executors: []live.ExecutorCount{
			{At: row.Started, Executors: live.Executors{Asked: 4}}, {At: row.Started.Add(20 * time.Second), Executors: live.Executors{Asked: 4, Pending: 4}},
			{At: row.Started.Add(70 * time.Second), Executors: live.Executors{Asked: 4, Running: 4}}, {At: row.Started.Add(11 * time.Minute), Executors: live.Executors{Asked: 4, Running: 3, Pending: 1, Lost: 1}},
			{At: row.Started.Add(16 * time.Minute), Executors: live.Executors{Asked: 4, Running: 2, Pending: 1, Lost: 2}}, {At: row.Started.Add(22 * time.Minute), Executors: live.Executors{Asked: 4, Running: 1, Pending: 1, Lost: 3}},
		},
	}
}

func (s *Sample) addRunning() {
	row := application("features", kubeflowApplications, "clickstream-sessions", overview.Running, "RUNNING", 3*time.Hour)
	row.Team, row.Started, row.ApplicationID = "search", ago(2*time.Hour+58*time.Minute), "spark-77f0"
	row.Executors = live.Executors{Asked: 16, Running: 14, Pending: 2}
	row.Requested = live.Resources{MilliCPU: 57_000, Mebibytes: 262_144, GPUs: 2}
	row.Usage = used(live.Usage{CoreSeconds: 604_000, MebibyteSeconds: 2_900_000_000, GPUSeconds: 20_000, PeakExecutors: 16})
	s.Rows = append(s.Rows, row)
	for i := range 14 {
		row := application([]string{"features", "reports", "ingest"}[i%3], apacheApplications, fmt.Sprintf("ingest-orders-%02d", i), overview.Running, "RunningHealthy", time.Duration(i*7+3)*time.Minute)
		row.Team, row.Started, row.Requested = []string{"search", "finance", "platform"}[i%3], row.Created.Add(11*time.Second), live.Resources{MilliCPU: 9000, Mebibytes: 36_864}
		row.Executors.Running = 4
		s.Rows = append(s.Rows, row)
	}
}

func (s *Sample) addWaiting() {
	held := application("ingest", apacheApplications, "backfill-2025", overview.Waiting, "Submitted", 38*time.Minute)
	held.Team, held.Reason, held.Cause = "platform", "QuotaExceeded", "Quota"
	held.Sentence = "Quota compute has no room for 33 Pods: requests.cpu asks for 132, and 18 of 96 are left."
	held.Held = &live.Held{Since: ago(38 * time.Minute), Pods: 33, Resources: live.Resources{MilliCPU: 132_000, Mebibytes: 540_672}}
	stuck := application("features", kubeflowApplications, "embeddings-gpu", overview.Waiting, "SUBMITTED", 12*time.Minute)
	stuck.Team, stuck.Reason, stuck.Cause = "search", "Unschedulable", "NoNode"
	stuck.Sentence = "The driver Pod waits for a node: 0/12 nodes are available: 12 Insufficient nvidia.com/gpu."
	suspended := application("reports", apacheApplications, "quarter-close", overview.Waiting, "Submitted", 26*time.Hour)
	suspended.Team, suspended.Suspended, suspended.Sentence = "finance", true, "The launch is held by spec.suspend."
	foreign := application("legacy", kubeflowApplications, "old-operator-job", overview.Running, "RUNNING", 50*time.Hour)
	foreign.Team, foreign.Foreign, foreign.Attempt = "platform", true, -1
	s.Rows = append(s.Rows, held, stuck, suspended, foreign)
}

func (s *Sample) addPlain() {
	for i := range 90 {
		row := application([]string{"reports", "ingest", "features", "ml"}[i%4], apacheApplications, fmt.Sprintf("hourly-rollup-%03d", i), overview.Succeeded, "ResourceReleased", time.Duration(i*14+20)*time.Minute)
		row.Team = []string{"finance", "platform", "search", "science"}[i%4]
		row.Over, row.Started, row.Ended = true, row.Created.Add(8*time.Second), row.Created.Add(time.Duration(3+i%9)*time.Minute)
		row.Since = row.Ended
		row.Usage = used(live.Usage{CoreSeconds: 1800, MebibyteSeconds: 9_000_000, PeakExecutors: 4})
		if i%17 == 3 {
			row.Outcome, row.State, row.Reason, row.Cause, row.Sentence = overview.Failed, "Failed", "Error", "ClassNotFound", "The driver did not find the class org.example.Rollup."
		}
		s.Rows = append(s.Rows, row)
	}
}

func (s *Sample) addSchedules() {
	for i, name := range []string{"daily-revenue", "hourly-rollup", "weekly-cleanup"} {
		row := application([]string{"reports", "ingest", "ml"}[i], schedules, name, overview.Running, "Scheduled", 90*24*time.Hour)
		row.Noun, row.Kind, row.Attempt, row.Executors, row.DriverPod = overview.Schedule, "ScheduledSparkApplication", -1, live.Executors{}, ""
		row.Team = []string{"finance", "platform", "science"}[i]
		row.Runs = &live.Runs{Expression: []string{"40 7 * * *", "0 * * * *", "0 3 * * 0"}[i], TimeZone: "Europe/Berlin", Next: Now.Add(time.Duration(i+1) * 7 * time.Hour), Last: ago(50 * time.Minute), LastName: Failed.Name}
		if i == 1 {
			row.Runs.Next, row.Runs.Missed = ago(4*time.Minute), 2
			row.Sentence = "The run of 08:26 is late: the schedule handler does not answer."
		}
		if i == 2 {
			row.Suspended, row.State, row.Outcome = true, "Suspended", overview.Waiting
		}
		s.Rows = append(s.Rows, row)
	}
	for i := range 5 {
		run := application("reports", apacheApplications, fmt.Sprintf("daily-revenue-run-%d", i), overview.Succeeded, "ResourceReleased", time.Duration(i+1)*24*time.Hour+49*time.Minute)
		run.UID = types.UID("uid-run-" + run.Name)
		run.Schedule, run.Due = "daily-revenue", ago(time.Duration(i+1)*24*time.Hour+50*time.Minute)
		run.Started, run.Ended = run.Created.Add(10*time.Second), run.Created.Add(23*time.Minute)
		s.Rows = append(s.Rows, run)
	}
}

func (s *Sample) addClusters() {
	row := application("ml", clusters, "shared-notebooks", overview.Running, "RunningHealthy", 12*24*time.Hour)
	row.Noun, row.Kind, row.Team, row.DriverPod = overview.Cluster, "SparkCluster", "science", ""
	row.Executors = live.Executors{Asked: 3, Running: 2, Pending: 1}
	row.Requested = live.Resources{MilliCPU: 24_000, Mebibytes: 98_304}
	s.Rows = append(s.Rows, row)
}
