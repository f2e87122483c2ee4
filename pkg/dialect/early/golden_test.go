package early_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/early/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
	"github.com/firesteel-dev/firesteel/pkg/dialect/early"
	"github.com/firesteel-dev/firesteel/pkg/submission"
	"github.com/firesteel-dev/firesteel/test/harness/golden"
)

// TestGoldenPlans keeps what manifests submit, and all that is created for them but the owners, which the reconciler adds.
func TestGoldenPlans(t *testing.T) {
	nodePorts := early.NewSettings()
	nodePorts.ImageReplacements = []early.ImageReplacement{{Pattern: "kubespark/*", Image: "registry.example.com/spark:3.5.9"}}
	gateway := early.NewSettings()
	gateway.UIServiceType = corev1.ServiceTypeClusterIP
	gateway.UIGateway, gateway.UIURLFormat = &dialect.Gateway{Name: "public"}, "https://spark.example.com/{{$appNamespace}}/{{$appName}}"
	for path, s := range map[string]early.Settings{
		"seed.yaml": nodePorts, "manifests/first-example.yaml": nodePorts, "manifests/gcp-service-account.yaml": nodePorts,
		"manifests/first-spellings.yaml": nodePorts, "manifests/last-spellings.yaml": gateway,
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
			golden.Want(t, filepath.Join("testdata", "objects", filepath.Base(path)), golden.Manifests(t, all))
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
