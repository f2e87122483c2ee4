package kubeflow

import (
	"iter"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow/settings"
)

// The names of the metrics, without the prefix.
const (
	applications                 = settings.Applications
	applicationsSubmitted        = "spark_application_submit_count"
	applicationsFailedSubmission = "spark_application_failed_submission_count"
	applicationsRunning          = "spark_application_running_count"
	applicationsSucceeded        = "spark_application_success_count"
	applicationsFailed           = "spark_application_failure_count"
	successTime                  = "spark_application_success_execution_time_seconds"
	failureTime                  = "spark_application_failure_execution_time_seconds"
	submitLatency                = "spark_application_submit_latency_seconds"
	submitLatencyHistogram       = "spark_application_submit_latency_seconds_histogram"
	startLatency                 = "spark_application_start_latency_seconds"
	startLatencyHistogram        = "spark_application_start_latency_seconds_histogram"
	executorsRunning             = "spark_executor_running_count"
	executorsSucceeded           = "spark_executor_success_count"
	executorsFailed              = "spark_executor_failure_count"
)

// instruments are the metrics for some settings.
type instruments struct {
	labels   labels
	registry *prometheus.Registry

	count, submitted, failedSubmission, succeeded, failed *prometheus.CounterVec
	executorsSucceeded, executorsFailed                   *prometheus.CounterVec
	successTime, failureTime                              *prometheus.SummaryVec
	submitLatency, startLatency                           latency
}

// latency is recorded twice: as a summary for quotients and as a histogram for quantiles.
type latency struct {
	summary   *prometheus.SummaryVec
	histogram *prometheus.HistogramVec
}

// newInstruments makes the metrics for valid settings.
func newInstruments(chosen settings.Settings, cached iter.Seq[*v1beta2.SparkApplication]) *instruments {
	m := maker{registry: prometheus.NewRegistry(), prefix: chosen.Prefix, labels: newLabels(chosen.Labels)}
	m.registry.MustRegister(&gauges{
		labels: m.labels, applications: cached, counts: map[string]*running{},
		runningApplications: m.desc(applicationsRunning, "Applications that are running."),
		runningExecutors:    m.desc(executorsRunning, "Executors that are running."),
	})
	return &instruments{
		labels: m.labels, registry: m.registry,
		count:              m.counter(applications, "Applications that the operator took up."),
		submitted:          m.counter(applicationsSubmitted, "Submissions of applications, repeated ones included."),
		failedSubmission:   m.counter(applicationsFailedSubmission, "Submissions that failed."),
		succeeded:          m.counter(applicationsSucceeded, "Applications that completed."),
		failed:             m.counter(applicationsFailed, "Applications that failed for good."),
		executorsSucceeded: m.counter(executorsSucceeded, "Executors that completed."),
		executorsFailed:    m.counter(executorsFailed, "Executors that failed."),
		successTime:        m.summary(successTime, "Time from the last submission of an application that completed to its end."),
		failureTime:        m.summary(failureTime, "Time from the last submission of an application that failed to its end."),
		submitLatency: latency{
			m.summary(submitLatency, "Time from an application's creation to its first submission."),
			m.histogram(submitLatencyHistogram, chosen.SubmitLatencyBuckets,
				"Time from an application's creation to its first submission, in buckets."),
		},
		startLatency: latency{
			m.summary(startLatency, "Time from an application's creation to the start of its first driver."),
			m.histogram(startLatencyHistogram, chosen.StartLatencyBuckets,
				"Time from an application's creation to the start of its first driver, in buckets."),
		},
	}
}

// maker makes metrics and registers them.
type maker struct {
	registry *prometheus.Registry
	prefix   string
	labels   labels
}

func (m maker) name(name string) string { return settings.Valid(m.prefix + name) }

func (m maker) desc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(m.name(name), help, m.labels.names, nil)
}

func (m maker) counter(name, help string) *prometheus.CounterVec {
	return registered(m, prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.name(name), Help: help}, m.labels.names))
}

func (m maker) summary(name, help string) *prometheus.SummaryVec {
	return registered(m, prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: m.name(name), Help: help}, m.labels.names))
}

func (m maker) histogram(name string, buckets []float64, help string) *prometheus.HistogramVec {
	return registered(m, prometheus.NewHistogramVec(
		prometheus.HistogramOpts{Name: m.name(name), Help: help, Buckets: buckets}, m.labels.names))
}

func registered[T prometheus.Collector](m maker, collector T) T {
	m.registry.MustRegister(collector)
	return collector
}
