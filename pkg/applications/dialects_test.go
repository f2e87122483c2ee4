package applications_test

import (
	"errors"
	"os"
	"reflect"
	"testing"

	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firesteel-dev/firesteel/pkg/apis/firesteel/v1alpha1"
	"github.com/firesteel-dev/firesteel/pkg/applications"
	"github.com/firesteel-dev/firesteel/pkg/config"
	"github.com/firesteel-dev/firesteel/pkg/dialect"
)

// settings returns the settings that the examples of the manifests show, with another service account for drivers.
func settings(t *testing.T, serviceAccount string) *config.Config {
	t.Helper()
	store := config.NewStore(zap.NewNop().Sugar(), func(_, _ *config.Config) {}, func(_ *corev1.ConfigMap, err error) { t.Error(err) })
	for _, name := range config.Names() {
		text, err := os.ReadFile("../../config/400-" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		configMap := &corev1.ConfigMap{}
		if err := yaml.UnmarshalStrict(text, configMap); err != nil {
			t.Fatal(err)
		}
		example := configMap.Data["_example"]
		if err := yaml.UnmarshalStrict([]byte(example), &configMap.Data); err != nil {
			t.Fatal(err)
		}
		if _, ok := configMap.Data["driver-service-account"]; ok {
			configMap.Data["driver-service-account"] = serviceAccount
		}
		store.OnConfigChanged(configMap)
	}
	return store.Load()
}

// use asks a dialect what a reconcile asks it.
func use(d dialect.Dialect, app dialect.Application) {
	d.Policy(app)
	d.Spec(app)
	d.Warnings(app)
	_, _ = d.Plan(app, v1alpha1.Attempt{}) // an empty spec is refused
	d.Ingredients(app)
	d.ObsoleteObjects(app)
	d.Refusals(app, errors.New("refused"))
	d.FinishedElsewhere(app)
	_, _ = d.Inherit(app)
	d.Settings()
}

// The controller compares dialects to find out whether a change of the settings concerns the applications of an API. A dialect that
// holds a closure or fills a cache never equals another one: each change of any setting would then requeue all applications.
func TestDialectsAreEqualIfTheirSettingsAre(t *testing.T) {
	apps := examples()
	for group, api := range applications.All(nil) {
		t.Run(group, func(t *testing.T) {
			before := api.Dialect(settings(t, "spark"))
			use(before, apps[group])
			if !reflect.DeepEqual(before, api.Dialect(settings(t, "spark"))) {
				t.Error("two dialects of equal settings differ: does the dialect hold a function or a cache?")
			}
			if reflect.DeepEqual(before, api.Dialect(settings(t, "another"))) {
				t.Error("dialects of different settings are equal")
			}
		})
	}
}
