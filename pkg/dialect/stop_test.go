package dialect_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	earlyv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/lifecycle"
)

func TestStopReasonIsShortPrintableAndRedacted(t *testing.T) {
	for name, row := range map[string]struct{ given, want string }{
		"a reason and a user":        {"wrong day (by anna)", "wrong day (by anna)"},
		"nothing":                    {"", ""},
		"lines":                      {"wrong\r\n\tday\n", "wrong day"},
		"colours of a terminal":      {"\x1b[31mred\x1b[0m", "[31mred [0m"},
		"a text that runs backwards": {"a\u202egpj.exe", "a gpj.exe"},
		"what is no UTF-8":           {"a\xff\xfeb", "a b"},
		"NUL":                        {"\x00\x00", ""},
		"another language":           {"falscher Tag, 間違い", "falscher Tag, 間違い"},
		"a secret":                   {"spark.ssl.password=hunter2", "spark.ssl.password=*********(redacted)"},
		"256 KiB":                    {strings.Repeat("long ", 52000), strings.Repeat("long ", 50) + "lon..."},
	} {
		if got := dialect.StopReason(row.given); got != row.want || len(got) > 256 || !utf8.ValidString(got) {
			t.Errorf("%s: the reason is %q, want %q", name, got, row.want)
		}
	}
}

// Each API has the annotation.
func TestStopAnnotationIsInThePolicyOfEachAPI(t *testing.T) {
	for group, app := range map[string]dialect.Application{
		"spark.apache.org": &sparkv1.SparkApplication{}, "sparkoperator.k8s.io": &v1beta2.SparkApplication{},
		"spark-operator.k8s.io": &earlyv1alpha1.SparkApplication{},
	} {
		policy := func() lifecycle.Policy { return applications.All(nil)[group].Dialect(config.Default()).Policy(app) }
		for value, stops := range map[string]bool{"wrong day (by anna)": true, "": true, "true": true, "false": false, " False ": false} {
			app.SetAnnotations(map[string]string{dialect.AnnotationStop: value})
			got := policy().Stop
			if (got != nil) != stops || stops && (got.Class != lifecycle.ClassStopped || !strings.Contains(got.Message, strings.TrimSpace(value))) {
				t.Errorf("%T: the value %q stops it: %+v", app, value, got)
			}
		}
		app.SetAnnotations(nil)
		if got := policy().Stop; got != nil {
			t.Errorf("%T is stopped without the annotation: %+v", app, got)
		}
	}
}

func TestStopOfADriverOfTheUserIsWarnedOf(t *testing.T) {
	app := &earlyv1alpha1.SparkApplication{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{dialect.AnnotationStop: "x"}}}
	warnings := func() string {
		return applications.All(nil)["spark-operator.k8s.io"].Dialect(config.Default()).Warnings(app).String()
	}
	const want = "metadata.annotations[firesteel.dev/stop] has no effect, the user started the driver"
	if got := warnings(); strings.Contains(got, want) {
		t.Errorf("without a driver the warnings are %q", got)
	}
	app.Status.Firesteel = &v1alpha1.Record{Launch: &v1alpha1.Launch{ByUser: true}}
	if got := warnings(); !strings.Contains(got, want) {
		t.Errorf("the warnings are %q", got)
	}
}
