package apache_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

func plan(t *testing.T, app *application) submission.Plan {
	t.Helper()
	made, err := apache.Plan(app.Obj(), v1alpha1.Attempt{Since: at(0)}, apache.Defaults{})
	if err != nil {
		t.Fatalf("Plan: %v", err)
	}
	return made
}

func TestPlanHasTheFieldsOfTheSpec(t *testing.T) {
	driver := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Name: "driver"}}
	executor := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Name: "executor"}}
	app := pi().Driver(driver).Executor(executor).Spec(func(spec *sparkv1.ApplicationSpec) {
		spec.DriverArgs, spec.ProxyUser = []string{"20", ""}, "ada"
	})
	zone := time.FixedZone("somewhere", 3600)
	attempt := v1alpha1.Attempt{ID: 2, Since: metav1.NewMicroTime(start.Add(1234567 * time.Nanosecond).In(zone))}
	got, err := apache.Plan(app.Obj(), attempt, apache.Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	want := submission.Plan{
		Namespace: "team-a", SparkVersion: "4.1.4", Properties: got.Properties,
		MainClass: "org.apache.spark.examples.SparkPi", Resource: submission.Resource{Kind: submission.Java},
		Arguments: []string{"20", ""}, ProxyUser: "ada",
		DriverTemplate: driver, ExecutorTemplate: executor,
		DefaultImage: "apache/spark:4.1.4", Names: apache.Names(app.Obj(), 2),
		SubmitTime: start.Add(1234 * time.Microsecond),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Plan (-want +got):\n%s", diff)
	}
	if got.SubmitTime.Location() != time.UTC {
		t.Errorf("the time of submission is in %s, and a launch id would depend on it", got.SubmitTime.Location())
	}
}

func TestPlanNamesAnImage(t *testing.T) {
	for configured, want := range map[string]string{
		"":                                    "apache/spark:4.1.4",
		"example.org/spark:ours":              "example.org/spark:ours",
		"example.org/spark:{{SPARK_VERSION}}": "example.org/spark:4.1.4",
	} {
		got, err := apache.Plan(pi().Obj(), v1alpha1.Attempt{}, apache.Defaults{Image: configured})
		if err != nil || got.DefaultImage != want {
			t.Errorf("image %q became %q, %v; want %q", configured, got.DefaultImage, err, want)
		}
	}
}

func TestMainResource(t *testing.T) {
	for name, test := range map[string]struct {
		spec     sparkv1.ApplicationSpec
		resource submission.Resource
		pyFiles  string
		jars     string
	}{
		"nothing but a class": {
			sparkv1.ApplicationSpec{MainClass: "Main"}, submission.Resource{Kind: submission.Java}, "", "",
		},
		"jars, as one string": {
			sparkv1.ApplicationSpec{Jars: "local:///a.jar,local:///b.jar"},
			submission.Resource{Kind: submission.Java, URI: "local:///a.jar,local:///b.jar"}, "", "local:///a.jar,local:///b.jar",
		},
		"spark-submit's word for no jar": {
			sparkv1.ApplicationSpec{MainClass: "Main", Jars: "spark-internal"},
			submission.Resource{Kind: submission.Java, URI: "spark-internal"}, "", "",
		},
		"jars win over Python and R": {
			sparkv1.ApplicationSpec{
				MainClass: "org.apache.spark.deploy.PythonRunner",
				Jars:      "local:///a.jar", PyFiles: "local:///a.py,local:///b.py", SparkRFiles: "local:///a.R",
			},
			submission.Resource{Kind: submission.Java, URI: "local:///a.jar"}, "local:///a.py,local:///b.py", "local:///a.jar",
		},
		"a Python file is the application and among its files": {
			sparkv1.ApplicationSpec{PyFiles: "local:///a.py", SparkRFiles: "local:///a.R"},
			submission.Resource{Kind: submission.Python, URI: "local:///a.py"}, "local:///a.py", "",
		},
		"PythonRunner takes the first file and leaves the others as modules": {
			sparkv1.ApplicationSpec{
				MainClass: "org.apache.spark.deploy.PythonRunner", PyFiles: " local:///a.py , local:///b.py,local:///c.zip",
			},
			submission.Resource{Kind: submission.Python, URI: "local:///a.py"}, " local:///b.py,local:///c.zip", "",
		},
		"PythonRunner with one file leaves none": {
			sparkv1.ApplicationSpec{MainClass: "org.apache.spark.deploy.PythonRunner", PyFiles: "local:///a.py"},
			submission.Resource{Kind: submission.Python, URI: "local:///a.py"}, "", "",
		},
		"PythonRunner without a file is a class like any other": {
			sparkv1.ApplicationSpec{MainClass: "org.apache.spark.deploy.PythonRunner"},
			submission.Resource{Kind: submission.Java}, "", "",
		},
		"R comes last": {
			sparkv1.ApplicationSpec{SparkRFiles: "local:///a.R"}, submission.Resource{Kind: submission.R, URI: "local:///a.R"}, "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := plan(t, pi().Spec(func(spec *sparkv1.ApplicationSpec) { *spec = test.spec }))
			if diff := cmp.Diff(test.resource, got.Resource); diff != "" {
				t.Errorf("resource (-want +got):\n%s", diff)
			}
			if pyFiles := got.Properties["spark.submit.pyFiles"]; pyFiles != test.pyFiles {
				t.Errorf("spark.submit.pyFiles is %q, want %q", pyFiles, test.pyFiles)
			}
			if jars := got.Properties["spark.jars"]; jars != test.jars {
				t.Errorf("spark.jars is %q, want %q", jars, test.jars)
			}
		})
	}
}

// defaults are the properties of an application that sets none.
func defaults() map[string]string {
	return map[string]string{
		"spark.authenticate":                                                  "true",
		"spark.io.encryption.enabled":                                         "true",
		"spark.kubernetes.driver.annotateExitException":                       "true",
		"spark.kubernetes.driver.service.publishNotReadyAddresses":            "true",
		"spark.kubernetes.executor.deleteOnTermination":                       "false",
		"spark.kubernetes.executor.useDriverPodIP":                            "true",
		"spark.kubernetes.namespace":                                          "team-a",
		"spark.submit.deployMode":                                             "cluster",
		"spark.kubernetes.driver.label.spark.operator/name":                   "spark-kubernetes-operator",
		"spark.kubernetes.driver.label.spark.operator/spark-app-name":         "pi",
		"spark.kubernetes.driver.service.label.spark.operator/name":           "spark-kubernetes-operator",
		"spark.kubernetes.driver.service.label.spark.operator/spark-app-name": "pi",
		"spark.kubernetes.executor.label.spark.operator/name":                 "spark-kubernetes-operator",
		"spark.kubernetes.executor.label.spark.operator/spark-app-name":       "pi",
	}
}

func TestPlanWithoutServiceHasNoServiceProperties(t *testing.T) {
	want := defaults()
	for _, key := range []string{
		"spark.kubernetes.driver.service.publishNotReadyAddresses", "spark.kubernetes.executor.useDriverPodIP",
		"spark.kubernetes.driver.service.label.spark.operator/name", "spark.kubernetes.driver.service.label.spark.operator/spark-app-name",
	} {
		delete(want, key)
	}
	annotated := func(value string) *sparkv1.SparkApplication {
		return pi().With(func(app *sparkv1.SparkApplication) {
			app.Annotations = map[string]string{dialect.AnnotationDriverService: value}
		}).Obj()
	}
	none := apache.Defaults{Settings: dialect.Settings{WithoutDriverService: true}}
	for name, test := range map[string]struct {
		app      *sparkv1.SparkApplication
		settings apache.Defaults
		without  bool
		want     map[string]string
	}{
		"by the annotation":                 {annotated("none"), apache.Defaults{}, true, want},
		"by the setting":                    {pi().Obj(), none, true, want},
		"but not against the annotation":    {annotated("headless"), none, false, defaults()},
		"by the setting, not another value": {annotated("cluster"), none, true, want},
		"with what the user says of one": {
			pi().Conf("spark.kubernetes.driver.service.label.a", "b").Obj(), none, true, with(want, "spark.kubernetes.driver.service.label.a", "b"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := apache.Plan(test.app, v1alpha1.Attempt{}, test.settings)
			if err != nil || got.WithoutService != test.without {
				t.Errorf("without Service: %t, %v", got.WithoutService, err)
			}
			if diff := cmp.Diff(test.want, got.Properties); diff != "" {
				t.Errorf("properties (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanHasOneConfigMap(t *testing.T) {
	annotated := func(value string) *sparkv1.SparkApplication {
		return pi().With(func(app *sparkv1.SparkApplication) {
			app.Annotations = map[string]string{dialect.AnnotationDriverConfigMaps: value}
		}).Obj()
	}
	one := apache.Defaults{Settings: dialect.Settings{OneDriverConfigMap: true}}
	for name, test := range map[string]struct {
		app      *sparkv1.SparkApplication
		settings apache.Defaults
		want     bool
	}{
		"not by default":                    {pi().Obj(), apache.Defaults{}, false},
		"by the annotation":                 {annotated("one"), apache.Defaults{}, true},
		"by the setting":                    {pi().Obj(), one, true},
		"but not against the annotation":    {annotated("separate"), one, false},
		"by the setting, not another value": {annotated("two"), one, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := apache.Plan(test.app, v1alpha1.Attempt{}, test.settings)
			if err != nil || got.OneConfigMap != test.want {
				t.Errorf("one ConfigMap: %t, %v", got.OneConfigMap, err)
			}
		})
	}
}

func defaultsWith(key, value string) map[string]string {
	properties := defaults()
	properties[key] = value
	return properties
}

func TestSpecsBecomeSparkProperties(t *testing.T) {
	const deleteExecutors = "spark.kubernetes.executor.deleteOnTermination"
	long := strings.Repeat("a", 64)
	const shortened = "aaaaaaaaa-5rs18jlfi7r50r3cptdk77bwbiowc5coszl6"
	kept := defaults()
	delete(kept, deleteExecutors)
	for name, test := range map[string]struct {
		app  *application
		want map[string]string
	}{
		"an application that sets none has the Apache operator's": {pi(), defaults()},
		"a user's own are added": {
			pi().Conf("spark.executor.instances", "3"), defaultsWith("spark.executor.instances", "3"),
		},
		"a user's own wins over a default": {
			pi().Conf("spark.authenticate", "false"), defaultsWith("spark.authenticate", "false"),
		},
		"even an empty one does": {
			pi().Conf("spark.authenticate", ""), defaultsWith("spark.authenticate", ""),
		},
		"the operator's labels win over a user's": {
			pi().Conf("spark.kubernetes.driver.label.spark.operator/name", "mine").
				Conf("spark.kubernetes.executor.label.spark.operator/spark-app-name", "mine"),
			defaults(),
		},
		"the namespace is the application's": {
			pi().Conf("spark.kubernetes.namespace", "elsewhere").Conf("spark.submit.deployMode", "client"), defaults(),
		},
		"a name for Spark becomes the application's": {
			pi().Conf("spark.app.name", "mine"), defaultsWith("spark.app.name", "pi"),
		},
		"files are passed on": {
			pi().Spec(func(s *sparkv1.ApplicationSpec) { s.Files = "s3a://b/f" }), defaultsWith("spark.files", "s3a://b/f"),
		},
		"properties win over the fields that stand for them": {
			pi().Spec(func(s *sparkv1.ApplicationSpec) { s.Files = "s3a://b/f" }).Conf("spark.files", "s3a://b/g"),
			defaultsWith("spark.files", "s3a://b/g"),
		},
		"executors are kept where the policy says that nothing restarts": {pi().Restart(sparkv1.RestartNever), defaults()},
		"executors are kept where no policy is set":                      {pi().Restart(""), defaults()},
		"executors go where the application may restart":                 {pi().Restart(sparkv1.RestartOnFailure), kept},
		"executors go where their number changes": {
			pi().Conf("spark.dynamicAllocation.enabled", "TRUE"),
			with(kept, "spark.dynamicAllocation.enabled", "TRUE"),
		},
		"a user decides about executors": {
			pi().Conf(deleteExecutors, "true"), defaultsWith(deleteExecutors, "true"),
		},
		"a name that is no label value is shortened": {
			pi().Named(long), relabelled(shortened),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, plan(t, test.app).Properties); diff != "" {
				t.Errorf("properties (-want +got):\n%s", diff)
			}
		})
	}
}

func with(properties map[string]string, key, value string) map[string]string {
	properties = maps.Clone(properties)
	properties[key] = value
	return properties
}

func relabelled(label string) map[string]string {
	properties := defaults()
	for key := range properties {
		if strings.HasSuffix(key, apache.LabelApplication) {
			properties[key] = label
		}
	}
	return properties
}

func TestPlanLeavesTheSpecAlone(t *testing.T) {
	app := pi().Conf("spark.app.name", "mine").Conf("spark.kubernetes.driver.podTemplateFile", "driver.yaml").
		Driver(&corev1.PodTemplateSpec{}).Obj()
	before := app.DeepCopy()
	if _, err := apache.Plan(app, v1alpha1.Attempt{}, apache.Defaults{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, app); diff != "" {
		t.Errorf("Plan changed the application (-before +after):\n%s", diff)
	}
}

func TestDecorateLabelsObjectsOfTheDriver(t *testing.T) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"own": "yes", "both": "service's"}}}
	bare := &corev1.ConfigMap{}
	objects := &submission.Objects{
		Driver: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"spark-role": "driver", "both": "driver's"}}},
		Owned:  []submission.Object{service, bare},
	}
	apache.Decorate(objects)
	for what, test := range map[string]struct{ got, want map[string]string }{
		"service":    {service.Labels, map[string]string{"spark-role": "driver", "own": "yes", "both": "service's"}},
		"config map": {bare.Labels, map[string]string{"spark-role": "driver", "both": "driver's"}},
		"driver":     {objects.Driver.Labels, map[string]string{"spark-role": "driver", "both": "driver's"}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("labels of the %s (-want +got):\n%s", what, diff)
		}
	}
}

func TestDecorateForbidsPrivileges(t *testing.T) {
	for name, test := range map[string]struct {
		given *corev1.SecurityContext
		want  *bool
	}{
		"without a security context":               {nil, ptr(false)},
		"with one that does not say":               {&corev1.SecurityContext{RunAsNonRoot: ptr(true)}, ptr(false)},
		"with one that forbids it":                 {&corev1.SecurityContext{AllowPrivilegeEscalation: ptr(false)}, ptr(false)},
		"with one that allows it":                  {&corev1.SecurityContext{AllowPrivilegeEscalation: ptr(true)}, ptr(true)},
		"with one that says it is not privileged":  {&corev1.SecurityContext{Privileged: ptr(false)}, ptr(false)},
		"a privileged one could not be created so": {&corev1.SecurityContext{Privileged: ptr(true)}, nil},
		"nor could one with the powers of an administrator": {
			&corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"CAP_SYS_ADMIN"}}}, nil,
		},
		"other powers change nothing": {
			&corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}}}, ptr(false),
		},
	} {
		t.Run(name, func(t *testing.T) {
			container := corev1.Container{SecurityContext: test.given}
			objects := &submission.Objects{Driver: &corev1.Pod{Spec: corev1.PodSpec{
				InitContainers: []corev1.Container{*container.DeepCopy()}, Containers: []corev1.Container{{}, *container.DeepCopy()},
			}}}
			apache.Decorate(objects)
			spec := objects.Driver.Spec
			for _, container := range []corev1.Container{spec.InitContainers[0], spec.Containers[1]} {
				if diff := cmp.Diff(test.want, container.SecurityContext.AllowPrivilegeEscalation); diff != "" {
					t.Errorf("allowPrivilegeEscalation (-want +got):\n%s", diff)
				}
			}
		})
	}
}
