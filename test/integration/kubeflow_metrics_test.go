package integration

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
)

// kubeflowPi is the Kubeflow operator's first example, under a name and with labels of its own.
func kubeflowPi(name string, labels map[string]string) *v1beta2.SparkApplication {
	app := &v1beta2.SparkApplication{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	app.Spec.Type, app.Spec.Mode, app.Spec.SparkVersion = "Scala", "cluster", "4.1.1"
	app.Spec.Image, app.Spec.MainClass = "spark:4.1.1", "org.apache.spark.examples.SparkPi"
	app.Spec.MainApplicationFile = "local:///opt/spark/examples/jars/spark-examples.jar"
	return app
}

// createKubeflow creates an application, and has its driver run.
func (s *env) createKubeflow(app *v1beta2.SparkApplication) *driver {
	s.Helper()
	_, err := s.kubeflowApps().Create(s.Context(), app, metav1.CreateOptions{})
	s.must(err)
	d := s.kubeflowDriver(app.Name).start()
	s.untilShown(app.Name, v1beta2.RunningState)
	return d
}

// kubeflowSamples are what Prometheus reads of the Kubeflow operator's metrics, but for the sums of times and the buckets,
// and for what other tests left, which is of other teams.
func kubeflowSamples(page string) map[string]string {
	samples := map[string]string{}
	for _, found := range regexp.MustCompile(`(?m)^data_spark_(\w+){(.*)} (\S+)$`).FindAllStringSubmatch(page, -1) {
		name, ours := found[1], found[2] == `team="etl"` || found[2] == `team="ml"`
		if ours && !strings.HasSuffix(name, "_sum") && !strings.HasSuffix(name, "_bucket") {
			samples[name+" "+found[2]] = found[3]
		}
	}
	return samples
}

// untilMeasured waits until the metrics are as they should be.
func (s *env) untilMeasured(what string, r *replica, want map[string]string) {
	s.Helper()
	var page, diff string
	err := wait.PollUntilContextTimeout(s.Context(), pollInterval, timeout, true, func(context.Context) (bool, error) {
		_, page = s.fetch(r.metrics)
		diff = cmp.Diff(want, kubeflowSamples(page))
		return diff == "", nil
	})
	if err != nil {
		s.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func TestKubeflowMetricsSurviveTheController(t *testing.T) {
	alone(t)
	s := newEnv(t)
	s.configured("config-kubeflow", "metrics-prefix", "data_")
	s.configured("config-kubeflow", "metrics-labels", "team")
	first := s.replica()
	s.untilAnswered(first.metrics, http.StatusOK)
	etl, ml := map[string]string{"team": "etl"}, map[string]string{"team": "ml"}

	lasting := s.createKubeflow(kubeflowPi("lasting", ml))
	lasting.kubeflowExecutor(1).start()
	lasting.kubeflowExecutor(2).start().succeed()
	s.createKubeflow(kubeflowPi("good", etl)).succeed()
	s.untilShown("good", v1beta2.CompletedState)
	s.createKubeflow(kubeflowPi("bad", etl)).exit(1)
	s.untilShown("bad", v1beta2.FailedState)
	s.untilMeasured("after three applications", first, map[string]string{
		`application_count team="etl"`:                                  "2",
		`application_submit_count team="etl"`:                           "2",
		`application_submit_latency_seconds_count team="etl"`:           "2",
		`application_submit_latency_seconds_histogram_count team="etl"`: "2",
		`application_start_latency_seconds_count team="etl"`:            "2",
		`application_start_latency_seconds_histogram_count team="etl"`:  "2",
		`application_success_count team="etl"`:                          "1",
		`application_success_execution_time_seconds_count team="etl"`:   "1",
		`application_failure_count team="etl"`:                          "1",
		`application_failure_execution_time_seconds_count team="etl"`:   "1",
		`application_running_count team="etl"`:                          "0",
		`executor_running_count team="etl"`:                             "0",
		`application_count team="ml"`:                                   "1",
		`application_submit_count team="ml"`:                            "1",
		`application_submit_latency_seconds_count team="ml"`:            "1",
		`application_submit_latency_seconds_histogram_count team="ml"`:  "1",
		`application_start_latency_seconds_count team="ml"`:             "1",
		`application_start_latency_seconds_histogram_count team="ml"`:   "1",
		`application_running_count team="ml"`:                           "1",
		`executor_running_count team="ml"`:                              "1",
		`executor_success_count team="ml"`:                              "1",
	})
	_, page := s.fetch(first.metrics)
	for _, want := range []string{
		"# TYPE data_spark_application_count counter", "# TYPE data_spark_application_running_count gauge",
		"# TYPE data_spark_application_start_latency_seconds summary",
		"# TYPE data_spark_application_start_latency_seconds_histogram histogram",
		`data_spark_application_start_latency_seconds_histogram_bucket{team="ml",le="300"} 1`,
		`data_spark_application_submit_latency_seconds_histogram_bucket{team="ml",le="256"} 1`,
		"go_goroutines", "process_cpu_seconds_total", "firesteel_application_transitions_total",
	} {
		if !strings.Contains(page, "\n"+want) {
			t.Errorf("%s is not there", want)
		}
	}

	s.must(first.Stop())
	<-first.Done()
	second := s.replica()
	s.untilMeasured("after a restart", second, map[string]string{
		`application_running_count team="etl"`: "0", `executor_running_count team="etl"`: "0",
		`application_running_count team="ml"`: "1", `executor_running_count team="ml"`: "1",
	})
	s.must(s.kubeflowApps().Delete(t.Context(), "lasting", metav1.DeleteOptions{}))
	untilGone(s, s.kubeflowApps(), "lasting")
	s.untilMeasured("after a deletion", second, map[string]string{
		`application_running_count team="etl"`: "0", `executor_running_count team="etl"`: "0",
		`application_running_count team="ml"`: "0", `executor_running_count team="ml"`: "0",
	})
	s.configured("config-kubeflow", "metrics-labels", "team, namespace")
	s.untilLogged(second.Process, `"labels":["team","namespace"]`)
	s.createKubeflow(kubeflowPi("later", etl))
	if _, page := s.fetch(second.metrics); !strings.Contains(page,
		fmt.Sprintf("\ndata_spark_application_submit_count{namespace=%q,team=\"etl\"} 1\n", s.ns)) {
		t.Errorf("with another label the metrics are\n%s", page)
	}
}
