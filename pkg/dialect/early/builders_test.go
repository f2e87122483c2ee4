package early_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	firesteelv1alpha1 "github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

// plain is what an application runs, unless a test says otherwise.
const plain = `{mainClass: Main, mainApplicationFile: "local:///main.jar", driver: {image: "spark:4.1.1"}, executor: {image: "spark:4.1.1"}}`

// application returns an application with the fields of plain and then those of a spec.
func application(t *testing.T, spec string) *v1alpha1.SparkApplication {
	t.Helper()
	app := &v1alpha1.SparkApplication{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "pi", UID: "uid-of-pi", Generation: 1}}
	for _, text := range []string{plain, spec} {
		if err := yaml.UnmarshalStrict([]byte(text), &app.Spec); err != nil {
			t.Fatal(err)
		}
	}
	return app
}

var submitTime = metav1.NewMicroTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

func planned(t *testing.T, app *v1alpha1.SparkApplication, s early.Settings) submission.Plan {
	t.Helper()
	plan, err := early.Plan(app, firesteelv1alpha1.Attempt{Since: submitTime}, s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func built(t *testing.T, app *v1alpha1.SparkApplication, s early.Settings) *submission.Objects {
	t.Helper()
	objects, err := dialect.Build(early.New(s), app, planned(t, app, s))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}
