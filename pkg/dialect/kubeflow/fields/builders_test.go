package fields_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/names"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// application builds a SparkApplication.
type application struct{ app v1beta2.SparkApplication }

// pi is Spark's example, which says no more than it must.
func pi() *application {
	a := &application{}
	a.app.Namespace, a.app.Name, a.app.UID, a.app.Generation = "team-a", "pi", "uid-of-pi", 1
	a.app.Spec.SparkVersion, a.app.Spec.Image = "4.1.1", "apache/spark:4.1.1"
	a.app.Spec.MainClass = "org.apache.spark.examples.SparkPi"
	a.app.Spec.MainApplicationFile = "local:///opt/spark/examples/jars/spark-examples.jar"
	return a
}

func (a *application) Obj() *v1beta2.SparkApplication { return a.app.DeepCopy() }

func (a *application) Named(name string) *application {
	a.app.Name = name
	return a
}

func (a *application) Spark(version string) *application {
	a.app.Spec.SparkVersion = version
	return a
}

func (a *application) Labelled(key, value string) *application {
	a.app.Labels = map[string]string{key: value}
	return a
}

func (a *application) Annotated(key, value string) *application {
	if a.app.Annotations == nil {
		a.app.Annotations = map[string]string{}
	}
	a.app.Annotations[key] = value
	return a
}

func (a *application) Conf(key, value string) *application {
	if a.app.Spec.SparkConf == nil {
		a.app.Spec.SparkConf = map[string]string{}
	}
	a.app.Spec.SparkConf[key] = value
	return a
}

// Spec writes fields into the spec, as a manifest has them.
func (a *application) Spec(text string) *application { return a.write(text, &a.app.Spec) }

// Driver writes fields of the driver.
func (a *application) Driver(text string) *application { return a.write(text, &a.app.Spec.Driver) }

// Executor writes fields of the executors.
func (a *application) Executor(text string) *application { return a.write(text, &a.app.Spec.Executor) }

func (a *application) write(text string, into any) *application {
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		panic(err) // a test's own mistake
	}
	return a
}

// submitTime is when the first attempt began.
var submitTime = metav1.NewMicroTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

// planned is the plan of a first attempt.
func planned(t *testing.T, app *v1beta2.SparkApplication, defaults settings.Defaults) submission.Plan {
	t.Helper()
	plan, err := fields.Plan(app, v1alpha1.Attempt{Since: submitTime}, defaults)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// built are the objects of a first attempt.
func built(t *testing.T, app *v1beta2.SparkApplication, defaults settings.Defaults) *submission.Objects {
	t.Helper()
	objects, err := build(app, defaults)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func build(app *v1beta2.SparkApplication, defaults settings.Defaults) (*submission.Objects, error) {
	plan, err := fields.Plan(app, v1alpha1.Attempt{Since: submitTime}, defaults)
	if err != nil {
		return nil, err
	}
	names.AddLaunchLabels(&plan, "launch-of-this-attempt")
	objects, err := submission.Build(plan)
	if err != nil {
		return nil, err
	}
	return objects, fields.Complete(app, defaults, objects)
}

// executorOf is the template that executors are made from, with Spark's container of it; both empty where there is none.
func executorOf(t *testing.T, app *v1beta2.SparkApplication) (corev1.PodSpec, corev1.Container) {
	t.Helper()
	template := planned(t, app, settings.NewDefaults()).ExecutorTemplate
	if template == nil {
		return corev1.PodSpec{}, corev1.Container{}
	}
	for _, container := range template.Spec.Containers {
		if container.Name == "spark-kubernetes-executor" {
			return template.Spec, container
		}
	}
	t.Fatalf("no container of %v is Spark's", template.Spec.Containers)
	return corev1.PodSpec{}, corev1.Container{}
}

// With changes the application in whatever other way.
func (a *application) With(change func(*v1beta2.SparkApplication)) *application {
	change(&a.app)
	return a
}
