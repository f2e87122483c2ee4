package apache_test

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	sparkv1 "github.com/firesteel-dev/firesteel/pkg/apis/spark/v1"
	"github.com/firesteel-dev/firesteel/pkg/dialect/apache"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

const launchLabel = "firesteel.dev/launch-id"

// TestGoldenExamples keeps all that is created for an example, but the owners that the reconciler adds.
func TestGoldenExamples(t *testing.T) {
	for _, name := range []string{"pi.yaml", "word-count.yaml"} {
		t.Run(name, func(t *testing.T) {
			objects := objectsOf(t, example(t, name))
			for _, object := range objects {
				if object.GetLabels()[launchLabel] != "of-this-attempt" {
					t.Errorf("%s has not the launch's label", object.GetName())
				}
			}
			golden.Want(t, filepath.Join("testdata", name), golden.Manifests(t, objects))
		})
	}
}

func example(t *testing.T, name string) *sparkv1.SparkApplication {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	var app sparkv1.SparkApplication
	if err := yaml.Unmarshal(text, &app); err != nil {
		t.Fatal(err)
	}
	if app.Undecodable != "" || len(apache.UnsupportedFields(&app).Sentences()) > 0 {
		t.Fatalf("the example is not all understood: %s %q", app.Undecodable, apache.UnsupportedFields(&app).Sentences())
	}
	app.Namespace, app.UID = "default", "2f6e9c1a-5b7d-4e0f-9a3c-8d1b2e4f6a70"
	return &app
}

// objectsOf are the objects of a first attempt, in the order of their creation.
func objectsOf(t *testing.T, app *sparkv1.SparkApplication) []submission.Object {
	t.Helper()
	plan, err := apache.Plan(app, v1alpha1.Attempt{Since: at(0)}, apache.Defaults{})
	if err != nil {
		t.Fatal(err)
	}
	plan.Labels = map[string]string{launchLabel: "of-this-attempt"}
	objects, err := submission.Build(plan)
	if err != nil {
		t.Fatal(err)
	}
	apache.Decorate(objects)
	all := append([]submission.Object{}, objects.Before...)
	return append(append(all, objects.Driver), objects.Owned...)
}
