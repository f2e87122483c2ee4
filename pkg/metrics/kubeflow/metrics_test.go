package kubeflow_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
	"github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow/settings"
)

// executors are two, in states.
func executors(first, second v1beta2.ExecutorState) map[string]v1beta2.ExecutorState {
	return map[string]v1beta2.ExecutorState{"pi-exec-1": first, "pi-exec-2": second}
}

// lives are all that is measured: one application that completes, one that fails, one whose submission fails once, and
// one that runs.
func lives(c *cluster) {
	const unseen, running, completed, failed = v1beta2.ExecutorState(""), v1beta2.ExecutorRunningState,
		v1beta2.ExecutorCompletedState, v1beta2.ExecutorFailedState
	submitted := func() *application { return pi().Went(lifecycle.Submitted, lifecycle.DriverRequested).Submitted(0, 1) }
	started := func() *application { return submitted().Went(lifecycle.DriverStarted) }
	succeeded := func() *application {
		return started().Went(lifecycle.Succeeded).Terminated(5 * time.Second).Executors(executors(completed, failed))
	}
	c.runThrough(
		pi(), submitted(), started(), started().Executors(executors(running, running)), succeeded(),
		succeeded().Went(lifecycle.ResourceReleased),
	)
	ended := func() *application {
		return submitted().Went(lifecycle.Failed).Submitted(time.Second, 1).Terminated(3 * time.Second)
	}
	c.runThrough(pi(), submitted(), ended(), ended().Went(lifecycle.ResourceReleased))
	refused := func() *application { return pi().Went(lifecycle.Submitted, lifecycle.SchedulingFailure) }
	c.runThrough(pi(), refused(), refused().Went(lifecycle.ScheduledToRestart, lifecycle.DriverRequested).Submitted(0, 1))
	c.cache = []*v1beta2.SparkApplication{
		started().Executors(executors(unseen, running)).Obj(),
		succeeded().Went(lifecycle.ResourceReleased).Executors(executors(running, running)).Obj(),
	}
}

func TestMetricsHaveTheKubeflowOperatorsNamesAndLabels(t *testing.T) {
	c := newClusterWith(t, settings.Defaults())
	lives(c)
	const want = `# TYPE spark_application_count counter
spark_application_count{app_type="Unknown"} 3
# TYPE spark_application_failed_submission_count counter
spark_application_failed_submission_count{app_type="Unknown"} 1
# TYPE spark_application_failure_count counter
spark_application_failure_count{app_type="Unknown"} 1
# TYPE spark_application_failure_execution_time_seconds summary
spark_application_failure_execution_time_seconds_sum{app_type="Unknown"} 2
spark_application_failure_execution_time_seconds_count{app_type="Unknown"} 1
# TYPE spark_application_running_count gauge
spark_application_running_count{app_type="Unknown"} 1
# TYPE spark_application_start_latency_seconds summary
spark_application_start_latency_seconds_sum{app_type="Unknown"} 2
spark_application_start_latency_seconds_count{app_type="Unknown"} 1
# TYPE spark_application_start_latency_seconds_histogram histogram
spark_application_start_latency_seconds_histogram_bucket{app_type="Unknown",le="30"} 1
spark_application_start_latency_seconds_histogram_bucket{app_type="Unknown",le="60"} 1
spark_application_start_latency_seconds_histogram_bucket{app_type="Unknown",le="90"} 1
spark_application_start_latency_seconds_histogram_bucket{app_type="Unknown",le="120"} 1
spark_application_start_latency_seconds_histogram_bucket{app_type="Unknown",le="150"} 1
spark_application_start_latency_seconds_histogram_bucket{app_type="Unknown",le="180"} 1
spark_application_start_latency_seconds_histogram_bucket{app_type="Unknown",le="210"} 1
spark_application_start_latency_seconds_histogram_bucket{app_type="Unknown",le="240"} 1
spark_application_start_latency_seconds_histogram_bucket{app_type="Unknown",le="270"} 1
spark_application_start_latency_seconds_histogram_bucket{app_type="Unknown",le="300"} 1
spark_application_start_latency_seconds_histogram_bucket{app_type="Unknown",le="+Inf"} 1
spark_application_start_latency_seconds_histogram_sum{app_type="Unknown"} 2
spark_application_start_latency_seconds_histogram_count{app_type="Unknown"} 1
# TYPE spark_application_submit_count counter
spark_application_submit_count{app_type="Unknown"} 3
# TYPE spark_application_submit_latency_seconds summary
spark_application_submit_latency_seconds_sum{app_type="Unknown"} 4
spark_application_submit_latency_seconds_count{app_type="Unknown"} 3
# TYPE spark_application_submit_latency_seconds_histogram histogram
spark_application_submit_latency_seconds_histogram_bucket{app_type="Unknown",le="0.5"} 0
spark_application_submit_latency_seconds_histogram_bucket{app_type="Unknown",le="1"} 2
spark_application_submit_latency_seconds_histogram_bucket{app_type="Unknown",le="2"} 3
spark_application_submit_latency_seconds_histogram_bucket{app_type="Unknown",le="4"} 3
spark_application_submit_latency_seconds_histogram_bucket{app_type="Unknown",le="8"} 3
spark_application_submit_latency_seconds_histogram_bucket{app_type="Unknown",le="16"} 3
spark_application_submit_latency_seconds_histogram_bucket{app_type="Unknown",le="32"} 3
spark_application_submit_latency_seconds_histogram_bucket{app_type="Unknown",le="64"} 3
spark_application_submit_latency_seconds_histogram_bucket{app_type="Unknown",le="128"} 3
spark_application_submit_latency_seconds_histogram_bucket{app_type="Unknown",le="256"} 3
spark_application_submit_latency_seconds_histogram_bucket{app_type="Unknown",le="+Inf"} 3
spark_application_submit_latency_seconds_histogram_sum{app_type="Unknown"} 4
spark_application_submit_latency_seconds_histogram_count{app_type="Unknown"} 3
# TYPE spark_application_success_count counter
spark_application_success_count{app_type="Unknown"} 1
# TYPE spark_application_success_execution_time_seconds summary
spark_application_success_execution_time_seconds_sum{app_type="Unknown"} 5
spark_application_success_execution_time_seconds_count{app_type="Unknown"} 1
# TYPE spark_executor_failure_count counter
spark_executor_failure_count{app_type="Unknown"} 1
# TYPE spark_executor_running_count gauge
spark_executor_running_count{app_type="Unknown"} 1
# TYPE spark_executor_success_count counter
spark_executor_success_count{app_type="Unknown"} 1
`
	if diff := cmp.Diff(want, c.scraped()); diff != "" {
		t.Errorf("scrape (-want +got):\n%s", diff)
	}
}

func TestSettingsChangeWhileServed(t *testing.T) {
	c := newCluster(t)
	submit := func() { c.runThrough(pi(), pi().Went(lifecycle.DriverRequested).Submitted(0, 1)) }
	submit()
	same := settings.Settings{SubmitLatencyBuckets: []float64{1}, StartLatencyBuckets: []float64{30}}
	if changed, err := c.Configure(same); changed || err != nil {
		t.Errorf("the same settings: changed %t, %v", changed, err)
	}
	submit()
	if got := c.samples("spark_application_submit_count"); got[""] != "2" {
		t.Errorf("before the change: %v", got)
	}
	other := same
	other.Prefix, other.Labels, other.SubmitLatencyBuckets = "data-", []string{"namespace"}, []float64{.5, 4}
	if changed, err := c.Configure(other); !changed || err != nil {
		t.Errorf("other settings: changed %t, %v", changed, err)
	}
	submit()
	if got := c.samples("spark_application_submit"); len(got) != 0 {
		t.Errorf("after the change, under the old names: %v", got)
	}
	want := map[string]string{
		`count{namespace="team-a"}`:                                      "1",
		`latency_seconds_sum{namespace="team-a"}`:                        "1",
		`latency_seconds_count{namespace="team-a"}`:                      "1",
		`latency_seconds_histogram_bucket{namespace="team-a",le="0.5"}`:  "0",
		`latency_seconds_histogram_bucket{namespace="team-a",le="4"}`:    "1",
		`latency_seconds_histogram_bucket{namespace="team-a",le="+Inf"}`: "1",
		`latency_seconds_histogram_sum{namespace="team-a"}`:              "1",
		`latency_seconds_histogram_count{namespace="team-a"}`:            "1",
	}
	if diff := cmp.Diff(want, c.samples("data_spark_application_submit_")); diff != "" {
		t.Errorf("after the change (-want +got):\n%s", diff)
	}
	unusable := same
	unusable.Labels = []string{"le"}
	if changed, err := c.Configure(unusable); changed || err == nil {
		t.Errorf("unusable settings: changed %t, %v", changed, err)
	}
	if got := c.samples("data_spark_application_submit_count"); got[`{namespace="team-a"}`] != "1" {
		t.Errorf("after a change that was refused: %v", got)
	}
}
