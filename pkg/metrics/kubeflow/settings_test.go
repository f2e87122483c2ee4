package kubeflow_test

import (
	"math"
	"testing"

	kubeflowmetrics "github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow"
)

func TestSettingsAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"no prefix":                     {kubeflowmetrics.CheckPrefix(""), ""},
		"a prefix":                      {kubeflowmetrics.CheckPrefix("data_"), ""},
		"a prefix with a hyphen":        {kubeflowmetrics.CheckPrefix("data-"), ""},
		"no labels":                     {kubeflowmetrics.CheckLabels(nil), ""},
		"labels":                        {kubeflowmetrics.CheckLabels([]string{"app_type", "app.kubernetes.io/name", "namespace"}), ""},
		"a bucket's label":              {kubeflowmetrics.CheckLabels([]string{"a", "le"}), `"le" is a label of Prometheus's own`},
		"a quantile's label":            {kubeflowmetrics.CheckLabels([]string{"quantile"}), `"quantile" is a label of Prometheus's own`},
		"labels that become the same":   {kubeflowmetrics.CheckLabels([]string{"app-type", "app_type"}), `"app_type" is there twice`},
		"a label that is reserved":      {kubeflowmetrics.CheckLabels([]string{"--a"}), `"__a" is not a valid label name for metric "spark_application_count"`},
		"no buckets":                    {kubeflowmetrics.CheckBuckets(nil), "there is none"},
		"a bucket":                      {kubeflowmetrics.CheckBuckets([]float64{30}), ""},
		"buckets up to infinity":        {kubeflowmetrics.CheckBuckets([]float64{30, math.Inf(1)}), ""},
		"buckets that fall":             {kubeflowmetrics.CheckBuckets([]float64{30, 60, 45}), "45 is not above what precedes it"},
		"a bucket that is there twice":  {kubeflowmetrics.CheckBuckets([]float64{30, 30}), "30 is not above what precedes it"},
		"a bucket of something without": {kubeflowmetrics.CheckBuckets([]float64{math.NaN()}), "NaN is not above what precedes it"},
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
