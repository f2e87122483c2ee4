package fields_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/settings"
)

var update = flag.Bool("update", false, "write the golden files, and docs/users/kubeflow.md")

// TestGoldenManifests keeps all that is created for typical manifests, but the owners that the reconciler adds.
func TestGoldenManifests(t *testing.T) {
	defaults := settings.NewDefaults()
	defaults.BatchSchedulers = []string{settings.Volcano, settings.YuniKorn, "scheduler-plugins-scheduler"}
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
			var text bytes.Buffer
			for i, object := range append(all, objects.Owned...) {
				manifest, err := yaml.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				if i > 0 {
					text.WriteString("---\n")
				}
				text.Write(manifest)
			}
			wantGolden(t, filepath.Join("testdata", "objects", filepath.Base(path)), text.String())
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

func wantGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got); go test -update writes it anew:\n%s", path, diff)
	}
}
