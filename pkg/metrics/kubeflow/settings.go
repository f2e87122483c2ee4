package kubeflow

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow"
)

func check(settings kubeflow.Metrics) error {
	return errors.Join(CheckPrefix(settings.Prefix), CheckLabels(settings.Labels),
		CheckBuckets(settings.SubmitLatencyBuckets), CheckBuckets(settings.StartLatencyBuckets))
}

// CheckPrefix says why a prefix cannot be used.
func CheckPrefix(prefix string) error {
	return prometheus.NewDesc(valid(prefix+applications), "", nil, nil).Err()
}

// CheckLabels says why the keys of labels cannot be used.
func CheckLabels(keys []string) error {
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		switch name := valid(key); {
		case name == "le" || name == "quantile":
			return fmt.Errorf("%q is a label of Prometheus's own", key)
		case slices.Contains(names, name):
			return fmt.Errorf("%q is there twice", name)
		default:
			names = append(names, name)
		}
	}
	return prometheus.NewDesc(applications, "", names, nil).Err()
}

// CheckBuckets says why upper bounds of buckets cannot be used.
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

// valid is a name as Kubeflow's operator makes it fit for Prometheus.
func valid(name string) string { return strings.ReplaceAll(name, "-", "_") }
