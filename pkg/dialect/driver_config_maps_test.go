package dialect_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

func TestTheAnnotationChoosesTheDriversConfigMapsOverTheSetting(t *testing.T) {
	const name = dialect.AnnotationDriverConfigMaps
	for value, test := range map[string]struct {
		setting, want bool
		warned        bool
	}{
		"one":      {false, true, false},
		"one\n":    {false, true, false},
		"separate": {true, false, false},
		"One":      {true, true, true},
		"":         {false, false, true},
		"1":        {false, false, true},
	} {
		settings := dialect.Settings{OneDriverConfigMap: test.setting}
		if got := dialect.OneConfigMap(annotated(name, value), settings); got != test.want {
			t.Errorf("%q: one ConfigMap is %t, want %t", value, got, test.want)
		}
		warnings := dialect.AnnotationWarnings(annotated(name, value)).String()
		if test.warned != strings.Contains(warnings, name+`] "`+value+`" has no effect, it is neither separate nor one: write one of them, or leave it out`) {
			t.Errorf("%q: said %q", value, warnings)
		}
	}
	for _, setting := range []bool{false, true} {
		if got := dialect.OneConfigMap(&metav1.ObjectMeta{}, dialect.Settings{OneDriverConfigMap: setting}); got != setting {
			t.Errorf("without the annotation, the setting %t became %t", setting, got)
		}
	}
}
