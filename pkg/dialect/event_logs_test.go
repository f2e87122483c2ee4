package dialect_test

import (
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/eventlog"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

const eventLogFolder = "s3a://logs/a/_eventlog"

func eventLogSettings(image bool) dialect.Settings {
	mode := dialect.EventLogsOff
	if image {
		mode = dialect.EventLogsImage
	}
	return dialect.Settings{EventLogs: dialect.EventLogs{
		Mode: mode, Folders: map[string]string{"a": eventLogFolder}, Archived: map[string]bool{"a": true}, Sidecar: submission.EventLogSidecar{Image: "archive:1"},
	}}
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
			dialect.ApplySettings(&plan, app, v1alpha1.Attempt{}, eventLogSettings(test.image))
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
		"an unknown value":            {"a", "sidecar!", "none of off, image and sidecar"},
		"a sidecar":                   {"a", "sidecar", ""},
		"a sidecar without archive":   {"b", "sidecar", "the namespace has no archive"},
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

func TestEventLogsAreSentByASidecar(t *testing.T) {
	const folder = "file:///var/run/firesteel/event-logs/logs"
	for name, test := range map[string]struct {
		namespace, annotation string
		without               string
		given                 map[string]string
		sent                  bool
		warned                string
	}{
		"by the annotation":                    {namespace: "a", annotation: "sidecar", sent: true},
		"off by the annotation":                {namespace: "a", annotation: "off"},
		"a namespace without archive":          {namespace: "b", annotation: "sidecar"},
		"an attempt that runs without":         {namespace: "a", annotation: "sidecar", without: "it was refused with it"},
		"the user has a folder":                {namespace: "a", annotation: "sidecar", given: map[string]string{"spark.eventLog.dir": "hdfs:///logs"}},
		"the user wants none":                  {namespace: "a", annotation: "sidecar", given: map[string]string{"spark.eventLog.enabled": "false"}},
		"the user only switches them on":       {namespace: "a", annotation: "sidecar", given: map[string]string{"spark.eventLog.enabled": " true "}, sent: true},
		"the user wants them compressed":       {namespace: "a", annotation: "sidecar", given: map[string]string{"spark.eventLog.compress": "true"}, warned: "spark.eventLog.compress"},
		"the user wants one large file":        {namespace: "a", annotation: "sidecar", given: map[string]string{"spark.eventLog.rolling.enabled": "false"}, warned: "spark.eventLog.rolling.enabled"},
		"the user wants large files":           {namespace: "a", annotation: "sidecar", given: map[string]string{"spark.eventLog.rolling.maxFileSize": "1g"}, warned: "rolling.maxFileSize"},
		"the user wants what the sidecar does": {namespace: "a", annotation: "sidecar", given: map[string]string{"spark.eventLog.compress": "False"}, sent: true},
	} {
		t.Run(name, func(t *testing.T) {
			app := &sparkv1.SparkApplication{ObjectMeta: metav1.ObjectMeta{
				Namespace: test.namespace, Name: "pi", Annotations: map[string]string{dialect.AnnotationEventLogs: test.annotation},
			}}
			app.Spec.MainClass, app.Spec.SparkConf = "Pi", map[string]string{"spark.kubernetes.container.image": "spark:4.1.0"}
			maps.Copy(app.Spec.SparkConf, test.given)
			d := apache.New(apache.Defaults{Settings: eventLogSettings(false)})
			attempt := v1alpha1.Attempt{ID: 3, WithoutEventLogs: test.without}
			plan, err := d.Plan(app, attempt)
			if err != nil {
				t.Fatal(err)
			}
			dialect.ApplySettings(&plan, app, attempt, d.Settings())
			if (plan.EventLogs != nil) != test.sent || (plan.Properties["spark.eventLog.dir"] == folder) != test.sent || test.sent && plan.EventLogs.Attempt != 3 {
				t.Errorf("the sidecar is %+v, and the properties are %v", plan.EventLogs, plan.Properties)
			}
			objects, err := dialect.Build(d, app, plan)
			if err != nil {
				t.Fatal(err)
			}
			last := ""
			for _, container := range objects.Driver.Spec.InitContainers {
				last = container.Name
			}
			if (last == eventlog.Container) != test.sent {
				t.Errorf("the last init container is %q", last)
			}
			var warned []string
			for _, warning := range dialect.LaunchWarnings(d, apache.API, app, plan, objects) {
				if strings.Contains(warning.Message, "event log") {
					warned = append(warned, warning.Error())
				}
			}
			if text := strings.Join(warned, "; "); !strings.Contains(text, test.warned) || test.warned == "" && text != "" {
				t.Errorf("the warnings are %q, want %q", text, test.warned)
			}
		})
	}
}
