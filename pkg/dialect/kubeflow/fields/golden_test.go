package fields_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/batch"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

// TestGoldenManifests keeps all that is created for typical manifests, but the owners that the reconciler adds.
func TestGoldenManifests(t *testing.T) {
	defaults := settings.NewDefaults()
	defaults.BatchSchedulers = []string{batch.Volcano, batch.YuniKorn, "scheduler-plugins-scheduler"}
	defaults.Ingress.URLFormat = "spark.example.com/{{$appNamespace}}/{{ $appName }}"
	defaults.DriverPodDisruptionBudget = true
	manifests, err := filepath.Glob("testdata/manifests/*.yaml")
	if err != nil || len(manifests) == 0 {
		t.Fatal("no manifests", err)
	}
	for _, path := range manifests {
		t.Run(filepath.Base(path), func(t *testing.T) {
			app := decoded(t, path)
			objects := built(t, app, defaults)
			all := append(slices.Clone(objects.Before), objects.Driver)
			golden.Want(t, filepath.Join("testdata", "objects", filepath.Base(path)), golden.Manifests(t, append(all, objects.Owned...)))
			if said := fields.UnsupportedFields(app, defaults).Sentences(); len(said) > 0 {
				t.Errorf("the manifest is not all acted on: %q", said)
			}
		})
	}
}

func decoded(t *testing.T, path string) *v1beta2.SparkApplication {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var app v1beta2.SparkApplication
	if err := yaml.Unmarshal(text, &app); err != nil {
		t.Fatal(err)
	}
	if app.Undecodable != "" {
		t.Fatal(app.Undecodable)
	}
	app.UID = "2f6e9c1a-5b7d-4e0f-9a3c-8d1b2e4f6a70"
	return &app
}
