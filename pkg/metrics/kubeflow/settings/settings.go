// Package settings has the settings of the metrics with the Kubeflow operator's names. It does not link Prometheus's library, which the command
// line would initialise at each start.
package settings

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
)

// Settings are the settings of the metrics.
type Settings struct {
	// Prefix begins the name of each metric. Empty by default.
	Prefix string
	// Labels are keys of labels of applications. The metrics have labels of these names, with the application's values.
	Labels []string
	// SubmitLatencyBuckets are the upper bounds of the buckets of the time to the submission, in seconds.
	SubmitLatencyBuckets []float64
	// StartLatencyBuckets are the upper bounds of the buckets of the time to the start of the driver, in seconds.
	StartLatencyBuckets []float64
}

// Defaults returns the settings of the Kubeflow operator's chart.
func Defaults() Settings {
	return Settings{
		Labels:               []string{"app_type"},
		SubmitLatencyBuckets: []float64{.5, 1, 2, 4, 8, 16, 32, 64, 128, 256},
		StartLatencyBuckets:  []float64{30, 60, 90, 120, 150, 180, 210, 240, 270, 300},
	}
}

// Check returns why settings cannot be used.
func Check(settings Settings) error {
	return errors.Join(CheckPrefix(settings.Prefix), CheckLabels(settings.Labels),
		CheckBuckets(settings.SubmitLatencyBuckets), CheckBuckets(settings.StartLatencyBuckets))
}

// CheckPrefix returns why a prefix cannot be used.
func CheckPrefix(prefix string) error {
	if name := Valid(prefix + Applications); !model.UTF8Validation.IsValidMetricName(name) {
		return fmt.Errorf("%q is not a valid metric name", name)
	}
	return nil
}

// CheckLabels returns why the keys of labels cannot be used.
func CheckLabels(keys []string) error {
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		switch name := Valid(key); {
		case name == "le" || name == "quantile":
			return fmt.Errorf("%q is a label of Prometheus's own", key)
		case slices.Contains(names, name):
			return fmt.Errorf("%q is there twice", name)
		case !model.UTF8Validation.IsValidLabelName(name) || strings.HasPrefix(name, model.ReservedLabelPrefix):
			return fmt.Errorf("%q is not a valid label name for metric %q", name, Applications)
		default:
			names = append(names, name)
		}
	}
	return nil
}

// CheckBuckets returns why upper bounds of buckets cannot be used.
func CheckBuckets(bounds []float64) error {
	if len(bounds) == 0 {
		return errors.New("there is none")
	}
	for i, bound := range bounds {
		if math.IsNaN(bound) || i > 0 && bound <= bounds[i-1] {
			return fmt.Errorf("%v is not above what precedes it", bound)
		}
	}
	return nil
}

// Applications is the name of the first metric, without a prefix.
const Applications = "spark_application_count"

// Valid returns a name as Kubeflow's operator makes it valid for Prometheus.
func Valid(name string) string { return strings.ReplaceAll(name, "-", "_") }
