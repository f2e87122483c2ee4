package metrics_test

import (
	"math"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/metrics"
)

func TestSettingsAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"no prefix":                     {metrics.CheckPrefix(""), ""},
		"a prefix":                      {metrics.CheckPrefix("data_"), ""},
		"a prefix with a hyphen":        {metrics.CheckPrefix("data-"), ""},
		"no labels":                     {metrics.CheckLabels(nil), ""},
		"labels":                        {metrics.CheckLabels([]string{"app_type", "app.kubernetes.io/name", "namespace"}), ""},
		"a bucket's label":              {metrics.CheckLabels([]string{"a", "le"}), `"le" is a label of Prometheus's own`},
		"a quantile's label":            {metrics.CheckLabels([]string{"quantile"}), `"quantile" is a label of Prometheus's own`},
		"labels that become the same":   {metrics.CheckLabels([]string{"app-type", "app_type"}), `"app_type" is there twice`},
		"a label that is reserved":      {metrics.CheckLabels([]string{"--a"}), `"__a" is not a valid label name for metric "spark_application_count"`},
		"no buckets":                    {metrics.CheckBuckets(nil), "there is none"},
		"a bucket":                      {metrics.CheckBuckets([]float64{30}), ""},
		"buckets up to infinity":        {metrics.CheckBuckets([]float64{30, math.Inf(1)}), ""},
		"buckets that fall":             {metrics.CheckBuckets([]float64{30, 60, 45}), "45 is not above what precedes it"},
		"a bucket that is there twice":  {metrics.CheckBuckets([]float64{30, 30}), "30 is not above what precedes it"},
		"a bucket of something without": {metrics.CheckBuckets([]float64{math.NaN()}), "NaN is not above what precedes it"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if test.err != nil {
				got = test.err.Error()
			}
			if got != test.want {
				t.Errorf("%q, and not %q", got, test.want)
			}
		})
	}
}
