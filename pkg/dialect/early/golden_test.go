package early_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/submission"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGoldenPlans keeps what manifests submit, and all that is created for them but the owners, which the reconciler adds.
func TestGoldenPlans(t *testing.T) {
	nodePorts := early.NewSettings()
	nodePorts.ImageReplacements = []early.ImageReplacement{{Pattern: "kubespark/*", Image: "registry.example.com/spark:3.5.9"}}
	gateway := early.NewSettings()
	gateway.UIServiceType = corev1.ServiceTypeClusterIP
	gateway.UIGateway, gateway.UIURLFormat = &dialect.Gateway{Name: "public"}, "https://spark.example.com/{{$appNamespace}}/{{$appName}}"
	for path, s := range map[string]early.Settings{
		"seed.yaml": nodePorts, "manifests/first-spellings.yaml": nodePorts, "manifests/last-spellings.yaml": gateway,
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			app := decoded(t, filepath.Join("testdata", path))
			plan, objects := planned(t, app, s), built(t, app, s)
			all := []any{struct {
				Properties map[string]string
				MainClass  string
				Resource   submission.Resource
				Arguments  []string
				Names      submission.Names
			}{plan.Properties, plan.MainClass, plan.Resource, plan.Arguments, plan.Names}}
			for _, object := range slices.Concat(objects.Before, []submission.Object{objects.Driver}, objects.Owned) {
				all = append(all, object)
			}
			var text bytes.Buffer
			for i, object := range all {
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
		})
	}
}

func decoded(t *testing.T, path string) *v1alpha1.SparkApplication {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var app v1alpha1.SparkApplication
	if err := yaml.Unmarshal(text, &app); err != nil {
		t.Fatal(err)
	}
	if app.Undecodable != "" || len(app.UnknownFields) > 0 {
		t.Fatalf("not all of it is understood: %s%q", app.Undecodable, app.UnknownFields)
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
