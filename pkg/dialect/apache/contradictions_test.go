package apache_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// Nothing is said of what the Apache operator's own examples and documentation ask for. Bad values are in test/crd.
func TestContradictionsOfAConsistentSpec(t *testing.T) {
	executors := func(init, minimum, maximum int32) *application {
		return pi().Tolerating(sparkv1.ApplicationTolerations{
			InstanceConfig: &sparkv1.ExecutorInstanceConfig{InitExecutors: init, MinExecutors: minimum, MaxExecutors: maximum},
		})
	}
	for name, app := range map[string]*application{
		"a plain application":       pi(),
		"a server":                  pi().Spec(func(s *sparkv1.ApplicationSpec) { s.MainClass = "org.apache.spark.deploy.history.HistoryServer" }),
		"Python":                    pi().Spec(func(s *sparkv1.ApplicationSpec) { s.MainClass, s.PyFiles = "", "local:///pi.py" }),
		"R":                         pi().Spec(func(s *sparkv1.ApplicationSpec) { s.MainClass, s.SparkRFiles = "", "local:///pi.R" }),
		"several jars":              pi().Spec(func(s *sparkv1.ApplicationSpec) { s.Jars = "local:///a.jar,local:///b.jar" }),
		"Python with its modules":   pi().Spec(func(s *sparkv1.ApplicationSpec) { s.MainClass, s.PyFiles = pythonRunner, "local:///a.py,local:///b.py" }),
		"as many executors":         executors(2, 2, 2),
		"the documented example":    executors(5, 3, 10).Conf("spark.executor.instances", "10"),
		"a dynamic number":          executors(5, 3, 10).Conf("spark.dynamicAllocation.enabled", "true"),
		"a number within bounds":    executors(3, 1, 3).Conf("spark.dynamicAllocation.enabled", "true").Conf("spark.dynamicAllocation.maxExecutors", "3"),
		"a number that Spark reads": executors(3, 3, 3).Conf("spark.executor.instances", "${env:EXECUTORS}"),
		"a retention and a longer life": pi().Tolerating(sparkv1.ApplicationTolerations{
			ResourceRetainPolicy: sparkv1.RetainOnFailure, ResourceRetainDurationMillis: ptr[int64](600_000), TTLAfterStopMillis: ptr[int64](1_800_000),
		}),
		"a life without retention": pi().Tolerating(sparkv1.ApplicationTolerations{
			ResourceRetainPolicy: sparkv1.RetainOnFailure, ResourceRetainDurationMillis: ptr[int64](-1), TTLAfterStopMillis: ptr[int64](10_000),
		}),
		"two spellings of one word": pi().Tolerating(sparkv1.ApplicationTolerations{
			ResourceRetainPolicy: sparkv1.RetainAlways, ResourceRetentionPolicy: sparkv1.RetainAlways,
		}),
		"limits within the limit": pi().Tolerating(sparkv1.ApplicationTolerations{RestartConfig: &sparkv1.RestartConfig{
			RestartPolicy: sparkv1.RestartAlways, MaxRestartAttempts: ptr[int64](5), MaxRestartOnFailure: ptr[int64](3), MaxRestartOnSchedulingFailure: ptr[int64](5),
		}}),
		"limits of restarts that there are not": pi().Tolerating(sparkv1.ApplicationTolerations{RestartConfig: &sparkv1.RestartConfig{
			MaxRestartOnFailure: ptr[int64](10),
		}}),
		"timeouts that are off": pi().Tolerating(sparkv1.ApplicationTolerations{ApplicationTimeoutConfig: &sparkv1.ApplicationTimeoutConfig{
			DriverStartTimeoutMillis: ptr[int64](0), DriverReadyTimeoutMillis: ptr[int64](-1), ExecutorStartTimeoutMillis: ptr[int64](0),
		}}),
		"config maps of their own names": pi().Spec(func(s *sparkv1.ApplicationSpec) {
			s.ConfigMapSpecs = []sparkv1.ConfigMapSpec{{Name: "a"}, {Name: "b"}}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]string(nil), apache.Contradictions(app.Obj(), apache.Defaults{}).Sentences()); diff != "" {
				t.Errorf("Contradictions (-want +got):\n%s", diff)
			}
		})
	}
}

const pythonRunner = "org.apache.spark.deploy.PythonRunner"

// What the application leaves out has the operator's defaults, and below them the Apache operator's.
func TestContradictionsUseDefaultsOfMissingFields(t *testing.T) {
	limited := pi().Tolerating(sparkv1.ApplicationTolerations{RestartConfig: &sparkv1.RestartConfig{
		RestartPolicy: sparkv1.RestartOnFailure, MaxRestartOnFailure: ptr[int64](10),
	}})
	counting := pi().Tolerating(sparkv1.ApplicationTolerations{InstanceConfig: &sparkv1.ExecutorInstanceConfig{InitExecutors: 3}})
	for name, test := range map[string]struct {
		app      *application
		defaults apache.Defaults
		want     []string
	}{
		"no limit of restarts": {app: limited, want: []string{
			"spec.applicationTolerations.restartConfig.maxRestartOnFailure 10 is never reached, maxRestartAttempts is 3: raise that, or lower this.",
		}},
		"a default limit of restarts": {app: limited, defaults: apache.Defaults{Tolerations: sparkv1.ApplicationTolerations{
			RestartConfig: &sparkv1.RestartConfig{MaxRestartAttempts: ptr[int64](10)},
		}}},
		"no number of executors": {app: counting, want: []string{
			"spec.applicationTolerations.instanceConfig.initExecutors 3 is more than the 2 executors that Spark asks for " +
				"(spark.executor.instances), so that the application never counts as started: lower it, or raise that.",
		}},
		"a default number of executors": {app: counting, defaults: apache.Defaults{Properties: map[string]string{"spark.executor.instances": "3"}}},
		"a default that lets it vary":   {app: counting, defaults: apache.Defaults{Properties: map[string]string{"spark.dynamicAllocation.enabled": "true"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, apache.Contradictions(test.app.Obj(), test.defaults).Sentences()); diff != "" {
				t.Errorf("Contradictions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestContradictionsNamesAQueue(t *testing.T) {
	app := pi().With(func(app *sparkv1.SparkApplication) {
		app.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "night"}
	}).Obj()
	want := []string{`metadata.labels[kueue.x-k8s.io/queue-name] "night" has no effect, the driver waits for no queue: ` +
		`hold it with spec.suspend until it may run.`}
	if diff := cmp.Diff(want, apache.Contradictions(app, apache.Defaults{}).Sentences()); diff != "" {
		t.Errorf("Contradictions (-want +got):\n%s", diff)
	}
}

// A property that the driver would have by itself is kept, refused or named where an application sets it to another value.
func TestEachOverruledPropertyIsWarnedOf(t *testing.T) {
	keys := slices.Sorted(maps.Keys(driverProperties(t, pi())))
	for _, key := range append(keys, "spark.app.name", "spark.driver.bindAddress", "spark.kubernetes.executor.deleteOnTermination") {
		odd := pi().Conf(key, "odd")
		said := strings.Join(append(apache.UnsupportedFields(odd.Obj()).Sentences(), apache.Contradictions(odd.Obj(), apache.Defaults{}).Sentences()...), " ")
		if got := driverProperties(t, odd); got != nil && got[key] != "odd" && !strings.Contains(said, key+`] "odd" has no effect`) {
			t.Errorf("%s became %q, and all that is said is %q", key, got[key], said)
		}
	}
}

// driverProperties are those that the driver of a first attempt finds; nil where there is none, since it is refused.
func driverProperties(t *testing.T, app *application) map[string]string {
	t.Helper()
	plan, err := apache.Plan(app.Obj(), v1alpha1.Attempt{Since: at(0)}, apache.Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := submission.Build(plan)
	if err != nil {
		return nil
	}
	for _, owned := range objects.Owned {
		if configMap, ok := owned.(*corev1.ConfigMap); ok && configMap.Name == plan.Names.ConfigMap {
			properties := map[string]string{}
			for line := range strings.Lines(configMap.Data["spark.properties"]) {
				if key, value, isProperty := strings.Cut(strings.TrimSpace(line), "="); isProperty {
					properties[key] = value
				}
			}
			return properties
		}
	}
	t.Fatal("the driver has no properties")
	return nil
}
