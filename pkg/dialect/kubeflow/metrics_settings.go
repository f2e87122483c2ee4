package kubeflow

// Metrics are the settings of the metrics that are served under the names of the Kubeflow operator.
type Metrics struct {
	// Prefix begins the name of each metric. Empty by default.
	Prefix string
	// Labels are keys of labels of applications. The metrics have labels of these names, with the application's values.
	Labels []string
	// SubmitLatencyBuckets are the upper bounds of the buckets of the time to the submission, in seconds.
	SubmitLatencyBuckets []float64
	// StartLatencyBuckets are those of the time to the start of the driver.
	StartLatencyBuckets []float64
}

// newMetrics are the settings that the chart of the Kubeflow operator has.
func newMetrics() Metrics {
	return Metrics{
		Labels:               []string{"app_type"},
		SubmitLatencyBuckets: []float64{.5, 1, 2, 4, 8, 16, 32, 64, 128, 256},
		StartLatencyBuckets:  []float64{30, 60, 90, 120, 150, 180, 210, 240, 270, 300},
	}
}
