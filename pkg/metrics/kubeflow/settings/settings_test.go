package settings_test

import (
	"math"
	"testing"

	"github.com/firesteel-dev/firesteel/pkg/metrics/kubeflow/settings"
)

func TestSettingsAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"no prefix":                     {settings.CheckPrefix(""), ""},
		"a prefix":                      {settings.CheckPrefix("data_"), ""},
		"a prefix with a hyphen":        {settings.CheckPrefix("data-"), ""},
		"no labels":                     {settings.CheckLabels(nil), ""},
		"labels":                        {settings.CheckLabels([]string{"app_type", "app.kubernetes.io/name", "namespace"}), ""},
		"a bucket's label":              {settings.CheckLabels([]string{"a", "le"}), `"le" is a label of Prometheus's own`},
		"a quantile's label":            {settings.CheckLabels([]string{"quantile"}), `"quantile" is a label of Prometheus's own`},
		"labels that become the same":   {settings.CheckLabels([]string{"app-type", "app_type"}), `"app_type" is there twice`},
		"a label that is reserved":      {settings.CheckLabels([]string{"--a"}), `"__a" is not a valid label name for metric "spark_application_count"`},
		"no buckets":                    {settings.CheckBuckets(nil), "there is none"},
		"a bucket":                      {settings.CheckBuckets([]float64{30}), ""},
		"buckets up to infinity":        {settings.CheckBuckets([]float64{30, math.Inf(1)}), ""},
		"buckets that fall":             {settings.CheckBuckets([]float64{30, 60, 45}), "45 is not above what precedes it"},
		"a bucket that is there twice":  {settings.CheckBuckets([]float64{30, 30}), "30 is not above what precedes it"},
		"a bucket of something without": {settings.CheckBuckets([]float64{math.NaN()}), "NaN is not above what precedes it"},
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
