package dialect_test

import (
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const eventLogFolder = "s3a://logs/a/_eventlog"

func eventLogSettings(image bool) dialect.Settings {
	return dialect.Settings{EventLogs: dialect.EventLogs{Image: image, Folders: map[string]string{"a": eventLogFolder}}}
}

func TestEventLogsAreWrittenIntoTheArchiveOfTheNamespace(t *testing.T) {
	all := map[string]string{
		"spark.eventLog.enabled": "true", "spark.eventLog.dir": eventLogFolder, "spark.eventLog.rolling.enabled": "true", "spark.eventLog.rolling.maxFileSize": "10m",
		"spark.eventLog.compress": "false",
	}
	with := func(key, value string) map[string]string {
		changed := maps.Clone(all)
		changed[key] = value
		return changed
	}
	for name, test := range map[string]struct {
		namespace, annotation string
		image                 bool
		given, want           map[string]string
	}{
		"by the setting":                   {"a", "", true, nil, all},
		"by the annotation":                {"a", "image", false, nil, all},
		"off":                              {"a", "", false, nil, nil},
		"off by the annotation":            {"a", " off ", true, nil, nil},
		"an unknown value":                 {"a", "sometimes", true, nil, all},
		"a namespace without archive":      {"b", "image", true, nil, nil},
		"the user's size of a file":        {"a", "", true, map[string]string{"spark.eventLog.rolling.maxFileSize": "1g"}, with("spark.eventLog.rolling.maxFileSize", "1g")},
		"the user wants them compressed":   {"a", "", true, map[string]string{"spark.eventLog.compress": "true"}, with("spark.eventLog.compress", "true")},
		"the user has a folder":            {"a", "", true, map[string]string{"spark.eventLog.dir": "hdfs:///logs"}, map[string]string{"spark.eventLog.dir": "hdfs:///logs"}},
		"the user wants none":              {"a", "", true, map[string]string{"spark.eventLog.enabled": "false"}, map[string]string{"spark.eventLog.enabled": "false"}},
		"the user only switches them on":   {"a", "", true, map[string]string{"spark.eventLog.enabled": "true"}, all},
		"off, and the user has properties": {"a", "", false, map[string]string{"spark.eventLog.compress": "true"}, map[string]string{"spark.eventLog.compress": "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			app := &metav1.ObjectMeta{Namespace: test.namespace}
			if test.annotation != "" {
				app.Annotations = map[string]string{dialect.AnnotationEventLogs: test.annotation}
			}
			plan := submission.Plan{Properties: test.given}
			dialect.ApplySettings(&plan, app, eventLogSettings(test.image))
			if !maps.Equal(plan.Properties, test.want) {
				t.Errorf("the properties are %v, want %v", plan.Properties, test.want)
			}
		})
	}
}

func TestEventLogsAnnotationWithoutEffectIsWarnedOf(t *testing.T) {
	for name, test := range map[string]struct{ namespace, value, want string }{
		"a valid value":               {"a", "image", ""},
		"off":                         {"b", "off", ""},
		"an unknown value":            {"a", "sidecar!", "neither off nor image"},
		"a namespace without archive": {"b", "image", "the namespace has no archive"},
	} {
		t.Run(name, func(t *testing.T) {
			app := &sparkv1.SparkApplication{ObjectMeta: metav1.ObjectMeta{
				Namespace: test.namespace, Name: "pi", Annotations: map[string]string{dialect.AnnotationEventLogs: test.value},
			}}
			var found []string
			for _, warning := range apache.New(apache.Defaults{Settings: eventLogSettings(false)}).Warnings(app) {
				if strings.Contains(warning.Field, dialect.AnnotationEventLogs) {
					found = append(found, warning.Message)
				}
			}
			if got := strings.Join(found, "; "); !strings.Contains(got, test.want) || test.want == "" && got != "" {
				t.Errorf("the warnings are %q, want %q", got, test.want)
			}
		})
	}
}
