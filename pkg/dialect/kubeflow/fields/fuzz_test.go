package fields_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/sparkoperator/v1beta2"
	"github.com/firesteel-dev/firesteel/pkg/dialect/kubeflow/fields"
)

// FuzzSpec has whatever users write either submitted or refused in words.
func FuzzSpec(f *testing.F) {
	manifests, err := filepath.Glob("testdata/manifests/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range manifests {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		spec, err := yaml.YAMLToJSON(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(spec)
	}
	for _, test := range podFields {
		for _, app := range []*application{pi().Driver(test.text), pi().Executor(test.text)} {
			encoded, err := json.Marshal(app.Obj())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(encoded)
		}
	}
	defaults := onSchedulers()
	defaults.Ingress.URLFormat = "example.com/{{$appName}}"
	defaults.DriverPodDisruptionBudget = true
	f.Fuzz(func(t *testing.T, data []byte) {
		var app v1beta2.SparkApplication
		if err := json.Unmarshal(data, &app); err != nil || app.Undecodable != "" {
			return
		}
		before := app.DeepCopy()
		fields.Policy(&app, defaults)
		_ = fields.UnsupportedFields(&app, defaults).Sentences()
		objects, err := build(&app, defaults)
		if err != nil && fields.Refusals(err, &app, defaults).String() == "" {
			t.Error("refused without a word")
		}
		if err == nil && objects.Driver.Spec.Containers[0].Image == "" {
			t.Error("the first container of the driver is not Spark's")
		}
		if got, want := encoded(t, &app), encoded(t, before); got != want {
			t.Errorf("the application was changed from %s\nto %s", want, got)
		}
	})
}

func encoded(t *testing.T, app *v1beta2.SparkApplication) string {
	t.Helper()
	text, err := json.Marshal(app)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
