package kubeflow_test

import (
	"math"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow"
)

func TestSettingsAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"no prefix":                     {kubeflow.CheckPrefix(""), ""},
		"a prefix":                      {kubeflow.CheckPrefix("data_"), ""},
		"a prefix with a hyphen":        {kubeflow.CheckPrefix("data-"), ""},
		"no labels":                     {kubeflow.CheckLabels(nil), ""},
		"labels":                        {kubeflow.CheckLabels([]string{"app_type", "app.kubernetes.io/name", "namespace"}), ""},
		"a bucket's label":              {kubeflow.CheckLabels([]string{"a", "le"}), `"le" is a label of Prometheus's own`},
		"a quantile's label":            {kubeflow.CheckLabels([]string{"quantile"}), `"quantile" is a label of Prometheus's own`},
		"labels that become the same":   {kubeflow.CheckLabels([]string{"app-type", "app_type"}), `"app_type" is there twice`},
		"a label that is reserved":      {kubeflow.CheckLabels([]string{"--a"}), `"__a" is not a valid label name for metric "spark_application_count"`},
		"no buckets":                    {kubeflow.CheckBuckets(nil), "there is none"},
		"a bucket":                      {kubeflow.CheckBuckets([]float64{30}), ""},
		"buckets up to infinity":        {kubeflow.CheckBuckets([]float64{30, math.Inf(1)}), ""},
		"buckets that fall":             {kubeflow.CheckBuckets([]float64{30, 60, 45}), "45 is not above what precedes it"},
		"a bucket that is there twice":  {kubeflow.CheckBuckets([]float64{30, 30}), "30 is not above what precedes it"},
		"a bucket of something without": {kubeflow.CheckBuckets([]float64{math.NaN()}), "NaN is not above what precedes it"},
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
